// When two values are the same to Python.
#pragma once

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// Python's ==, without logging a probe.
[[nodiscard]] bool equals(Runtime& runtime, const Value& left, const Value& right);

}  // namespace rondo::jinja
