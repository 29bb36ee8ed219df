// Plays a scenario through the cycle (render, sample, parse, keep as a message, render again) and records the result.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audit/context.h"
#include "audit/sample.h"
#include "audit/scenarios.h"
#include "audit/settings.h"
#include "render/completion.h"
#include "render/turn.h"
#include "report/report.h"
#include "rondo/result.h"

namespace rondo::audit {

// A template and what it is rendered with, before any setting.  Immutable while it is played.
struct Subject {
  std::shared_ptr<const jinja::Template> chat_template;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;  // a byte tokenizer if has_tokenizer is false
  bool has_tokenizer = true;
  chat::Conversation base;  // bos, eos and the request's kwargs
  tmpl::ApplyOptions options;
};

// A subject under one setting.
class Stage {
 public:
  // Makes a stage.  `subject` must outlive it.  Fails as analysis::analyse() does.
  [[nodiscard]] static Result<std::unique_ptr<const Stage>> make(const Subject& subject, Setting setting);

  // Returns a stage with the same setting for another template that writes turns in the same format.  `subject` must
  // outlive it.
  [[nodiscard]] std::unique_ptr<const Stage> with(const Subject& subject) const;

  [[nodiscard]] const Subject& subject() const { return subject_; }
  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] const format::Format& format() const { return *format_; }
  // Returns whether the template copies arguments that are a string: then they are sent as the API returns them.
  [[nodiscard]] bool copies_arguments() const { return copies_arguments_; }
  // Returns the context with the tools of the scenarios, or, if the template accepts that, without tools.
  [[nodiscard]] AuditContext context(bool with_tools) const;

 private:
  Stage(const Subject& subject, Setting setting) : subject_(subject), setting_(std::move(setting)) {}
  [[nodiscard]] bool finds_arguments_copied() const;

  const Subject& subject_;
  Setting setting_;
  std::shared_ptr<const format::Format> format_;
  chat::Conversation tooled_;
  chat::Conversation plain_;
  render::TurnProfile profile_;
  bool copies_arguments_ = false;
};

// One turn of a scenario, with everything that shows why it broke.
struct Step {
  json::Array history;
  jinja::Rendered prompt;  // made from the history, with a generation prompt
  Sampled sampled;
  std::vector<tokenizer::TokenId> prompt_ids;
  std::vector<tokenizer::TokenId> completion_ids;
  render::ParsedCompletion said;
  json::Value kept;  // what the client keeps in its messages
  json::Array following;
  std::optional<jinja::Rendered> alone;  // made from the history and the kept message
  // Made from all messages, with a generation prompt; nullopt: the template refused them.
  std::optional<jinja::Rendered> again;
  std::optional<Error> refusal;
  std::vector<tokenizer::Piece> pieces;  // tokens of `again`

  // Returns what the model has seen: the prompt's text and its own.
  [[nodiscard]] std::string seen() const { return prompt.text.bytes() + sampled.text; }
};

// How a client sends turns back, if that differs from the scenario.
struct Sending {
  std::optional<ArgumentsForm> arguments;
  std::optional<ReasoningForm> reasoning;
  std::optional<ContentForm> content;
  // What the model says in each turn, if it is known; it then does not come from this template.
  const std::vector<Sampled>* samples = nullptr;
};

struct Played {
  report::Case outcome;
  std::optional<Step> broken;  // where the prefix broke, if it did
  std::size_t turn = 0;        // index in the scenario of the turn in `broken`
  std::string first_prompt;
  std::vector<Sampled> samples;     // one for each turn
  std::vector<std::string> texts;   // for each turn: what the model had seen, and the next prompt
  std::vector<std::string> alones;  // for each turn: a conversation that ends with it
  std::vector<render::Extent>
      tails;                   // for each turn: how the next prompt closes it; empty if it shows nothing of the turn
  std::size_t data_bytes = 0;  // how many bytes of messages, except ids, the next prompts show
  bool with_tools = false;
  bool ran_out_of_limits = false;  // whether the template exceeded its limits in some render
  bool is_refused = false;         // whether the template refused the conversation or the next prompt
};

// Plays `scenario` up to the turn where the prefix breaks.  The result has no cause yet; see blame.h.
[[nodiscard]] Played play(const Stage& stage, const Scenario& scenario, const Sending& sending = {});

}  // namespace rondo::audit
