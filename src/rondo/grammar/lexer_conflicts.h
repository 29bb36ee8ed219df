// Finds where a lexer may refuse texts of a grammar because it takes the longest lexeme and never goes back.
//
// This happens under three conditions.  A lexeme has matched.  Another lexeme, or a longer text of the same one,
// continues with some character.  The text that the grammar allows after the first lexeme begins with this character
// too, but then continues differently.
#pragma once

#include <set>

#include "grammar/ir.h"

namespace rondo::grammar {

// Returns the lexemes (lower.h) that may continue in this way, except those of a single character.  If the search
// becomes too large, it returns what it has found until then.
//
// REQUIRES: `grammar` is pruned.
[[nodiscard]] std::set<NodeId> lexer_conflicts(const Grammar& grammar);

}  // namespace rondo::grammar
