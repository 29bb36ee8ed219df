// What a tool's schema has to say about the arguments of a call: their types and their names.
//
// It is no validator.  It complains only where nobody reads the schema otherwise: what it does not know (patterns, bounds, `enum`
// beyond its types, names of types that are none of JSON's) it takes for granted.
#pragma once

#include <vector>

#include "chat/conversation.h"
#include "json/value.h"

namespace rondo::parse {

// One for each parameter of the wrong type or that the schema does not have; none where `schema` says nothing of parameters.
[[nodiscard]] std::vector<chat::CallProblem> schema_problems(const json::Value& arguments, const json::Value& schema);

// True if the schema lists its parameters, and others are not meant.
[[nodiscard]] bool lists_parameters(const json::Value& schema);

}  // namespace rondo::parse
