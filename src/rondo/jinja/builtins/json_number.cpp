#include "jinja/builtins/json_number.h"

#include <algorithm>
#include <cmath>

#include "jinja/value/numbers.h"
#include "json/print.h"

namespace rondo::jinja {

std::string_view same_number(const json::Value& value) {
  // A float of at most 15 digits has no shorter spelling except without zeros at its ends or with an exponent.
  constexpr std::size_t kMostDigits = 15;
  const std::string_view text = value.number();
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (value.kind() == json::Kind::kInteger) return digits.size() <= kMostDigits && text != "-0" ? text : "";
  const std::size_t dot = digits.find('.');
  if (digits.size() > kMostDigits || dot == std::string_view::npos || dot == 0) return "";
  const std::string_view fraction = digits.substr(dot + 1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (fraction.empty() || !std::all_of(fraction.begin(), fraction.end(), is_digit)) return "";
  if (fraction.ends_with('0') && fraction.size() > 1) return "";
  const bool is_small = digits.starts_with('0') && fraction.starts_with('0') && fraction.size() > 1;
  return is_small ? "" : text;
}

std::string json_number(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::kNone: return "null";
    case Kind::kBool: return value.as_bool() ? "true" : "false";
    case Kind::kInt: return std::to_string(value.as_int());
    case Kind::kBigInt: return decimal_digits(runtime, value.as_big());
    default: break;
  }
  const double number = value.as_float();
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return json::python_float(number);
}

}  // namespace rondo::jinja
