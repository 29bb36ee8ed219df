// Python's format mini-language: [[fill]align][sign][#][0][width][grouping][.precision][type].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

struct FormatSpec {
  std::string fill = " ";
  char align = '<';  // '<', '>', '^', or '=' (between sign and digits)
  char sign = '-';
  bool has_sign = false;
  bool no_negative_zero = false;
  bool alternate = false;
  std::int64_t width = -1;
  char grouping = 0;
  std::int64_t precision = -1;
  char type = 0;
};

// Fails with Python's ValueError message if the spec is invalid.
[[nodiscard]] FormatSpec parse_format_spec(Runtime& runtime, std::string_view spec, const Value& value);

// format(value, spec); fails if the type does not allow the spec.
[[nodiscard]] std::string format_value(Runtime& runtime, const Value& value, std::string_view spec);

}  // namespace rondo::jinja
