// str() and repr(), with origins.
#pragma once

#include <span>
#include <string>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// The `~` operator over all operands at once.
[[nodiscard]] Value concat(Runtime& runtime, std::span<const Value> values);
// str(value) with origins; markup stays markup.
[[nodiscard]] Value to_text(Runtime& runtime, const Value& value);
// repr(value) as a string with origins.
[[nodiscard]] Value to_repr(Runtime& runtime, const Value& value);
[[nodiscard]] std::string repr(Runtime& runtime, const Value& value);  // Python's repr, without origins

}  // namespace rondo::jinja
