#include "jinja/value/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "jinja/common/characters.h"
#include "jinja/value/bigint.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/value.h"
#include "rondo/result.h"
#include "unicode/case.h"

namespace rondo::jinja {
namespace {

constexpr std::size_t kMostDigitsOfInt = 4300;  // sys.int_info.default_max_str_digits

std::partial_ordering order_int_float(std::int64_t left, double right) {
  if (std::isnan(right)) return std::partial_ordering::unordered;
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (right >= kTwoTo63) return std::partial_ordering::less;
  if (right < -kTwoTo63) return std::partial_ordering::greater;
  const double whole = std::trunc(right);
  const auto integer = static_cast<std::int64_t>(whole);
  if (left != integer) return left <=> integer;
  return 0.0 <=> right - whole;
}

std::partial_ordering reversed(std::partial_ordering order) {
  if (order < 0) return std::partial_ordering::greater;
  if (order > 0) return std::partial_ordering::less;
  return order;
}

// Removes white space at both ends, and turns the decimal digits of all scripts into ASCII digits.  Of the ASCII
// characters, only those that C calls space are white space.
std::string plain_number(Runtime& runtime, std::string_view text) {
  runtime.spend_on_characters(text.size());
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    const bool is_ascii = c.value < 0x80;
    const int digit = is_ascii ? -1 : unicode::decimal_value(c.value);
    if (digit >= 0) {
      out += static_cast<char>('0' + digit);
    } else if (!is_ascii && is_space(c.value)) {
      out += ' ';
    } else {
      out += text.substr(at, c.size);
    }
    at += c.size;
  }
  out.erase(0, std::min(out.find_first_not_of(kSpaces), out.size()));
  out.resize(out.find_last_not_of(kSpaces) + 1);
  return out;
}

// The digits without the single underscores between them; nothing if an underscore is elsewhere.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out += text[i];
      continue;
    }
    const bool between = i > 0 && i + 1 < text.size() && std::isalnum(static_cast<unsigned char>(text[i - 1])) != 0 &&
                         std::isalnum(static_cast<unsigned char>(text[i + 1])) != 0;
    if (!between) return std::nullopt;
  }
  return out;
}

}  // namespace

Value make_integer(Runtime& runtime, BigInt value) {
  if (const std::optional<std::int64_t> small = value.to_int64()) return Value::integer(*small);
  // Python has no bound.  Ours stops templates that square numbers in a loop.
  constexpr std::size_t kMostBits = 100'000;
  if (value.bit_length() > kMostBits) runtime.fail(ErrorCode::kLimit, "an integer of the template exceeds 100000 bits");
  return Value::big(runtime.heap.keep(std::move(value)));
}

std::int64_t clipped(const Value& integral) {
  if (integral.is_small_int()) return integral.as_int();
  return integral.as_big().is_negative() ? std::numeric_limits<std::int64_t>::min()
                                         : std::numeric_limits<std::int64_t>::max();
}

BigInt to_big(const Value& integral) {
  return integral.kind() == Kind::kBigInt ? integral.as_big() : BigInt(integral.as_int());
}

double to_double(const Value& number) {
  if (number.is_float()) return number.as_float();
  return number.kind() == Kind::kBigInt ? number.as_big().to_double() : static_cast<double>(number.as_int());
}

std::partial_ordering order_numbers(const Value& left, const Value& right) {
  if (left.is_small_int() && right.is_small_int()) return left.as_int() <=> right.as_int();
  if (left.is_float() && right.is_float()) return left.as_float() <=> right.as_float();
  if (left.is_small_int() && right.is_float()) return order_int_float(left.as_int(), right.as_float());
  if (left.is_float() && right.is_small_int()) return reversed(order_int_float(right.as_int(), left.as_float()));
  if (left.is_float()) return reversed(order_numbers(right, left));
  if (right.is_float()) {
    const double number = right.as_float();
    if (std::isnan(number)) return std::partial_ordering::unordered;
    if (std::isinf(number)) return 0.0 <=> number;
    return left.as_big() <=> BigInt::truncate(number);  // beyond 64 bits every double is whole
  }
  return to_big(left) <=> to_big(right);
}

std::string decimal_digits(Runtime& runtime, const BigInt& value) {
  // The time to print grows with the square of the length; log2(10) < 3.33.
  runtime.spend(std::min(value.square() / 4, kMostDigitsOfInt * kMostDigitsOfInt));
  const bool fits = value.bit_length() <= kMostDigitsOfInt * 333 / 100;
  std::string out = fits ? value.to_string() : "";
  if (fits && out.size() - (value.is_negative() ? 1 : 0) <= kMostDigitsOfInt) return out;
  runtime.fail(
      "Exceeds the limit (4300 digits) for integer string conversion; use sys.set_int_max_str_digits() to increase "
      "the limit");
}

Value make_number(Runtime& runtime, std::string_view spelling, bool is_float) {
  if (is_float) {
    double value = 0;
    const auto [end, error] = std::from_chars(spelling.data(), spelling.data() + spelling.size(), value);
    // Out of range, Python reads infinity or zero.
    if (error == std::errc::result_out_of_range)
      value = spelling.find("e-") == std::string_view::npos && spelling.find("E-") == std::string_view::npos ? HUGE_VAL
                                                                                                             : 0.0;
    return Value::floating(value);
  }
  int base = 10;
  std::string_view digits = spelling;
  if (digits.size() > 2 && digits[0] == '0') {
    const char mark = static_cast<char>(digits[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (base != 10) digits.remove_prefix(2);
  }
  std::int64_t small = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), small, base);
  if (error == std::errc() && end == digits.data() + digits.size()) return Value::integer(small);
  // The time to read digits grows with the square of their number.  Python has the same limit.
  if (digits.size() > kMostDigitsOfInt) runtime.fail("Exceeds the limit (4300 digits) for integer string conversion");
  std::optional<BigInt> big = BigInt::parse(digits, static_cast<unsigned>(base));
  if (!big) runtime.fail("invalid integer");
  return Value::big(runtime.heap.keep(*std::move(big)));
}

namespace {

// Takes a base prefix such as 0x off `text`, if it fits `base`.  Returns the base that the digits have; 0 is undecided.
unsigned take_base(std::string_view& text, unsigned base) {
  if (text.size() < 2 || text[0] != '0') return base;
  const char mark = static_cast<char>(text[1] | 0x20);
  const unsigned marked = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
  if (marked == 0 || (base != 0 && base != marked)) return base;
  text.remove_prefix(2);
  if (!text.empty() && text[0] == '_') text.remove_prefix(1);
  return marked;
}

}  // namespace

std::optional<Value> parse_integer(Runtime& runtime, std::string_view text, unsigned base) {
  const std::string plain = plain_number(runtime, text);
  text = plain;
  std::string sign;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    sign = text.substr(0, 1);
    text.remove_prefix(1);
  }
  base = take_base(text, base);
  const std::optional<std::string> digits = without_underscores(text);
  if (!digits || digits->empty() || !std::isalnum(static_cast<unsigned char>(digits->front()))) return std::nullopt;
  if (base == 0) {  // a literal must not have leading zeros
    if (digits->front() == '0' && digits->find_first_not_of('0') != std::string::npos) return std::nullopt;
    base = 10;
  }
  if (digits->size() > kMostDigitsOfInt) return std::nullopt;
  runtime.spend(digits->size() * digits->size() / 512);
  const std::optional<BigInt> value = BigInt::parse(sign + *digits, base);
  if (!value) return std::nullopt;
  return make_integer(runtime, *value);
}

namespace {

// Whether an unsigned decimal number such as "12.5e-3" is above 1, if it is far from 1.
bool is_above_one(std::string_view number) {
  const std::size_t e = number.find('e');
  const std::string_view mantissa = number.substr(0, e);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  const auto places = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  if (e == std::string_view::npos) return places > 0;
  std::string_view exponent = number.substr(e + 1);
  const bool negative = exponent.starts_with('-');
  if (negative || exponent.starts_with('+')) exponent.remove_prefix(1);
  constexpr std::int64_t kFar = std::int64_t{1} << 60U;  // beyond what digits can compensate
  std::int64_t power = 0;
  const auto [end, error] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (error != std::errc()) power = kFar;
  power = std::min(power, kFar);
  return places + (negative ? -power : power) > 0;
}

}  // namespace

std::optional<double> parse_float(Runtime& runtime, std::string_view text) {
  const std::optional<std::string> plain = without_underscores(plain_number(runtime, text));
  if (!plain) return std::nullopt;
  std::string_view digits = *plain;
  const bool negative = !digits.empty() && digits[0] == '-';
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
  if (digits.empty() || digits[0] == '-' || digits[0] == '+') return std::nullopt;
  std::string lower(digits);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  double value = 0;
  if (lower == "inf" || lower == "infinity") {
    value = HUGE_VAL;
  } else if (lower == "nan") {
    value = std::nan("");
  } else {
    if (!is_digit(lower[0]) && lower[0] != '.') return std::nullopt;
    const auto [end, error] = std::from_chars(lower.data(), lower.data() + lower.size(), value);
    if (end != lower.data() + lower.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range) value = is_above_one(lower) ? HUGE_VAL : 0;
    if (error == std::errc::invalid_argument) return std::nullopt;
  }
  return negative ? -value : value;
}

}  // namespace rondo::jinja
