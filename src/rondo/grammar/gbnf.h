// GBNF: the grammar language of llama.cpp (and, but for details, of xgrammar).
//
//   root ::= "{" space "\"a\"" [0-9]{1,3} part?
#pragma once

#include <string>
#include <string_view>

#include "grammar/ir.h"
#include "rondo/result.h"

namespace rondo::grammar {

// The grammar as text, the root's rule first and under the name `root`; one rule a line.  Linear in the number of nodes.
[[nodiscard]] std::string to_gbnf(const Grammar& grammar);

// Reads GBNF: rules, literals, classes, groups, `.`, `* + ? {m} {m,} {m,n}`, comments.  Fails with kInvalidArgument and the
// line; a rule that is used must be defined, and `root` must be there.  For tests, and for grammars that users bring.
[[nodiscard]] Result<Grammar> read_gbnf(std::string_view text);

// The text between the quotes of a literal.
[[nodiscard]] std::string gbnf_literal(std::string_view text);
// `[...]`.
[[nodiscard]] std::string gbnf_class(const CharSet& set);

// Unique names of letters, digits and hyphens, by rule index; the root is `root`.
[[nodiscard]] std::vector<std::string> rule_names(const Grammar& grammar);

}  // namespace rondo::grammar
