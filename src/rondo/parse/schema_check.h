// Checks the arguments of a call against the tool's schema: their types and their names.
//
// This is not a full validator.  It reports only what is wrong under every reading of the schema.  It accepts
// everything that it does not know: patterns, bounds, `enum` beyond the types of its values, and type names that JSON
// does not have.
#pragma once

#include <vector>

#include "chat/conversation.h"
#include "json/value.h"
#include "parse/values.h"

namespace rondo::parse {

// Returns one problem for each parameter that has a wrong type or that the schema does not list.  If the arguments are
// no object but the schema wants one, returns one problem for them as a whole.  Returns none if `schema` says nothing
// about parameters.
[[nodiscard]] std::vector<chat::CallProblem> schema_problems(const json::Value& arguments, const json::Value& schema);

// Returns true if the schema allows `value`, or cannot tell.
[[nodiscard]] bool fits(const json::Value& value, const SchemaPlace& place);

}  // namespace rondo::parse
