// The error of files that cannot be used.
#pragma once

#include <string>
#include <utility>

#include "rondo/result.h"

namespace rondo::tokenizer {

// kTokenizer with a sentence.
[[nodiscard]] inline Error damaged(std::string message) {
  Error error;
  error.code = ErrorCode::kTokenizer;
  error.message = std::move(message);
  return error;
}

}  // namespace rondo::tokenizer
