// Trials: small conversations, and what a template writes for them.  Internal to audit/.
//
// Their texts are words that no template writes itself.  So they show whether and where a field is written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/context.h"
#include "probe/messages.h"
#include "probe/words.h"
#include "render/encode.h"

namespace rondo::audit {

using probe::kAnswerWord;
using probe::kQuestionWord;
using probe::kResultWord;
using probe::kSecondAnswerWord;
using probe::kSecondQuestionWord;
using probe::kSecondResultWord;
using probe::kSecondToolName;
using probe::kSystemWord;
using probe::kThoughtWord;
using probe::kToolName;
using probe::plain_message;
using probe::SaidCall;
using probe::Saying;
using probe::text_part;
using probe::with_parts;

// The question that trials begin with, the tools that they offer, and a call of each.
[[nodiscard]] json::Value user_message();
[[nodiscard]] json::Value trial_tools();
[[nodiscard]] SaidCall first_call(json::Value argument = "v");
[[nodiscard]] SaidCall second_call();

// A kind of argument values with a name for people, and one such value.
struct ArgumentKind {
  std::string name;
  json::Value value;
};
[[nodiscard]] const std::vector<ArgumentKind>& argument_kinds();
// Returns the trial tools; argument `k` of the first has the type of `value`.
[[nodiscard]] json::Value tools_for(const json::Value& value);

struct TrialSetting {
  bool generation_prompt = false;
  bool tools = false;  // offer the trial tools, or `other_tools`
  std::optional<json::Value> other_tools = std::nullopt;
  json::Object kwargs = {};
  std::optional<jinja::LocalTime> now = std::nullopt;
  std::optional<bool> strict = std::nullopt;
};

// A conversation to be rendered, with a name for people.
struct Trial {
  std::string name;
  json::Array messages;
  TrialSetting setting;
};

// An assistant turn after the prompt that asks for it.
struct WrittenTurn {
  std::string prompt;
  std::string text;        // the turn, and what the template writes after it
  bool is_asked = false;   // the prompt ends with the generation prompt; otherwise the turn begins with its header
  jinja::Rendered render;  // prompt and text
};

class Trials {
 public:
  explicit Trials(const AuditContext& context);

  [[nodiscard]] const AuditContext& context() const { return context_; }
  [[nodiscard]] const format::Format& format() const { return *context_.format; }

  // Returns the template's render, with what the template needs to render at all (see `needs`).
  [[nodiscard]] Result<jinja::Rendered> render(const json::Array& messages, const TrialSetting& setting) const;
  // Returns only the text, without origins, which is faster.
  [[nodiscard]] Result<std::string> text(const json::Array& messages, const TrialSetting& setting) const;
  // Returns the token ids with masks.
  [[nodiscard]] Result<render::Encoded> encode(json::Array messages, const TrialSetting& setting) const;

  // Returns the message in the form of Format::input; its calls have the ids of call_id().
  [[nodiscard]] json::Value assistant(const Saying& saying) const;
  // The id of call number `index`, and the result of that call.
  [[nodiscard]] std::string call_id(std::size_t index, std::string_view name) const;
  [[nodiscard]] json::Value result(std::size_t index, std::string_view name, json::Value content) const;
  // Returns the turn that the template writes for the message after one user message.  Returns nullopt if the template
  // refuses it, or if what it writes does not continue any prompt for it.
  [[nodiscard]] std::optional<WrittenTurn> write(const Saying& saying, const TrialSetting& setting) const;

  // Returns nullopt if the template renders one user message, otherwise its error.
  [[nodiscard]] const std::optional<Error>& refusal() const { return refusal_; }
  // Set when several trials have exceeded their limits.  From then on everything is refused.
  [[nodiscard]] const std::optional<Error>& exhausted() const { return exhausted_; }
  // Returns whether the template writes lists of parts but not text as content; then texts are sent as parts.
  [[nodiscard]] bool needs_parts() const { return needs_parts_; }
  // The template's own variables, which it reads and never sets.
  [[nodiscard]] const std::vector<std::string>& own_variables() const { return own_variables_; }
  [[nodiscard]] bool reads_variable(std::string_view name) const;
  // Returns whether history contains calls: the template writes them and does not only describe them.
  [[nodiscard]] bool writes_calls() const { return writes_calls_; }

 private:
  [[nodiscard]] chat::Conversation conversation(const TrialSetting& setting) const;
  [[nodiscard]] tmpl::ApplyOptions options(const TrialSetting& setting) const;
  [[nodiscard]] Result<jinja::Rendered> apply(const json::Array& messages, const TrialSetting& setting,
                                              bool origins) const;
  [[nodiscard]] bool find_needs();
  void find_content_form(const std::string& rendered);

  const AuditContext& context_;
  json::Value tools_;
  std::vector<std::string> own_variables_;
  json::Object stand_ins_;
  bool needs_tools_ = false;
  bool needs_documents_ = false;
  bool needs_stand_ins_ = false;
  bool needs_parts_ = false;
  bool writes_calls_ = false;
  std::optional<Error> refusal_;
  mutable std::size_t limits_met_ = 0;
  mutable std::optional<Error> exhausted_;
};

}  // namespace rondo::audit
