// The variables that every template has: range, dict, namespace, ...
#pragma once

#include <optional>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// Returns what `self` is in a template: an object that has its blocks as attributes, of which rondo knows none.
[[nodiscard]] Value template_reference(Runtime& runtime);
// Returns whether every render has a global of this name.
[[nodiscard]] bool is_global_name(std::string_view name);
// Returns the global (range, dict, namespace, ...); nullopt if there is none.
[[nodiscard]] std::optional<Value> find_global(Runtime& runtime, std::string_view name);

}  // namespace rondo::jinja
