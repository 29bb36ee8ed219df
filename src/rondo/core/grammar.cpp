#include "core/grammar.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/printing.h"
#include "chat/conversation.h"
#include "format/units.h"
#include "grammar/definition.h"
#include "grammar/gbnf.h"
#include "grammar/lark.h"
#include "grammar/rest.h"
#include "grammar/structural_tag.h"
#include "json/print.h"

namespace rondo::core {
namespace {

grammar::TurnOptions turn_options(const GrammarRequest& request) {
  grammar::TurnOptions out;
  out.tools = request.tools;
  out.parallel_calls = request.asked.parallel_tool_calls;
  out.response_schema = request.asked.response_schema;
  out.is_text_answer = request.asked.is_text_answer;
  switch (request.asked.tool_choice) {
    case ToolChoice::kAuto: break;
    case ToolChoice::kNone: out.choice = grammar::ToolChoice::kNone; break;
    case ToolChoice::kRequired:
    case ToolChoice::kNamed: out.choice = grammar::ToolChoice::kRequired; break;
  }
  out.tool_name = request.asked.tool_name;
  out.is_direct = request.asked.is_direct;
  out.ends_by_token = request.asked.ends_by_token;
  out.prompt_tail = request.prompt_tail;
  // Only llama.cpp starts a grammar at a trigger.  The two other languages get the text before it as part of the
  // grammar.
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

// Makes the grammar one of what may follow the beginning of an answer.
Status go_on_behind(std::string_view begun, grammar::TurnGrammar& turn) {
  if (begun.empty() || !turn.is_needed || turn.is_lazy) return Done{};
  auto rest = grammar::rest_behind(turn.grammar, begun);
  if (!rest) return Error(ErrorCode::kLimit, "the schema is too ambiguous for an answer that has been begun");
  turn.grammar = *std::move(rest);
  turn.is_impossible = !turn.grammar.productive_rules()[static_cast<std::size_t>(turn.grammar.root())];
  return Done{};
}

// Words come first.  A word that is one token of the vocabulary is also given as an id, for engines that match ids.
std::vector<GrammarTrigger> triggers_of(const grammar::TurnGrammar& turn, const tokenizer::Tokenizer* tokenizer) {
  using Kind = GrammarTrigger::Kind;
  std::vector<GrammarTrigger> out;
  for (const grammar::Trigger& trigger : turn.triggers) {
    out.push_back({trigger.is_pattern ? Kind::kPattern : Kind::kWord, trigger.value});
    if (tokenizer == nullptr || trigger.is_pattern) continue;
    const auto id = tokenizer->find(trigger.value);
    if (id && tokenizer->is_added(*id)) out.push_back({Kind::kToken, trigger.value, *id});
  }
  return out;
}

// The texts that a format writes around reasoning, content and calls.
std::vector<std::string_view> marks_of(const format::Format& format) {
  const format::Calls& calls = format.calls;
  std::vector<std::string_view> out = {format.reasoning.open, format.reasoning.close, format.content.open,
                                       format.content.close};
  if (!calls.present) return out;
  out.insert(out.end(),
             {calls.section_open, calls.call_open, calls.separator, calls.call_close, calls.section_close,
              calls.parameters.open, calls.parameters.key_close, calls.parameters.close, calls.parameters.separator});
  for (const format::CallPiece& piece : calls.pieces) out.emplace_back(piece.text);
  for (const format::ValueForm& form : calls.parameters.forms)
    out.insert(out.end(), {form.key_open, form.open, form.close});
  return out;
}

// The marks' units: tags, control tokens, and words between these.
std::vector<std::string> units_of(const std::vector<std::string_view>& marks, const format::Format& format) {
  std::vector<std::string> out;
  for (const std::string_view mark : marks) {
    const std::string_view core = format::trimmed(mark);
    std::size_t begin = 0;
    for (const std::size_t end : format::unit_boundaries(core, format.atoms)) {
      if (end > begin) out.emplace_back(format::trimmed(core.substr(begin, end - begin)));
      begin = std::max(begin, end);
    }
  }
  return out;
}

bool is_stop(const format::Format& format, std::string_view text) {
  const auto is_it = [text](const std::string& stop) { return format::trimmed(stop) == text; };
  return std::ranges::any_of(format.stops.content, is_it) || std::ranges::any_of(format.stops.tool, is_it);
}

std::vector<std::string> preserved_tokens(const format::Format& format, const tokenizer::Tokenizer* tokenizer) {
  std::vector<std::string> out;
  const auto add = [&](std::string text) {
    if (!format::is_blank(text) && !is_stop(format, text) && std::ranges::find(out, text) == out.end())
      out.push_back(std::move(text));
  };
  const std::vector<std::string_view> marks = marks_of(format);
  if (tokenizer == nullptr) {
    for (std::string& unit : units_of(marks, format)) add(std::move(unit));
    return out;
  }
  for (const std::string_view mark : marks) {
    for (const tokenizer::Piece& piece : tokenizer->encode(mark, {.added_only = true}))
      add(std::string(tokenizer->token_bytes(piece.id)));
  }
  return out;
}

// The fields that the engine's server takes beside a prompt, under the server's own names.
json::Object llama_server(const GrammarText& grammar) {
  constexpr int kToken = 0;
  constexpr int kWord = 1;
  constexpr int kWholePattern = 3;
  json::Array triggers;
  for (const GrammarTrigger& trigger : grammar.triggers) {
    switch (trigger.kind) {
      case GrammarTrigger::Kind::kWord:
        triggers.push_back(json::Object{{"type", kWord}, {"value", trigger.value}});
        break;
      case GrammarTrigger::Kind::kPattern:  // it must match the whole text there, including what follows its group
        triggers.push_back(json::Object{{"type", kWholePattern}, {"value", trigger.value + "[\\s\\S]*"}});
        break;
      case GrammarTrigger::Kind::kToken:  // replaces the word before it
        if (!triggers.empty() && triggers.back().find_string("value") == trigger.value) triggers.pop_back();
        triggers.push_back(
            json::Object{{"type", kToken}, {"value", trigger.value}, {"token", static_cast<std::int64_t>(trigger.id)}});
        break;
    }
  }
  return {{"grammar", grammar.text},
          {"grammar_lazy", grammar.is_lazy},
          {"grammar_triggers", std::move(triggers)},
          {"preserved_tokens", json::Array(grammar.preserved_tokens.begin(), grammar.preserved_tokens.end())}};
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
  const json::Value* schema = fields.value("response_schema");
  if (schema != nullptr && schema->is_bool()) {
    out.response_schema = *schema;
  } else if (schema != nullptr) {
    out.response_schema = json::Value(fields.object("response_schema"));
  }
  out.is_text_answer = fields.flag("response_text", false);
  return out;
}

Status check_tool_name(const Asked& asked, const std::optional<json::Value>& tools) {
  if (asked.tool_choice != ToolChoice::kNamed) return Done{};
  const std::vector<chat::ToolDefinition> known = chat::tool_definitions(tools.value_or(json::Value()));
  if (std::ranges::find(known, asked.tool_name, &chat::ToolDefinition::name) != known.end()) return Done{};
  return Error(ErrorCode::kInvalidArgument, "no tool has the name `" + printing::excerpt(asked.tool_name) + "`");
}

Result<json::Value> text_schema(std::string_view syntax, std::string_view definition) {
  if (syntax.empty()) syntax = grammar::syntax_of(definition);
  const auto read = grammar::read_definition(syntax, definition);
  if (!read.ok()) return read.error();
  return grammar::schema_of(syntax, definition);
}

parse::Options parse_options(const Asked& asked, bool has_tools) {
  parse::Options out;
  // A model that was asked for an answer by a schema and got no tools cannot call any.
  out.calls = asked.tool_choice != ToolChoice::kNone && (has_tools || !asked.response_schema);
  out.parallel_calls = asked.parallel_tool_calls;
  out.must_call = asked.tool_choice == ToolChoice::kRequired || asked.tool_choice == ToolChoice::kNamed;
  out.only_tool = asked.tool_name;
  out.json_answer = asked.response_schema.has_value() && !asked.is_text_answer;
  return out;
}

GrammarLanguage read_language(Fields& fields) {
  const std::string name = fields.choice("format", {"gbnf", "structural_tag", "lark"});
  if (name == "structural_tag") return GrammarLanguage::kStructuralTag;
  return name == "lark" ? GrammarLanguage::kLark : GrammarLanguage::kGbnf;
}

Result<grammar::TurnGrammar> make_turn_grammar(const format::Format& format, const GrammarRequest& request) {
  grammar::TurnOptions options = turn_options(request);
  options.laziness = grammar::Laziness::kNever;
  return grammar::turn_grammar(format, options);
}

Result<GrammarText> make_grammar(const format::Format& format, const GrammarRequest& request,
                                 const tokenizer::Tokenizer* tokenizer) {
  auto turn = grammar::turn_grammar(format, turn_options(request));
  if (!turn.ok()) return turn.error();
  const bool was_possible = !turn.value().is_impossible;
  if (Status fits = go_on_behind(request.begun, turn.value()); !fits.ok()) return fits.error();
  GrammarText out;
  out.text = text_of(turn.value(), request.language);
  out.is_lazy = turn.value().is_lazy && request.language == GrammarLanguage::kGbnf;
  if (out.is_lazy) out.triggers = triggers_of(turn.value(), tokenizer);
  out.language = request.language;
  if (out.language == GrammarLanguage::kGbnf && turn.value().is_needed)
    out.preserved_tokens = preserved_tokens(format, tokenizer);
  out.warnings = std::move(turn.value().warnings);
  out.is_impossible = turn.value().is_impossible;
  if (out.is_impossible) {
    out.warnings.emplace_back(was_possible ? "no answer that begins so fits the schema"
                              : request.asked.response_schema
                                  ? "no answer fits this grammar: nothing satisfies the schema"
                                  : "no call fits this grammar: nothing satisfies the parameters' schemas");
  }
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
  json::Object out{{"grammar", grammar.text},
                   {"lazy", grammar.is_lazy},
                   {"triggers", std::move(triggers)},
                   {"warnings", json::Array(grammar.warnings.begin(), grammar.warnings.end())}};
  if (grammar.language == GrammarLanguage::kGbnf) {
    out.set("preserved_tokens", json::Array(grammar.preserved_tokens.begin(), grammar.preserved_tokens.end()));
    out.set("llama_server", llama_server(grammar));
  }
  return json::Value(std::move(out));
}

}  // namespace rondo::core
