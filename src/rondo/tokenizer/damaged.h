// The error for files that cannot be used.
#pragma once

#include <string>
#include <utility>

#include "rondo/result.h"

namespace rondo::tokenizer {

// Makes a kTokenizer error.
[[nodiscard]] inline Error damaged(std::string message) { return {ErrorCode::kTokenizer, std::move(message)}; }

}  // namespace rondo::tokenizer
