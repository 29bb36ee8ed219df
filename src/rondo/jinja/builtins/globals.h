// The variables that every template has: range, dict, namespace, ...
#pragma once

#include <optional>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// Whether there is a global of this name in every render.
[[nodiscard]] bool is_global_name(std::string_view name);
// range, dict, namespace, ...; nothing if there is no such global.
[[nodiscard]] std::optional<Value> find_global(Runtime& runtime, std::string_view name);

}  // namespace rondo::jinja
