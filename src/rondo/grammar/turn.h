// What a model may write after a prompt, as a grammar: reasoning, content and tool calls in the syntax of a Format, with
// arguments as the tools' schemas say, or an answer as a schema says.
//
//   TurnOptions options{.tools = tools, .choice = ToolChoice::kRequired};
//   Result<TurnGrammar> turn = turn_grammar(format, options);
//   to_gbnf(turn.value().grammar)
//
// The grammar is over the output text behind the prompt, special tokens as text, with or without the turn's stop at the
// end.  Every turn that the template writes for calls that fit the schemas is in it; white space around markers and
// inside JSON is free, within bounds.
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
  kAuto,      // text, or calls
  kNone,      // no call
  kRequired,  // at least one call
};

// Whether the grammar may begin at a trigger, so that the sampler leaves the text before it alone.
enum class Laziness : std::uint8_t {
  kNever,       // it is over the whole output
  kWords,       // where the triggers are words
  kAnyTrigger,  // words or patterns
};

struct TurnOptions {
  std::optional<json::Value> tools;  // an array of definitions, as for a template
  ToolChoice choice = ToolChoice::kAuto;
  std::string tool_name;  // with kRequired: only this tool
  bool parallel_calls = true;
  bool text_before_calls = true;  // with kRequired: false where nothing but reasoning comes in front of the calls
  std::optional<json::Value> response_schema;
  std::string prompt_tail;  // the end of the prompt: says whether reasoning is open
  Laziness laziness = Laziness::kAnyTrigger;
};

// What to look for in the output: the grammar begins where the word, or the first group of the pattern, begins.
struct Trigger {
  bool is_pattern = false;  // ECMA-262, else a word
  std::string value;
};

// A part of a lazy grammar: a trigger word, and what comes behind it.
struct TriggeredPart {
  std::string word;
  RuleId rest{};
};

struct TurnGrammar {
  Grammar grammar;
  bool is_needed = false;  // false: there is nothing to constrain, and `grammar` has no root
  bool is_lazy = false;
  std::vector<Trigger> triggers;     // of a lazy grammar
  std::vector<TriggeredPart> parts;  // of a lazy grammar whose triggers are all words
  std::vector<std::string> warnings;
};

// Fails with kInvalidArgument if `tool_name` is no tool, and with kLimit if the schemas are too large.
// REQUIRES: format.verify() has no objection.
[[nodiscard]] Result<TurnGrammar> turn_grammar(const format::Format& format, const TurnOptions& options);

}  // namespace rondo::grammar
