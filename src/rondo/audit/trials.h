// Trials: small conversations, and what a template makes of them.  Internal to audit/.
//
// Their texts are words that no template writes itself, so that whether and where a field is written can be seen.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/context.h"
#include "audit/report.h"
#include "render/encode.h"

namespace rondo::audit {

inline constexpr std::string_view kSystemWord = "system-one";
inline constexpr std::string_view kQuestionWord = "question-one";
inline constexpr std::string_view kAnswerWord = "answer-one";
inline constexpr std::string_view kThoughtWord = "thought-one";
inline constexpr std::string_view kResultWord = "result-one";
inline constexpr std::string_view kSecondQuestionWord = "question-two";
inline constexpr std::string_view kSecondResultWord = "result-two";
inline constexpr std::string_view kToolName = "find_city";
inline constexpr std::string_view kSecondToolName = "find_road";

struct TrialCall {
  std::string name{kToolName};
  json::Object arguments;
};

// What an assistant message of a trial holds.
struct TurnParts {
  std::string reasoning;
  std::string content;
  std::vector<TrialCall> calls;
};

struct TrialSetting {
  bool generation_prompt = false;
  bool tools = false;  // the trial tools are given, or `other_tools`
  std::optional<json::Value> other_tools;
  json::Object kwargs;
  std::optional<jinja::LocalTime> now;
  std::optional<bool> strict;
};

// An assistant turn behind the prompt that asks for it.
struct WrittenTurn {
  std::string prompt;
  std::string text;        // the turn, and what the template writes behind it
  bool is_asked = false;   // the prompt ends with the generation prompt; else the turn begins with its header
  jinja::Rendered render;  // prompt and text
};

// One message each.
[[nodiscard]] json::Value plain_message(std::string_view role, json::Value content);
[[nodiscard]] json::Value user_message();
[[nodiscard]] json::Value text_part(std::string_view text);
// Every content that is text as a list of one part, and null as an empty list.
[[nodiscard]] json::Array with_parts(json::Array messages);
[[nodiscard]] json::Value trial_tools();

class Trials {
 public:
  explicit Trials(const AuditContext& context);

  [[nodiscard]] const AuditContext& context() const { return context_; }
  [[nodiscard]] const format::Format& format() const { return *context_.format; }

  // The template's render, with what it needs to render anything at all (see `needs`).
  [[nodiscard]] Result<jinja::Rendered> render(const json::Array& messages, const TrialSetting& setting) const;
  // The text alone, without origins: faster.
  [[nodiscard]] Result<std::string> text(const json::Array& messages, const TrialSetting& setting) const;
  // In token ids, with masks.
  [[nodiscard]] Result<render::Encoded> encode(json::Array messages, const TrialSetting& setting) const;

  // The message in the shape of Format::input.
  [[nodiscard]] json::Value assistant(const TurnParts& parts) const;
  // The id of its call number `index`, and that call's result.
  [[nodiscard]] std::string call_id(std::size_t index, std::string_view name) const;
  [[nodiscard]] json::Value result(std::size_t index, std::string_view name, json::Value content) const;
  // The turn that the template writes for it behind one user message; nullopt where it refuses, or where what it writes
  // does not go on from any prompt for it.
  [[nodiscard]] std::optional<WrittenTurn> write(const TurnParts& parts, const TrialSetting& setting) const;

  // Nothing if the template renders one user message; else what it says of it.
  [[nodiscard]] const std::optional<Error>& refusal() const { return refusal_; }
  // Set when several trials have run out of limits; from then on everything is refused.
  [[nodiscard]] const std::optional<Error>& exhausted() const { return exhausted_; }
  // Text as content is not written, only lists of parts are: texts are sent as such.
  [[nodiscard]] bool needs_parts() const { return needs_parts_; }
  // The variable is one of the template's own, which it reads and nobody sets.
  [[nodiscard]] const std::vector<std::string>& own_variables() const { return own_variables_; }
  [[nodiscard]] bool reads_variable(std::string_view name) const;
  // History has calls: they are written, not only described.
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

// ---- Arguments

// A kind of argument values, for people, and one of them.
struct ArgumentKind {
  std::string name;
  json::Value value;
};
[[nodiscard]] const std::vector<ArgumentKind>& argument_kinds();
// The trial tools, where argument `k` of the first has the type of `value`.
[[nodiscard]] json::Value tools_for(const json::Value& value);

// ---- Places and proofs

// Where in the template byte `at` of the text was written: its literal, or the expression that printed it.
[[nodiscard]] TemplatePlace place_at(const AuditContext& context, const jinja::Rendered& rendered, std::size_t at);
[[nodiscard]] TemplatePlace place_of_line(const AuditContext& context, std::int32_t line, std::int32_t column);
// Where an error happened, if it has a place.
[[nodiscard]] TemplatePlace place_of(const AuditContext& context, const Error& error);

// Bytes [begin, end) of `text` with a little of what stands around them, quoted; "..." where something was left out.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t begin, std::size_t end);
// `text` quoted, in the middle "..." if it is long.
[[nodiscard]] std::string shortened(std::string_view text);
// Length of the common prefix.
[[nodiscard]] std::size_t first_difference(std::string_view a, std::string_view b);
// Both texts at the first place where they differ: `FIRST "..."; SECOND "..."`.
struct Named {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] std::string difference(const Named& first, const Named& second);
// "a", "a and b", "a, b and c".
[[nodiscard]] std::string listed(const std::vector<std::string>& words);

// Adds it to findings or notes by its level, unless they have it, or a break of the same rule and line.
void add_finding(Report& report, Finding finding);

// ---- The groups of properties, one file each

void find_control_text(const Trials& trials, Report& report);
void find_part_differences(const Trials& trials, Report& report);
void find_argument_losses(const Trials& trials, Report& report);
void find_close_faults(const Trials& trials, Report& report);
void find_tool_losses(const Trials& trials, Report& report);
void find_result_losses(const Trials& trials, Report& report);
void find_bare_quotes(const Trials& trials, Report& report);
void find_clock(const Trials& trials, Report& report);
void find_refusals(const Trials& trials, Report& report);
void find_strict_differences(const Trials& trials, Report& report);
void find_generation_differences(const Trials& trials, Report& report);
void find_grammar_gaps(const Trials& trials, Report& report);
void find_engine_differences(const Trials& trials, Report& report);

}  // namespace rondo::audit
