// Python's order and membership.
#pragma once

#include "jinja/common/operators.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

[[nodiscard]] bool compare(Runtime& runtime, CompareOp op, const Value& left, const Value& right);
// Python's <; fails for values that have no order.
[[nodiscard]] bool less(Runtime& runtime, const Value& left, const Value& right);

}  // namespace rondo::jinja
