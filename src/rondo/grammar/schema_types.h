// The types that a schema allows.  Internal to grammar/.
#pragma once

#include "grammar/schema.h"
#include "json/value.h"

namespace rondo::grammar {

[[nodiscard]] TypeSet type_of(const json::Value& value);
// 1 and 1.0 are equal.
[[nodiscard]] bool are_equal(const json::Value& a, const json::Value& b);
// Returns what one schema allows by `type`; kAnyType, with `is_said` false, if it has no `type`.
[[nodiscard]] TypeSet types_by_type(const json::Value& schema, bool& is_said);
// Returns the types that its other keywords are about; kAnyType if there are none.
[[nodiscard]] TypeSet types_by_keywords(const json::Value& schema);

}  // namespace rondo::grammar
