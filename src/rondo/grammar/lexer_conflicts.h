// Where a lexer that takes the longest lexeme, and never goes back, may refuse texts of a grammar.
//
// That happens where a lexeme has matched, another one (or a longer text of the same one) goes on with a character, and
// what the grammar allows behind the first lexeme begins with this character too, but goes on otherwise.
#pragma once

#include <set>

#include "grammar/ir.h"

namespace rondo::grammar {

// Returns the lexemes (lower.h) that may so go on; not those of a single character.  If the search becomes too large, it
// returns what it has found until then.
//
// REQUIRES: `grammar` is pruned.
[[nodiscard]] std::set<NodeId> lexer_conflicts(const Grammar& grammar);

}  // namespace rondo::grammar
