// Python's numbers: ints of any size, their order, parsing and printing.
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

// Returns a number from its spelling in the template.
[[nodiscard]] Value make_number(Runtime& runtime, std::string_view spelling, bool is_float);
// Returns an int; kInt if it fits 64 bits.
[[nodiscard]] Value make_integer(Runtime& runtime, BigInt value);
[[nodiscard]] BigInt to_big(const Value& integral);   // REQUIRES: is_integral()
[[nodiscard]] double to_double(const Value& number);  // REQUIRES: is_number()
[[nodiscard]] inline Value make_length(std::size_t value) { return Value::integer(static_cast<std::int64_t>(value)); }
// Converts an int that Python takes as a bound: one beyond 64 bits becomes the largest or smallest that fits.
//
// REQUIRES: is_integral().
[[nodiscard]] std::int64_t clipped(const Value& integral);
// Exact order of two numbers; unordered with NaN.
[[nodiscard]] std::partial_ordering order_numbers(const Value& left, const Value& right);
// Returns str(value) of an int.  Python limits its length.
[[nodiscard]] std::string decimal_digits(Runtime& runtime, const BigInt& value);
// int(text, base) and float(text) as in Python; nullopt where Python raises ValueError.
[[nodiscard]] std::optional<Value> parse_integer(Runtime& runtime, std::string_view text, unsigned base);
[[nodiscard]] std::optional<double> parse_float(Runtime& runtime, std::string_view text);

}  // namespace rondo::jinja
