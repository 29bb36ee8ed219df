#include "core/grammar.h"

#include <utility>

#include "grammar/gbnf.h"
#include "grammar/lark.h"
#include "grammar/structural_tag.h"
#include "grammar/turn.h"
#include "json/print.h"

namespace rondo::core {
namespace {

grammar::TurnOptions turn_options(const GrammarRequest& request) {
  grammar::TurnOptions out;
  out.tools = request.tools;
  out.parallel_calls = request.asked.parallel_tool_calls;
  out.response_schema = request.asked.response_schema;
  switch (request.asked.tool_choice) {
    case ToolChoice::kAuto: break;
    case ToolChoice::kNone: out.choice = grammar::ToolChoice::kNone; break;
    case ToolChoice::kRequired:
    case ToolChoice::kNamed: out.choice = grammar::ToolChoice::kRequired; break;
  }
  out.tool_name = request.asked.tool_name;
  out.prompt_tail = request.prompt_tail;
  // Only llama.cpp begins a grammar at a trigger; the two others are told about the text before it.
  if (request.language == GrammarLanguage::kLark) out.laziness = grammar::Laziness::kNever;
  if (request.language == GrammarLanguage::kStructuralTag) out.laziness = grammar::Laziness::kWords;
  return out;
}

std::string text_of(const grammar::TurnGrammar& turn, GrammarLanguage language) {
  if (!turn.is_needed) return "";
  switch (language) {
    case GrammarLanguage::kGbnf: return grammar::to_gbnf(turn.grammar);
    case GrammarLanguage::kStructuralTag: return json::to_compact(grammar::to_structural_tag(turn));
    case GrammarLanguage::kLark: return grammar::to_lark(turn.grammar);
  }
  return "";
}

// Words first; a word that is one token of the vocabulary is told as that too, for engines that look at ids.
std::vector<GrammarTrigger> triggers_of(const grammar::TurnGrammar& turn, const tokenizer::Tokenizer* tokenizer) {
  using Kind = GrammarTrigger::Kind;
  std::vector<GrammarTrigger> out;
  for (const grammar::Trigger& trigger : turn.triggers) {
    out.push_back({trigger.is_pattern ? Kind::kPattern : Kind::kWord, trigger.value});
    if (tokenizer == nullptr || trigger.is_pattern) continue;
    const auto id = tokenizer->find(trigger.value);
    if (id && tokenizer->is_added(*id)) out.push_back({Kind::kToken, "", *id});
  }
  return out;
}

}  // namespace

Asked read_asked(Fields& fields) {
  Asked out;
  out.parallel_tool_calls = fields.flag("parallel_tool_calls", true);
  const json::Value* choice = fields.value("tool_choice");
  if (choice != nullptr && choice->is_object()) {
    const auto name = choice->find_string("name");
    if (!name || choice->as_object().size() != 1) fields.fail("`tool_choice` must be a name or {\"name\": function}");
    out.tool_choice = ToolChoice::kNamed;
    out.tool_name = name.value_or("");
  } else {
    const std::string named = fields.choice("tool_choice", {"auto", "none", "required"});
    if (named == "none") out.tool_choice = ToolChoice::kNone;
    if (named == "required") out.tool_choice = ToolChoice::kRequired;
  }
  const json::Object schema = fields.object("response_schema");
  if (fields.has("response_schema")) out.response_schema = json::Value(schema);
  return out;
}

GrammarLanguage read_language(Fields& fields) {
  const std::string name = fields.choice("format", {"gbnf", "structural_tag", "lark"});
  if (name == "structural_tag") return GrammarLanguage::kStructuralTag;
  return name == "lark" ? GrammarLanguage::kLark : GrammarLanguage::kGbnf;
}

Result<GrammarText> make_grammar(const format::Format& format, const GrammarRequest& request,
                                 const tokenizer::Tokenizer* tokenizer) {
  auto turn = grammar::turn_grammar(format, turn_options(request));
  if (!turn.ok()) return turn.error();
  GrammarText out;
  out.text = text_of(turn.value(), request.language);
  out.is_lazy = turn.value().is_lazy && request.language == GrammarLanguage::kGbnf;
  if (out.is_lazy) out.triggers = triggers_of(turn.value(), tokenizer);
  out.warnings = std::move(turn.value().warnings);
  return out;
}

json::Value to_json(const GrammarText& grammar) {
  json::Array triggers;
  for (const GrammarTrigger& trigger : grammar.triggers) {
    switch (trigger.kind) {
      case GrammarTrigger::Kind::kWord:
      case GrammarTrigger::Kind::kPattern:
        triggers.emplace_back(json::Object{
            {"type", trigger.kind == GrammarTrigger::Kind::kPattern ? "pattern" : "word"}, {"value", trigger.value}});
        break;
      case GrammarTrigger::Kind::kToken:
        triggers.emplace_back(json::Object{{"type", "token"}, {"value", static_cast<std::int64_t>(trigger.id)}});
        break;
    }
  }
  return json::Value(json::Object{{"grammar", grammar.text},
                                  {"lazy", grammar.is_lazy},
                                  {"triggers", std::move(triggers)},
                                  {"warnings", json::Array(grammar.warnings.begin(), grammar.warnings.end())}});
}

}  // namespace rondo::core
