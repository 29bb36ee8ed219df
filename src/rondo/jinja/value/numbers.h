// Numbers as Python has them: ints of any size, order, and what they are read from and printed as.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jinja/value/bigint.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// A number as the template spells it.
[[nodiscard]] Value make_number(Runtime& runtime, std::string_view spelling, bool is_float);
// An int; normalised to kInt if it fits 64 bits.
[[nodiscard]] Value make_integer(Runtime& runtime, BigInt value);
[[nodiscard]] BigInt to_big(const Value& integral);   // REQUIRES: is_integral()
[[nodiscard]] double to_double(const Value& number);  // REQUIRES: is_number()
[[nodiscard]] inline Value make_length(std::size_t value) { return Value::integer(static_cast<std::int64_t>(value)); }
// An int as Python takes a bound: one beyond 64 bits is the largest or smallest that fits.  REQUIRES: is_integral()
[[nodiscard]] std::int64_t clipped(const Value& integral);
// Exact order of two numbers; unordered with NaN.
[[nodiscard]] std::partial_ordering order_numbers(const Value& left, const Value& right);
// str(value) of an int, which Python limits in length.
[[nodiscard]] std::string decimal_digits(Runtime& runtime, const BigInt& value);
// int(text, base) and float(text) as Python reads them; nothing where it raises ValueError.
[[nodiscard]] std::optional<Value> parse_integer(Runtime& runtime, std::string_view text, unsigned base);
[[nodiscard]] std::optional<double> parse_float(std::string_view text);

}  // namespace rondo::jinja
