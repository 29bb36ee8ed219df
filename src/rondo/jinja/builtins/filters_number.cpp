// Filters that make numbers, or text from numbers.
#include "jinja/builtins/filters_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "jinja/builtins/filters.h"
#include "jinja/common/operators.h"
#include "jinja/types/arithmetic.h"
#include "jinja/types/params.h"
#include "jinja/types/repr.h"
#include "jinja/value/bigint.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

Value abs(Runtime& runtime, const Value& subject, const Args& args) {
  require_no_more(runtime, "abs", args);
  if (!subject.is_number()) runtime.fail("bad operand type for abs(): '" + type_name(subject) + "'");
  if (subject.is_float()) return Value::floating(std::fabs(subject.as_float()));
  const bool negative = order_numbers(subject, Value::integer(0)) < 0;
  return negative ? negate(runtime, subject) : positive(runtime, subject);
}

// float(value); nothing instead of TypeError and ValueError.
std::optional<double> number_of(Runtime& runtime, const Value& value) {
  require_defined(runtime, value);
  if (value.is_string()) return parse_float(runtime, bytes_of(runtime, value));
  if (!value.is_number()) return std::nullopt;
  const double out = to_double(value);
  if (std::isinf(out) && !value.is_float()) runtime.fail("int too large to convert to float");
  return out;
}

Value to_float(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_float", 1), args, {"default"});
  if (const std::optional<double> number = number_of(runtime, subject)) return Value::floating(*number);
  return params.value(0, Value::floating(0));
}

Value to_int(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_int", 1), args, {"default", "base"});
  const Value fallback = params.value(0, Value::integer(0));
  require_defined(runtime, subject);
  if (subject.is_integral()) return positive(runtime, subject);
  if (subject.is_string()) {
    // A base that is not an int is a TypeError, after which the reference tries float().
    const Value given = params.value(1, Value::integer(10));
    const std::int64_t base = given.is_small_int() ? given.as_int() : -1;
    const bool valid = base == 0 || (base >= 2 && base <= 36);
    const std::string_view text = bytes_of(runtime, subject);
    const std::optional<Value> whole = valid ? parse_integer(runtime, text, static_cast<unsigned>(base)) : std::nullopt;
    if (whole) return *whole;
  }
  if (subject.is_float() && std::isinf(subject.as_float())) runtime.fail("cannot convert float infinity to integer");
  const std::optional<double> number = number_of(runtime, subject);
  if (!number || !std::isfinite(*number)) return fallback;
  return make_integer(runtime, BigInt::truncate(*number));
}

// `value` rounded to `digits` decimals, ties to even of the exact binary value, as Python's round().
double round_float(double value, std::int64_t digits) {
  if (!std::isfinite(value) || digits > 322) return value;
  if (digits < -308) return std::copysign(0.0, value);
  if (digits < 0) {
    BigInt unit(1);
    for (std::int64_t i = digits; i < 0; ++i) unit = unit * BigInt(10);
    const double magnitude = std::fabs(value);
    const BigInt::Division parts = BigInt::truncate(magnitude).divide(unit);
    const BigInt twice = parts.remainder + parts.remainder;
    const bool above =
        twice > unit || (twice == unit && (parts.quotient.is_odd() || std::trunc(magnitude) != magnitude));
    return std::copysign(((parts.quotient + BigInt(above ? 1 : 0)) * unit).to_double(), value);
  }
  std::string text(400 + static_cast<std::size_t>(digits), '\0');
  const int size = std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(digits), value);
  double out = 0;
  std::from_chars(text.data(), text.data() + size, out);
  return out;
}

Value round_integer(Runtime& runtime, const Value& value, std::int64_t digits) {
  if (digits >= 0) return positive(runtime, value);
  // A power of ten above twice the value; 10 has more than three bits.
  if (digits < -static_cast<std::int64_t>(to_big(value).bit_length() / 3 + 2)) return Value::integer(0);
  const Value unit = binary(runtime, BinaryOp::kPow, Value::integer(10), Value::integer(-digits));
  runtime.spend(to_big(value).bit_length() / 64 * (1 + to_big(unit).bit_length() / 64));
  const BigInt::Division parts = to_big(value).divide(to_big(unit));
  const BigInt twice = parts.remainder + parts.remainder;
  const BigInt whole = to_big(unit);
  BigInt quotient = parts.quotient;
  if (twice > whole || (twice == whole && quotient.is_odd())) quotient = quotient + BigInt(1);
  return make_integer(runtime, quotient * whole);
}

Value round(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_round", 1), args, {"precision", "method"});
  const std::string_view method = params.given(1) ? bytes_of(runtime, params.string(1)) : "common";
  if (method != "common" && method != "ceil" && method != "floor") runtime.fail("method must be common, ceil or floor");
  if (!subject.is_number()) runtime.fail("type " + type_name(subject) + " doesn't define __round__ method");
  const Value precision = params.value(0, Value::integer(0));
  if (method == "common") {
    const bool to_whole = precision.is_none();
    const bool clips = precision.kind() == Kind::kBigInt;
    const std::int64_t digits = to_whole ? 0 : clips ? clipped(precision) : params.integer(0, 0);
    if (!subject.is_float()) return round_integer(runtime, subject, digits);
    const double rounded = round_float(subject.as_float(), digits);
    if (to_whole && !std::isfinite(rounded)) runtime.fail("cannot convert float infinity or NaN to integer");
    if (std::isinf(rounded) && !std::isinf(subject.as_float())) runtime.fail("rounded value too large to represent");
    return to_whole ? make_integer(runtime, BigInt::truncate(rounded)) : Value::floating(rounded);
  }
  const Value unit = binary(runtime, BinaryOp::kPow, Value::integer(10), precision);
  const Value scaled = binary(runtime, BinaryOp::kMul, subject, unit);
  Value whole = scaled;
  if (scaled.is_float()) {
    if (!std::isfinite(scaled.as_float())) runtime.fail("cannot convert float infinity or NaN to integer");
    const double moved = method == "ceil" ? std::ceil(scaled.as_float()) : std::floor(scaled.as_float());
    whole = make_integer(runtime, BigInt::truncate(moved));
  }
  return binary(runtime, BinaryOp::kDiv, whole, unit);
}

Value filesizeformat(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_filesizeformat", 1), args, {"binary"});
  const std::optional<double> number = number_of(runtime, subject);
  if (!number && subject.is_string()) runtime.fail("could not convert string to float: " + repr(runtime, subject));
  if (!number) { runtime.fail("float() argument must be a string or a real number, not '" + type_name(subject) + "'"); }
  const double bytes = *number;
  const bool binary_units = params.boolean(0, false);
  const double base = binary_units ? 1024 : 1000;
  static constexpr std::string_view kPrefixes = "kMGTPEZY";
  if (bytes == 1) return make_computed(runtime, "1 Byte", subject.path());
  if (bytes < base) {
    if (std::isinf(bytes)) runtime.fail("cannot convert float infinity to integer");
    const Value whole = make_integer(runtime, BigInt::truncate(bytes));
    return make_computed(runtime, repr(runtime, whole) + " Bytes", subject.path());
  }
  // The reference compares with whole numbers, which doubles of that size may just miss.
  BigInt unit(static_cast<std::int64_t>(base));
  std::size_t prefix = 0;
  for (; prefix < kPrefixes.size(); ++prefix) {
    unit = unit * BigInt(static_cast<std::int64_t>(base));
    if (order_numbers(Value::floating(bytes), make_integer(runtime, unit)) < 0) break;
  }
  if (prefix == kPrefixes.size()) --prefix;
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.1f ",
                std::isnan(bytes) ? std::abs(bytes) : base * bytes / unit.to_double());
  std::string out = text.data();
  out += binary_units && prefix == 0 ? 'K' : kPrefixes[prefix];
  return make_computed(runtime, out + (binary_units ? "iB" : "B"), subject.path());
}

constexpr auto kNumberFilters = std::to_array<Filter>({
    {"abs", abs},
    {"filesizeformat", filesizeformat},
    {"float", to_float},
    plain({"int", to_int}),
    {"round", round},
});
static_assert(std::ranges::is_sorted(kNumberFilters, {}, &Filter::name));

}  // namespace

std::span<const Filter> number_filters() { return kNumberFilters; }

}  // namespace rondo::jinja
