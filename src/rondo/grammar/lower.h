// Text up to a marker, excepted words and long repetitions, written out as plain rules.
//
// What remains are literals, characters, sequences, choices, references and repetitions of at most kLongestRepeat: what
// every grammar language has.  The rules are exact: text up to a marker is the automaton that looks for all markers at
// once, so a marker may overlap itself or another.  Parts used more than once are rules, so that printing each rule once
// prints each part once.
#pragma once

#include "grammar/ir.h"

namespace rondo::grammar {

// Longer repetitions become repetitions of repetitions; 64 keeps rules short and any count below 2^32 at most six deep.
inline constexpr std::uint32_t kLongestRepeat = 64;

[[nodiscard]] Grammar lowered(const Grammar& grammar);

}  // namespace rondo::grammar
