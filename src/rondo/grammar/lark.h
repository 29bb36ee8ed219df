// Lark, as llguidance reads it: rules over lexemes, which are regular expressions.
//
// Its lexer takes the longest lexeme that fits and never goes back.  Everything that a reader sees as one unit (a
// string, a number, text up to a marker) is therefore one terminal; see Grammar::token().
#pragma once

#include <string>

#include "grammar/ir.h"

namespace rondo::grammar {

// Returns the grammar as text for llguidance.  The root's rule is named `start`.  Takes time linear in the number of
// nodes.
[[nodiscard]] std::string to_lark(const Grammar& grammar);

}  // namespace rondo::grammar
