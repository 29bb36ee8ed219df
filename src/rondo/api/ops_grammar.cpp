// grammar: what a model may write, for an engine that samples under constraints.
#include <optional>
#include <string>
#include <utility>

#include "api/formats.h"
#include "api/ops.h"
#include "grammar/gbnf.h"
#include "grammar/lark.h"
#include "grammar/structural_tag.h"
#include "grammar/turn.h"
#include "json/print.h"

namespace rondo::api {
namespace {

grammar::TurnOptions turn_options(const AskedOfModel& asked, const std::optional<json::Value>& tools) {
  grammar::TurnOptions out;
  out.tools = tools;
  out.parallel_calls = asked.parallel_tool_calls;
  out.response_schema = asked.response_schema;
  if (asked.tool_choice == "none") out.choice = grammar::ToolChoice::kNone;
  if (asked.tool_choice == "required" || asked.tool_choice == "named") out.choice = grammar::ToolChoice::kRequired;
  out.tool_name = asked.tool_name;
  return out;
}

// Words first; a word that is one token of the vocabulary is told as that too, for engines that look at ids.
json::Array triggers_of(const grammar::TurnGrammar& turn, const tokenizer::Tokenizer* tokenizer) {
  json::Array out;
  for (const grammar::Trigger& trigger : turn.triggers) {
    out.emplace_back(json::Object{{"type", trigger.is_pattern ? "pattern" : "word"}, {"value", trigger.value}});
    if (tokenizer == nullptr || trigger.is_pattern) continue;
    const auto id = tokenizer->find(trigger.value);
    if (id && tokenizer->is_added(*id))
      out.emplace_back(json::Object{{"type", "token"}, {"value", static_cast<std::int64_t>(*id)}});
  }
  return out;
}

// Only llama.cpp begins a grammar at a trigger; the two others are told about the text before it.
std::string text_of(const grammar::TurnGrammar& turn, const std::string& language) {
  if (!turn.is_needed) return "";
  if (language == "lark") return grammar::to_lark(turn.grammar);
  if (language == "structural_tag") return json::to_compact(grammar::to_structural_tag(turn));
  return grammar::to_gbnf(turn.grammar);
}

}  // namespace

Reply grammar_reply(const format::Format& format, const AskedOfModel& asked, const std::optional<json::Value>& tools,
                    std::string prompt_tail, const std::string& language, const tokenizer::Tokenizer* tokenizer) {
  grammar::TurnOptions options = turn_options(asked, tools);
  options.prompt_tail = std::move(prompt_tail);
  if (language == "lark") options.laziness = grammar::Laziness::kNever;
  if (language == "structural_tag") options.laziness = grammar::Laziness::kWords;
  auto turn = grammar::turn_grammar(format, options);
  if (!turn.ok()) return turn.error();

  const bool is_lazy = turn.value().is_lazy && language == "gbnf";
  json::Array warnings;
  for (const std::string& sentence : turn.value().warnings) warnings.emplace_back(sentence);
  return json::Value(json::Object{{"grammar", text_of(turn.value(), language)},
                                  {"lazy", is_lazy},
                                  {"triggers", is_lazy ? triggers_of(turn.value(), tokenizer) : json::Array{}},
                                  {"warnings", std::move(warnings)}});
}

Reply op_grammar(const OpContext& context, Fields& fields) {
  const TemplateFields chat_template = read_template(fields, TokenizerUse::kOptional);
  ConversationFields input = read_conversation(fields, {.add_generation_prompt = true});
  const AskedOfModel asked = read_asked(fields);
  const std::optional<json::Object> corrections = read_corrections(fields);
  const std::string language = fields.choice("format", {"gbnf", "structural_tag", "lark"});
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto prepared = prepare(context.cache, chat_template, input.conversation, context.clock);
  if (!prepared.ok()) return prepared.error();
  auto format = inferred_format(context.formats, prepared.value(), input.conversation, corrections);
  if (!format.ok()) return format.error();
  auto tail = prompt_tail(prepared.value(), input.conversation, input.has_messages, *format.value());
  if (!tail.ok()) return tail.error();
  return grammar_reply(*format.value(), asked, input.conversation.tools, std::move(tail).value(), language,
                       prepared.value().tokenizer.get());
}

}  // namespace rondo::api
