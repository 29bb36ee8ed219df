#include "gateway/constraint.h"

#include <algorithm>
#include <array>
#include <utility>

#include "chat/reasoning_fields.h"
#include "json/print.h"

namespace rondo::gateway {
namespace {

using Dialect = engine::Grammar::Dialect;
using ChoiceMode = apis::ToolChoice::Mode;
using FormatKind = apis::AnswerFormat::Kind;

struct Language {
  Dialect dialect;
  core::GrammarLanguage language;
};
// The most capable first.
constexpr std::array<Language, 3> kLanguages = {{{Dialect::kStructuralTag, core::GrammarLanguage::kStructuralTag},
                                                 {Dialect::kGbnf, core::GrammarLanguage::kGbnf},
                                                 {Dialect::kLark, core::GrammarLanguage::kLark}}};

const Language* language_of(const engine::Capabilities& engine) {
  for (const Language& one : kLanguages) {
    if (std::ranges::find(engine.grammars, one.dialect) != engine.grammars.end()) return &one;
  }
  return nullptr;
}

engine::Grammar grammar_of(core::GrammarText text, Dialect dialect) {
  using Kind = engine::Grammar::Trigger::Kind;
  engine::Grammar out{.dialect = dialect, .text = std::move(text.text), .is_lazy = text.is_lazy};
  out.preserved_tokens = std::move(text.preserved_tokens);
  for (core::GrammarTrigger& trigger : text.triggers) {
    const Kind kind = trigger.kind == core::GrammarTrigger::Kind::kToken  ? Kind::kToken
                      : trigger.kind == core::GrammarTrigger::Kind::kWord ? Kind::kWord
                                                                          : Kind::kPattern;
    out.triggers.push_back({.kind = kind, .token = trigger.id, .text = std::move(trigger.value)});
  }
  return out;
}

constexpr std::string_view kTakesNone = "the engine takes no grammar: what the reply has to look like is not enforced";

// Sets what the answer must be.
void ask_for(const apis::AnswerFormat& format, core::Asked& asked) {
  if (format.kind == FormatKind::kSchema) asked.response_schema = format.schema;
  asked.is_text_answer = format.is_text;
  if (format.kind == FormatKind::kJson) asked.response_schema = json::Object{{"type", "object"}};
}

// An engine that reads such tags gets the client's own, as it is.
apis::Outcome<Constraint> constraint_of_tag(const ServedModel& served, const apis::AnswerFormat& format) {
  const std::vector<Dialect>& known = served.serving->capabilities().grammars;
  if (std::ranges::find(known, Dialect::kStructuralTag) == known.end())
    return apis::invalid(format.field, "`" + format.field + "`: the engine reads no structural tags",
                         "unsupported_value");
  Constraint out;
  out.grammar = {.dialect = Dialect::kStructuralTag, .text = json::to_compact(format.schema)};
  return out;
}

class ConstraintMaker {
 public:
  ConstraintMaker(const ServedModel& served, const core::Call& call, const apis::GenerateRequest& request)
      : served_(served), call_(call), request_(request) {}

  apis::Outcome<Constraint> run(std::span<const core::TokenId> prompt, std::size_t prefill) {
    if (request_.format.kind == FormatKind::kTag) return of_tag();
    core::Asked asked;
    const apis::ToolChoice& choice = request_.tool_choice;
    asked.parallel_tool_calls = choice.parallel;
    asked.is_direct = true;
    asked.ends_by_token = served_.serving->capabilities().stops_end_grammars;
    asked.tool_choice = choice.mode == ChoiceMode::kNone       ? core::ToolChoice::kNone
                        : choice.mode == ChoiceMode::kRequired ? core::ToolChoice::kRequired
                                                               : core::ToolChoice::kAuto;
    ask_for(request_.format, asked);
    core::Call held;
    held.has_messages = false;
    held.now = call_.now;
    held.conversation.kwargs = call_.conversation.kwargs;
    held.conversation.tools = tools();
    const bool has_tools = held.conversation.tools.has_value() && asked.tool_choice != core::ToolChoice::kNone;
    const bool holds_calls =
        has_tools && (choice.mode == ChoiceMode::kRequired || !choice.only.empty() || has_strict_ || !choice.parallel);
    if (!holds_calls && !asked.response_schema) return std::move(out_);
    const Language* language = language_of(served_.serving->capabilities());
    if (language == nullptr) {
      out_.notes.emplace_back(kTakesNone);
      return std::move(out_);
    }
    const bool goes_on = asked.response_schema && choice.mode != ChoiceMode::kRequired && request_.continue_final;
    auto begun = goes_on ? begun_answer(prompt.last(prefill)) : apis::Outcome<std::string>("");
    if (!begun.ok()) return begun.fault();
    if (goes_on) prompt = prompt.first(prompt.size() - prefill);
    auto grammar = served_.model->grammar(held, asked, language->language, prompt, std::move(begun.value()));
    if (!grammar.ok()) return apis::fault_of(grammar.error());
    if (grammar.value().is_impossible) {
      const std::string tools = request_.older_calls ? "functions" : "tools";
      const std::string param = asked.response_schema ? request_.format.field : tools;
      return apis::invalid(param, grammar.value().warnings.back());
    }
    for (const std::string& warning : grammar.value().warnings) out_.notes.push_back("not enforced: " + warning);
    if (!grammar.value().text.empty()) out_.grammar = grammar_of(std::move(grammar).value(), language->dialect);
    return std::move(out_);
  }

 private:
  [[nodiscard]] apis::Outcome<Constraint> of_tag() const {
    const std::string& field = request_.format.field;
    if (request_.tool_choice.mode == ChoiceMode::kRequired)
      return apis::invalid("tool_choice", "`tool_choice` asks for a call, and `" + field + "` for another form");
    if (request_.continue_final)
      return apis::invalid(field, "`" + field + "` is for a whole reply, and no message can be continued by it");
    return constraint_of_tag(served_, request_.format);
  }

  // The text of the ids with which a prompt begins the answer.
  [[nodiscard]] apis::Outcome<std::string> begun_answer(std::span<const core::TokenId> ids) const {
    if (ids.empty() && chat::is_filled(request_.messages.back().find("content"))) {
      const std::string param = apis::place_of(request_, request_.messages.size() - 1);
      return apis::invalid(param, "`" + param + "` cannot be continued by a schema: the prompt does not end with it");
    }
    auto text = served_.model->detokenize(ids, false);
    if (!text.ok()) return apis::fault_of(text.error());
    return std::move(text).value();
  }

  // The tools that may be called; a custom tool with the grammar that its text must match.
  std::optional<json::Value> tools() {
    if (!request_.tools || !request_.tools->is_array()) return std::nullopt;
    const std::vector<std::string>& only = request_.tool_choice.only;
    json::Array out;
    const json::Array& all = request_.tools->as_array();
    for (std::size_t i = 0; i < all.size() && i < request_.tool_table.size(); ++i) {
      const chat::ApiTool& entry = request_.tool_table[i];
      if (!only.empty() && std::ranges::find(only, entry.name) == only.end()) continue;
      json::Value tool = all[i];
      has_strict_ = has_strict_ || entry.is_strict;
      if (entry.grammar.is_object()) add_grammar(entry, tool);
      out.push_back(std::move(tool));
    }
    return json::Value(std::move(out));
  }

  void add_grammar(const chat::ApiTool& entry, json::Value& tool) {
    json::Value* at = &tool;
    for (const std::string_view key : {"function", "parameters", "properties", "input"}) {
      at = at->is_object() ? at->as_object().find(key) : nullptr;
      if (at == nullptr) return;
    }
    const auto schema = core::text_schema(entry.grammar.find_string("syntax").value_or(""),
                                          entry.grammar.find_string("definition").value_or(""));
    if (!schema.ok()) {
      out_.notes.push_back("not enforced: the grammar of tool `" + entry.client_name + "`: " + schema.error().message);
      return;
    }
    has_strict_ = true;
    for (const json::Member& member : schema.value().as_object()) at->as_object().set(member.key, member.value);
  }

  const ServedModel& served_;
  const core::Call& call_;
  const apis::GenerateRequest& request_;
  Constraint out_;
  bool has_strict_ = false;
};

}  // namespace

apis::Outcome<Constraint> make_constraint(const ServedModel& served, const core::Call& call,
                                          const apis::GenerateRequest& request, std::span<const core::TokenId> prompt,
                                          std::size_t prefill) {
  return ConstraintMaker(served, call, request).run(prompt, prefill);
}

apis::Outcome<Constraint> make_answer_constraint(const ServedModel& served, const apis::AnswerFormat& format) {
  Constraint out;
  if (format.kind == FormatKind::kText) return out;
  if (format.kind == FormatKind::kTag) return constraint_of_tag(served, format);
  const Language* language = language_of(served.serving->capabilities());
  if (language == nullptr) {
    out.notes.emplace_back(kTakesNone);
    return out;
  }
  core::GrammarRequest request{.asked = {}, .tools = {}, .prompt_tail = "", .language = language->language};
  request.asked.is_direct = true;
  request.asked.ends_by_token = served.serving->capabilities().stops_end_grammars;
  ask_for(format, request.asked);
  auto grammar = core::make_grammar(format::Format(), request, served.model->tokenizer());
  if (!grammar.ok()) return apis::fault_of(grammar.error());
  if (grammar.value().is_impossible) return apis::invalid(format.field, grammar.value().warnings.back());
  for (const std::string& warning : grammar.value().warnings) out.notes.push_back("not enforced: " + warning);
  out.grammar = grammar_of(std::move(grammar).value(), language->dialect);
  return out;
}

}  // namespace rondo::gateway
