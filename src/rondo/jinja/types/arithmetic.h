// The arithmetic operators.
#pragma once

#include "jinja/common/operators.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

[[nodiscard]] Value binary(Runtime& runtime, BinaryOp op, const Value& left, const Value& right);
[[nodiscard]] Value negate(Runtime& runtime, const Value& value);
[[nodiscard]] Value positive(Runtime& runtime, const Value& value);

// object[start:stop:step] in a constant expression.  Undefined where get_slice would fail, as in the reference.
[[nodiscard]] Value get_constant_slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop,
                                       const Value& step);

}  // namespace rondo::jinja
