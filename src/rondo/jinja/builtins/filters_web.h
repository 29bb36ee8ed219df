// The filters for HTML and URLs, as a table sorted by name.
#pragma once

#include <span>

#include "jinja/builtins/filters.h"

namespace rondo::jinja {

[[nodiscard]] std::span<const Filter> web_filters();

}  // namespace rondo::jinja
