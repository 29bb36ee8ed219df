// Lark, as llguidance reads it: rules over lexemes, which are regular expressions.
//
// Its lexer takes the longest lexeme that fits and never goes back.  So everything that is one unit to a reader (a
// string, a number, text up to a marker) is one terminal here; see Grammar::token.
#pragma once

#include <string>

#include "grammar/ir.h"

namespace rondo::grammar {

// Returns the grammar as text for llguidance; the root's rule is `start`.  Takes time linear in the number of nodes.
[[nodiscard]] std::string to_lark(const Grammar& grammar);

}  // namespace rondo::grammar
