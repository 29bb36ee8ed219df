// JSON pointers (RFC 6901), also as they stand in the fragment of a URI: the `/$defs/a~1b` of a `$ref`.
#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace rondo::json {

// Returns one step of a pointer, with its slash.
[[nodiscard]] std::string pointer_step(std::string_view key);

// Returns the value to which a pointer in a URI fragment leads from `base`, "" to `base` itself; nullptr if it leads
// nowhere.  Adds the steps taken to `where`, as pointer_step() writes them.
[[nodiscard]] const Value* follow_pointer(const Value& base, std::string_view pointer, std::string& where);

// Returns the part of `root` that a reference such as "#/$defs/x" leads to; nullptr if there is none or it leads out of
// `root`.
[[nodiscard]] const Value* resolve_reference(std::string_view reference, const Value& root);

}  // namespace rondo::json
