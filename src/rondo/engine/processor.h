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

// Fails with the names of the instructions that libllama uses without asking and this processor lacks; to be called before any
// other function of the library.  The first such instruction would end the process.
[[nodiscard]] Status check_processor();

// The same for a list of instructions.
[[nodiscard]] Status check_instructions(std::span<const Instructions> needed);

}  // namespace rondo::engine
