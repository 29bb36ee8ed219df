// The filters on numbers, as a table sorted by name.
#pragma once

#include <span>

#include "jinja/builtins/filters.h"

namespace rondo::jinja {

[[nodiscard]] std::span<const Filter> number_filters();

}  // namespace rondo::jinja
