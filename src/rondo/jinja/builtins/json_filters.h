// The filters tojson and from_json, as a table sorted by name.
#pragma once

#include <span>

#include "jinja/builtins/filters.h"

namespace rondo::jinja {

[[nodiscard]] std::span<const Filter> json_filters();

}  // namespace rondo::jinja
