// Reads GBNF back, so that a printed grammar can be held against the graph that it was printed from.
#pragma once

#include <string_view>

#include "grammar/ir.h"
#include "rondo/result.h"

namespace rondo::test {

// Reads rules, literals, classes, groups, `.`, `* + ? {m} {m,} {m,n}`, comments.  Fails with kInvalidArgument and the
// line; a rule that is used must be defined, and `root` must be there.
[[nodiscard]] Result<grammar::Grammar> read_gbnf(std::string_view text);

}  // namespace rondo::test
