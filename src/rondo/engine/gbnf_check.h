// Whether llama.cpp reads a GBNF grammar.  Private to engine/.
//
// The library prints what it can't read to standard error, past its own log, so it is asked only for what this lets through.
#pragma once

#include <string_view>

#include "rondo/result.h"

namespace rondo::engine {

// Fails with kInvalidArgument: what is wrong, and in which line.
[[nodiscard]] Status check_gbnf(std::string_view grammar);

}  // namespace rondo::engine
