// Rewrites text up to a marker, excepted words and long repetitions as plain rules.
//
// The result has only literals, characters, sequences, choices, references and repetitions of at most kLongestRepeat.
// Every grammar language has these.  The rules are exact: text up to a marker becomes the automaton that searches for
// all markers at once, so a marker may overlap itself or another one.  A part that is used more than once becomes a
// rule, so it is printed once.
#pragma once

#include <set>

#include "grammar/ir.h"

namespace rondo::grammar {

// Longer repetitions become repetitions of repetitions.  With 64, rules stay short, and any count below 2^32 is at most
// six levels deep.
inline constexpr std::uint32_t kLongestRepeat = 64;

// Returns `grammar` in this form, pruned.
[[nodiscard]] Grammar lowered(const Grammar& grammar);

// Returns whether a printer with a lexer writes the node, outside of a token, as one lexeme.
[[nodiscard]] bool is_lexeme(const Node& node);
// Returns `grammar` with each character of `lexemes` as a lexeme of its own, pruned.  Their texts and words become rules;
// all else stays.
[[nodiscard]] Grammar with_split_lexemes(const Grammar& grammar, const std::set<NodeId>& lexemes);

}  // namespace rondo::grammar
