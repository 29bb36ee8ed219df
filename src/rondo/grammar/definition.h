// Grammars that a client writes for a text: of an answer, or of a custom tool's input.
//
//   Result<Grammar> text = read_definition("lark", "start: \"(\" start \")\" | \"x\"");
//   spelled(Speller(grammar, Spelling::json()), text.value())   // the content of a JSON string with such a text
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grammar/ir.h"
#include "grammar/spelling.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::grammar {

// The keyword with which a schema gives the grammar of a string: {"syntax": ..., "definition": ...}.
inline constexpr std::string_view kGrammarKeyword = "x-grammar";

// Returns the syntax of a grammar that does not say it: "gbnf", of which xgrammar's EBNF is a dialect, or "lark".
[[nodiscard]] std::string_view syntax_of(std::string_view definition);

// Returns the grammar of the texts of `definition`, which is written in `syntax`: "gbnf", "lark" or "regex".  The result
// has literals, characters, sequences, choices, repetitions and references, and no rule refers to itself before it has
// read a character.  Rules that refer to themselves at their own beginning are rewritten.  Fails with kUnsupported if
// several rules do so together, or if the grammar is too large, and with kInvalidArgument if it is no grammar.  Adds a
// sentence to `notes` for each part that is left out, so that the result accepts more than the definition.
[[nodiscard]] Result<Grammar> read_definition(std::string_view syntax, std::string_view definition,
                                              std::vector<std::string>* notes = nullptr);

// Returns the schema of a string whose text fits such a grammar.
[[nodiscard]] json::Value schema_of(std::string_view syntax, std::string_view definition);

// Adds the texts of `definition`, which read_definition() returned, to the speller's grammar.  Returns the content of a
// string with such a text, without quotes.
[[nodiscard]] NodeId spelled(const Speller& speller, const Grammar& definition);

}  // namespace rondo::grammar
