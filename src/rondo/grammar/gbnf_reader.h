// Reads GBNF, the grammar language of llama.cpp, with what xgrammar's language has beyond it.
#pragma once

#include <string_view>

#include "grammar/ir.h"
#include "rondo/result.h"

namespace rondo::grammar {

// Reads rules, literals, classes, groups, `.`, `* + ? {m} {m,} {m,n}` and comments.  A rule ends where the next one
// begins.  Fails with kInvalidArgument and the line.  The grammar needs a rule `root`, and a definition of each rule that
// is used.  Tokens (`<think>`, `<[42]>`) are not read.
[[nodiscard]] Result<Grammar> read_gbnf(std::string_view text);

}  // namespace rondo::grammar
