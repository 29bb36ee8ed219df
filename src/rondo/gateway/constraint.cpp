#include "gateway/constraint.h"

#include <algorithm>
#include <utility>

namespace rondo::gateway {

apis::Outcome<Constraint> make_constraint(const ServedModel& served, core::Call& call,
                                          const apis::GenerateRequest& from) {
  Constraint out;
  const bool is_required = from.tool_choice.mode == apis::ToolChoice::Mode::kRequired;
  const bool has_schema = from.format.kind == apis::AnswerFormat::Kind::kSchema;
  if (!is_required && !has_schema) return out;
  core::Asked asked;
  asked.parallel_tool_calls = from.tool_choice.parallel;
  if (is_required) asked.tool_choice = core::ToolChoice::kRequired;
  if (is_required && from.tool_choice.only.size() == 1) {
    asked.tool_choice = core::ToolChoice::kNamed;
    asked.tool_name = from.tool_choice.only.front();
  }
  if (has_schema) asked.response_schema = from.format.schema;
  const auto& known = served.serving->capabilities().grammars;
  using Dialect = engine::Grammar::Dialect;
  const auto takes = [&](Dialect dialect) { return std::find(known.begin(), known.end(), dialect) != known.end(); };
  const auto [language, dialect] = takes(Dialect::kStructuralTag)
                                       ? std::pair(core::GrammarLanguage::kStructuralTag, Dialect::kStructuralTag)
                                       : std::pair(core::GrammarLanguage::kGbnf, Dialect::kGbnf);
  auto grammar = served.model->grammar(call, asked, language);
  if (!grammar.ok()) return apis::fault_of(grammar.error());
  core::GrammarText& text = grammar.value();
  if (text.text.empty()) return out;
  out.grammar = {.dialect = dialect, .text = std::move(text.text), .is_lazy = text.is_lazy};
  out.grammar.preserved_tokens = std::move(text.preserved_tokens);
  for (core::GrammarTrigger& trigger : text.triggers) {
    using Kind = engine::Grammar::Trigger::Kind;
    const Kind kind = trigger.kind == core::GrammarTrigger::Kind::kToken  ? Kind::kToken
                      : trigger.kind == core::GrammarTrigger::Kind::kWord ? Kind::kWord
                                                                          : Kind::kPattern;
    out.grammar.triggers.push_back({.kind = kind, .token = trigger.id, .text = std::move(trigger.value)});
  }
  return out;
}

}  // namespace rondo::gateway
