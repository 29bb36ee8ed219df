// A place in the source of a template.
#pragma once

#include <cstdint>

namespace rondo::jinja {

// Line and column start at 1; columns count bytes.
struct Place {
  std::int32_t line = 1;
  std::int32_t column = 1;
};

}  // namespace rondo::jinja
