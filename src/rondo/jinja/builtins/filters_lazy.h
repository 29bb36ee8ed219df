// The filters that return elements one by one, as a table sorted by name.
#pragma once

#include <span>

#include "jinja/builtins/filters.h"

namespace rondo::jinja {

[[nodiscard]] std::span<const Filter> lazy_filters();

}  // namespace rondo::jinja
