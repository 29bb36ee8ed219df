// GBNF: the grammar language of llama.cpp (and, but for details, of xgrammar).
//
//   root ::= "{" space "\"a\"" [0-9]{1,3} part?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grammar/ir.h"

namespace rondo::grammar {

// The grammar as text, the root's rule first and under the name `root`; one rule a line.  Linear in the number of nodes.
[[nodiscard]] std::string to_gbnf(const Grammar& grammar);

// What follows a repeated part: `*`, `+`, `?`, `{m}`, `{m,}` or `{m,n}`.
[[nodiscard]] std::string repeat_mark(const Node& repeat);

// `[...]` or `[^...]`, with `member` for each character; what any character is, and none, has no such form.
[[nodiscard]] std::string char_class(const CharSet& set, std::string (*member)(char32_t), std::string_view any,
                                     std::string_view none);

// Unique names of letters, digits and hyphens, by rule index; the root is `root`.
[[nodiscard]] std::vector<std::string> rule_names(const Grammar& grammar);

}  // namespace rondo::grammar
