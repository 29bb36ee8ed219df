// The error of files that cannot be used.
#pragma once

#include <string>
#include <utility>

#include "rondo/result.h"

namespace rondo::tokenizer {

// kTokenizer with a sentence.
[[nodiscard]] inline Error damaged(std::string message) { return {ErrorCode::kTokenizer, std::move(message)}; }

}  // namespace rondo::tokenizer
