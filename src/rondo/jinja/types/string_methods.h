// The methods of str and Markup, as a table sorted by name.
#pragma once

#include <span>

#include "jinja/types/methods.h"

namespace rondo::jinja {

[[nodiscard]] std::span<const Method> string_methods();

}  // namespace rondo::jinja
