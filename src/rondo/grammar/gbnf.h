// GBNF: the grammar language of llama.cpp.  xgrammar reads it too, apart from details.
//
//   root ::= "{" space "\"a\"" [0-9]{1,3} part?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grammar/ir.h"

namespace rondo::grammar {

// Returns the grammar as text, one rule per line.  The root's rule comes first and is named `root`.  Takes time linear
// in the number of nodes.
[[nodiscard]] std::string to_gbnf(const Grammar& grammar);

// Returns the mark after a repeated part: `*`, `+`, `?`, `{m}`, `{m,}` or `{m,n}`.
[[nodiscard]] std::string repeat_mark(const Node& repeat);

// Returns `[...]` or `[^...]`, with `member` spelling each character.  The set of all characters gives `any`, and the
// empty set gives `none`, because neither has such a form.
[[nodiscard]] std::string char_class(const CharSet& set, std::string (*member)(char32_t), std::string_view any,
                                     std::string_view none);

// Returns unique names of letters, digits and hyphens, by rule index.  The root is named `root`.
[[nodiscard]] std::vector<std::string> rule_names(const Grammar& grammar);

}  // namespace rondo::grammar
