// The filters that return a list, an element or a sum, as a table sorted by name.
#pragma once

#include <span>

#include "jinja/builtins/filters.h"

namespace rondo::jinja {

[[nodiscard]] std::span<const Filter> sequence_filters();

}  // namespace rondo::jinja
