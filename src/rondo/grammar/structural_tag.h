// Structural tags of xgrammar: JSON that says where free text ends and a grammar begins.
#pragma once

#include "grammar/turn.h"
#include "json/value.h"

namespace rondo::grammar {

// Returns the turn as a `structural_tag` object.  A lazy turn whose triggers are all words becomes `triggered_tags`:
// any text, and the calls after each trigger word.  It then covers the whole output.  Any other turn becomes its
// grammar.
[[nodiscard]] json::Value to_structural_tag(const TurnGrammar& turn);

}  // namespace rondo::grammar
