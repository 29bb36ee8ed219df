// Whether this processor has the instructions that libllama was compiled with.  Private to engine/.
#pragma once

#include <span>
#include <string_view>

#include "rondo/result.h"

namespace rondo::engine {

struct Instructions {
  std::string_view name;
  bool present;
};

// Fails if this processor lacks instructions that libllama uses without asking, and names them.  Call it before any other
// function of the library: the first such instruction would end the process.
[[nodiscard]] Status check_processor();

// Fails if one of `needed` is not present.
[[nodiscard]] Status check_instructions(std::span<const Instructions> needed);

}  // namespace rondo::engine
