// Checks whether llama.cpp can read a GBNF grammar.  Private to engine/.
//
// The library prints what it cannot read to standard error, bypassing its own log.  So it only gets grammars that pass
// this check.
#pragma once

#include <string_view>

#include "rondo/result.h"

namespace rondo::engine {

// Fails with kInvalidArgument; the error says what is wrong and in which line.
[[nodiscard]] Status check_gbnf(std::string_view grammar);

}  // namespace rondo::engine
