// A grammar of what a model may write next, in the language of an engine.
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

// What a request asks of the model: which tools it may or must call, and the shape of its answer.
struct Asked {
  bool parallel_tool_calls = true;
  ToolChoice tool_choice = ToolChoice::kAuto;
  std::string tool_name;       // for kNamed
  bool is_direct = false;      // see grammar::TurnOptions
  bool ends_by_token = false;  // see grammar::TurnOptions
  std::optional<json::Value> response_schema;
  bool is_text_answer = false;  // see grammar::TurnOptions
};

// Reads the fields `parallel_tool_calls`, `tool_choice` (a word or {"name": function}), `response_schema`, and
// `response_text`: whether the answer is the text of a string instead of JSON.
[[nodiscard]] Asked read_asked(Fields& fields);

// Fails with kInvalidArgument if a tool is asked for by name and no tool has that name, as make_grammar() does.
[[nodiscard]] Status check_tool_name(const Asked& asked, const std::optional<json::Value>& tools);

// Returns the schema of a string whose text fits the grammar `definition`, for an answer or a custom tool.  `syntax` is
// that of grammar::read_definition(), or "" for what the text shows.  Fails as that function does.
[[nodiscard]] Result<json::Value> text_schema(std::string_view syntax, std::string_view definition);

// Returns the options for parsing a turn that was requested with `asked`.
[[nodiscard]] parse::Options parse_options(const Asked& asked, bool has_tools);

enum class GrammarLanguage : std::uint8_t { kGbnf, kStructuralTag, kLark };
// Reads the field `format`: "gbnf", "structural_tag" or "lark".
[[nodiscard]] GrammarLanguage read_language(Fields& fields);

// A condition that starts a lazy grammar.
struct GrammarTrigger {
  enum class Kind : std::uint8_t { kWord, kPattern, kToken };
  Kind kind = Kind::kWord;
  std::string value;          // the word or pattern; for a token, its text
  tokenizer::TokenId id = 0;  // for a token: its id
};

struct GrammarText {
  std::string text;      // "" if nothing needs to be constrained
  bool is_lazy = false;  // whether it starts only at a trigger
  std::vector<GrammarTrigger> triggers;
  // For GBNF: the tokens of the format's markers, except stops.  The engine must show these tokens as text so that the
  // grammar can match them.  Without a tokenizer, all markers; those that are a single token count.
  std::vector<std::string> preserved_tokens;
  // Sentences: the parts of the schemas that the grammar leaves out, and whether no text fits it.
  std::vector<std::string> warnings;
  bool is_impossible = false;  // no text fits, because nothing satisfies a schema
  GrammarLanguage language = GrammarLanguage::kGbnf;
};
// Returns {"grammar", "lazy", "triggers", "warnings"}.  For GBNF, adds "preserved_tokens" and "llama_server"
// (docs/batch.md).
[[nodiscard]] json::Value to_json(const GrammarText& grammar);

struct GrammarRequest {
  Asked asked;
  std::optional<json::Value> tools;
  std::string prompt_tail;  // see core::prompt_tail()
  GrammarLanguage language = GrammarLanguage::kGbnf;
  // The beginning of an answer by a schema, which follows the prompt; the grammar covers the rest of the answer.
  std::string begun{};
};

// Makes a grammar of the whole output, in any language.  Fails as grammar::turn_grammar() does.
[[nodiscard]] Result<grammar::TurnGrammar> make_turn_grammar(const format::Format& format,
                                                             const GrammarRequest& request);
// Makes the grammar as text.  Without a tokenizer (nullptr), no trigger is given as a token.  Fails as
// grammar::turn_grammar() does.
[[nodiscard]] Result<GrammarText> make_grammar(const format::Format& format, const GrammarRequest& request,
                                               const tokenizer::Tokenizer* tokenizer);

}  // namespace rondo::core
