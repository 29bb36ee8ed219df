// A grammar of what a model may write after a prompt.  That is reasoning, content, and tool calls in the syntax of a
// Format with arguments that fit the tools' schemas, or an answer that fits a schema.
//
//   TurnOptions options{.tools = tools, .choice = ToolChoice::kRequired};
//   Result<TurnGrammar> turn = turn_grammar(format, options);
//   to_gbnf(turn.value().grammar)
//
// The grammar covers the text after the prompt, with special tokens spelled out, with or without the turn's stop at the
// end.  It accepts every turn that the template writes for calls that fit the schemas.  White space around markers and
// inside JSON is free, within limits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/format.h"
#include "grammar/ir.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::grammar {

enum class ToolChoice : std::uint8_t {
  kAuto,      // text or calls
  kNone,      // no call
  kRequired,  // at least one call
};

// Whether the grammar may begin at a trigger.  The text before the trigger is then not constrained.
enum class Laziness : std::uint8_t {
  kNever,       // it covers the whole output
  kWords,       // allowed if all triggers are words
  kAnyTrigger,  // allowed for words and patterns
};

struct TurnOptions {
  std::optional<json::Value> tools;  // an array of definitions, as a template gets them
  ToolChoice choice = ToolChoice::kAuto;
  std::string tool_name;  // for kRequired: only this tool
  bool parallel_calls = true;
  // Accepts less than what can be parsed: no text before required calls, no reasoning if the prompt has ended it, and
  // nothing after the end of the turn.
  bool is_direct = false;
  // The engine ends the turn with a token of its own where the grammar may end, so the grammar spells out no stop.
  // Otherwise ordinary tokens could spell the stop, and it would be in the answer.
  bool ends_by_token = false;
  std::optional<json::Value> response_schema;
  // The answer is the text of the string that `response_schema` describes, not JSON.
  bool is_text_answer = false;
  std::string prompt_tail;  // the end of the prompt; tells whether reasoning is open
  Laziness laziness = Laziness::kAnyTrigger;
};

// What to search for in the output.  The grammar begins where the word begins, or the first group of the pattern.
struct Trigger {
  bool is_pattern = false;  // an ECMA-262 pattern; otherwise a word
  std::string value;
};

// A part of a lazy grammar: a trigger word, and the rule for the text after it.
struct TriggeredPart {
  std::string word;
  RuleId rest{};
};

struct TurnGrammar {
  Grammar grammar;
  bool is_needed = false;  // false: there is nothing to constrain, and `grammar` has no root
  bool is_lazy = false;
  bool is_impossible = false;        // whether no text fits, because nothing satisfies a schema
  std::vector<Trigger> triggers;     // for a lazy grammar
  std::vector<TriggeredPart> parts;  // for a lazy grammar whose triggers are all words
  std::vector<std::string> warnings;
};

// Makes the grammar.  Fails with kInvalidArgument if `tool_name` is not the name of a tool, or with kLimit if the
// schemas are too large.
//
// REQUIRES: format.verify() returns nullopt.
[[nodiscard]] Result<TurnGrammar> turn_grammar(const format::Format& format, const TurnOptions& options);

}  // namespace rondo::grammar
