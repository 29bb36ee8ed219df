// Python's equality of values.
#pragma once

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// Python's ==, without recording a probe.
[[nodiscard]] bool equals(Runtime& runtime, const Value& left, const Value& right);

}  // namespace rondo::jinja
