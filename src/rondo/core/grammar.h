// A grammar of what a model may write next, in the words of an engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.h"
#include "format/format.h"
#include "grammar/turn.h"
#include "json/value.h"
#include "parse/parser.h"
#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::core {

enum class ToolChoice : std::uint8_t { kAuto, kNone, kRequired, kNamed };

// What was asked of the model: tools to choose from, and the shape of its answer.
struct Asked {
  bool parallel_tool_calls = true;
  ToolChoice tool_choice = ToolChoice::kAuto;
  std::string tool_name;    // of kNamed
  bool calls_only = false;  // of kRequired and kNamed: no text comes in front of the calls
  std::optional<json::Value> response_schema;
};

// The fields `parallel_tool_calls`, `tool_choice` (a word or {"name": function}) and `response_schema`.
[[nodiscard]] Asked read_asked(Fields& fields);

// A pattern (ECMA-262) for the texts of a custom tool, whose grammar is in `syntax`: "regex" or "lark".  Fails with kUnsupported
// where no pattern can say it, with kInvalidArgument where it is no grammar.
[[nodiscard]] Result<std::string> text_pattern(std::string_view syntax, std::string_view definition);

// How a turn is read that was asked for so.
[[nodiscard]] parse::Options parse_options(const Asked& asked, bool has_tools);

enum class GrammarLanguage : std::uint8_t { kGbnf, kStructuralTag, kLark };
// The field `format`: "gbnf", "structural_tag" or "lark".
[[nodiscard]] GrammarLanguage read_language(Fields& fields);

// What begins a lazy grammar.
struct GrammarTrigger {
  enum class Kind : std::uint8_t { kWord, kPattern, kToken };
  Kind kind = Kind::kWord;
  std::string value;          // of a word or pattern; of a token its text
  tokenizer::TokenId id = 0;  // of a token
};

struct GrammarText {
  std::string text;      // "" where nothing needs to be constrained
  bool is_lazy = false;  // it begins at a trigger
  std::vector<GrammarTrigger> triggers;
  // Of GBNF: the tokens of the format's marks but for stops, which an engine must show as text for the grammar to meet them;
  // without a tokenizer the marks, of which those that are one token count.
  std::vector<std::string> preserved_tokens;
  std::vector<std::string> warnings;  // what of the schemas it leaves out
  GrammarLanguage language = GrammarLanguage::kGbnf;
};
// {"grammar", "lazy", "triggers", "warnings"}, and of GBNF "preserved_tokens" and "llama_server" (docs/batch.md).
[[nodiscard]] json::Value to_json(const GrammarText& grammar);

struct GrammarRequest {
  Asked asked;
  std::optional<json::Value> tools;
  std::string prompt_tail;  // see core::prompt_tail()
  GrammarLanguage language = GrammarLanguage::kGbnf;
};

// Over the whole output, whatever the language.  Fails as grammar::turn_grammar().
[[nodiscard]] Result<grammar::TurnGrammar> make_turn_grammar(const format::Format& format,
                                                             const GrammarRequest& request);
// Without a tokenizer (nullptr) no trigger is told as a token.  Fails as grammar::turn_grammar().
[[nodiscard]] Result<GrammarText> make_grammar(const format::Format& format, const GrammarRequest& request,
                                               const tokenizer::Tokenizer* tokenizer);

}  // namespace rondo::core
