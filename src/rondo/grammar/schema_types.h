// The types that a schema allows.  Internal to grammar/.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "grammar/schema.h"
#include "json/value.h"

namespace rondo::grammar {

// Returns the type of `value`.  A whole number with a fraction, such as 1.0, is both an integer and a number.
[[nodiscard]] TypeSet type_of(const json::Value& value);
// Returns a text that is the same for equal values and different for all others.
[[nodiscard]] std::string equality_key(const json::Value& value);
// Returns whether the values are equal.  The numbers 1 and 1.0 are.
[[nodiscard]] bool are_equal(const json::Value& a, const json::Value& b);
// Returns whether a type has this name.  Python's names, which some clients write, are known too.
[[nodiscard]] bool is_type(std::string_view name);
// Returns the types that the schema's `type` allows; kAnyType, with `is_said` false, if it has none that is known.
[[nodiscard]] TypeSet types_by_type(const json::Value& schema, bool& is_said);
// Returns what the value of this keyword must be if `value` is of another kind: "an object"; "" if it fits.  Values that
// are schemas are not checked.
[[nodiscard]] std::string_view kind_of_keyword(std::string_view keyword, const json::Value& value);
// Returns whether the schema has one of these keywords.
[[nodiscard]] bool has_keyword(const json::Value& schema, std::initializer_list<std::string_view> keywords);
// Returns the types that the schema's other keywords are about; kAnyType if there are none.
[[nodiscard]] TypeSet types_by_keywords(const json::Value& schema);

}  // namespace rondo::grammar
