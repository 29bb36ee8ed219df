// Which parameters a tool's schema lists.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace rondo::chat {

// Returns the names of the parameters that `schema` lists, if it allows no others.  A schema lists them if it has
// `properties` anywhere, has no patterns or conditions, and its `additionalProperties` is absent or false.  Unlike in
// JSON Schema, a name that a tool's schema does not list is not a parameter of the tool.  Returns nullopt if the schema
// lists no parameters, or is too large to tell.  The names point into `schema`.
[[nodiscard]] std::optional<std::vector<std::string_view>> listed_parameters(const json::Value& schema);

}  // namespace rondo::chat
