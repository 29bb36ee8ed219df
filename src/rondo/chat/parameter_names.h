// Which parameters a tool's schema lists.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace rondo::chat {

// Returns the names of the parameters that `schema` lists, if it allows no others.  A schema lists them if it has
// `properties` anywhere, has no patterns or conditions, and its `additionalProperties` is absent or false: unlike in JSON
// Schema, what a tool's schema does not name is none of its parameters.  Returns nullopt if it lists none, or is too large
// to tell.  The names are parts of `schema`.
[[nodiscard]] std::optional<std::vector<std::string_view>> listed_parameters(const json::Value& schema);

}  // namespace rondo::chat
