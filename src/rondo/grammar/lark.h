// Lark, as llguidance reads it: rules over lexemes that are regular expressions.
//
// Its lexer takes the longest lexeme that fits and never goes back, so everything that is one word to a reader (a string, a
// number, text up to a marker) is one terminal here; see Grammar::token.
#pragma once

#include <string>

#include "grammar/ir.h"

namespace rondo::grammar {

// The grammar as text, for llguidance; its root's rule is `start`.  Linear in the number of nodes.
[[nodiscard]] std::string to_lark(const Grammar& grammar);

}  // namespace rondo::grammar
