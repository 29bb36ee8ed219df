// Playing a scenario: the ring of render, sample, parse, keep as a message, render again; and what became of it.
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
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;  // a byte tokenizer where has_tokenizer is false
  bool has_tokenizer = true;
  chat::Conversation base;  // bos, eos and the request's kwargs
  tmpl::ApplyOptions options;
};

// A subject under one setting.
class Stage {
 public:
  // `subject` must outlive it.  Fails as analysis::analyse() does.
  [[nodiscard]] static Result<std::unique_ptr<const Stage>> make(const Subject& subject, Setting setting);

  // The same setting of another template, which writes turns in the same format.  `subject` must outlive it.
  [[nodiscard]] std::unique_ptr<const Stage> with(const Subject& subject) const;

  [[nodiscard]] const Subject& subject() const { return subject_; }
  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] const format::Format& format() const { return *format_; }
  // Whether the template writes arguments that are a string as they are: then they are sent as the API gives them.
  [[nodiscard]] bool copies_arguments() const { return copies_arguments_; }
  // With the tools of the scenarios, or without any where the template takes that.
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
  jinja::Rendered prompt;  // of the history, with generation prompt
  Sampled sampled;
  std::vector<tokenizer::TokenId> prompt_ids;
  std::vector<tokenizer::TokenId> completion_ids;
  render::ParsedCompletion said;
  json::Value kept;  // what the client has in its messages
  json::Array following;
  std::optional<jinja::Rendered> alone;  // of the history and what was kept
  std::optional<jinja::Rendered> again;  // of all messages, with generation prompt; nullopt: the template refuses them
  std::optional<Error> refusal;
  std::vector<tokenizer::Piece> pieces;  // of `again`

  // What the model has seen: the prompt's text and its own.
  [[nodiscard]] std::string seen() const { return prompt.text.bytes() + sampled.text; }
};

// How a client sends turns back, where that is not what the scenario says.
struct Sending {
  std::optional<ArgumentsForm> arguments;
  std::optional<ReasoningForm> reasoning;
  std::optional<ContentForm> content;
  // What the model says, turn by turn as far as it goes, where that is known: not what this template would make of it.
  const std::vector<Sampled>* samples = nullptr;
};

struct Played {
  report::Case outcome;
  std::optional<Step> broken;  // where the prefix broke, if it did
  std::size_t turn = 0;        // of the scenario, that `broken` plays
  std::string first_prompt;
  std::vector<Sampled> samples;     // turn by turn
  std::vector<std::string> texts;   // turn by turn: what the model had seen, and the next prompt
  std::vector<std::string> alones;  // turn by turn: a conversation that ends with it
  std::vector<render::Extent>
      tails;                   // turn by turn: what the next prompt closes it with; empty if it shows nothing of it
  std::size_t data_bytes = 0;  // of messages but for ids, that the next prompts show
  bool with_tools = false;
  bool ran_out_of_limits = false;  // the template, in some render
  bool is_refused = false;         // by the template: the conversation, or the next prompt
};

// Plays `scenario` up to the turn where the prefix breaks.  The outcome has no cause yet; see blame.h.
[[nodiscard]] Played play(const Stage& stage, const Scenario& scenario, const Sending& sending = {});

}  // namespace rondo::audit
