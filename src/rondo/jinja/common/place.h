// Where something stands in the source of a template.
#pragma once

#include <cstdint>

namespace rondo::jinja {

// Counted from 1, columns in bytes.
struct Place {
  std::int32_t line = 1;
  std::int32_t column = 1;
};

}  // namespace rondo::jinja
