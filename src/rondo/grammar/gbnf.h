// GBNF: the grammar language of llama.cpp, which xgrammar also reads, apart from details.
//
//   root ::= "{" space "\"a\"" [0-9]{1,3} part?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grammar/ir.h"

namespace rondo::grammar {

// Returns the grammar as text, one rule per line; the root's rule comes first and is named `root`.  Takes time linear
// in the number of nodes.
[[nodiscard]] std::string to_gbnf(const Grammar& grammar);

// Returns the suffix of a repeated part: `*`, `+`, `?`, `{m}`, `{m,}` or `{m,n}`.
[[nodiscard]] std::string repeat_mark(const Node& repeat);

// Returns `[...]` or `[^...]`, with `member` for each character.  The sets of all and of no characters have no such
// form; they give `any` and `none`.
[[nodiscard]] std::string char_class(const CharSet& set, std::string (*member)(char32_t), std::string_view any,
                                     std::string_view none);

// Returns unique names of letters, digits and hyphens, by rule index; the root is `root`.
[[nodiscard]] std::vector<std::string> rule_names(const Grammar& grammar);

}  // namespace rondo::grammar
