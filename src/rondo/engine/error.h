// Short ways to make an Error; private to this folder.
#pragma once

#include <string>
#include <utility>

#include "rondo/result.h"

namespace rondo::engine {

[[nodiscard]] inline Error make_error(ErrorCode code, std::string message, std::string source = {}) {
  Error error;
  error.code = code;
  error.message = std::move(message);
  error.source = std::move(source);
  return error;
}

}  // namespace rondo::engine
