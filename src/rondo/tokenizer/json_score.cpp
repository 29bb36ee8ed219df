#include "tokenizer/json_score.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

namespace rondo::tokenizer {
namespace {

constexpr std::int64_t kMaxExponent = 308;  // of a power of ten that is exactly a double

double power_of_ten(std::int64_t exponent) {
  const std::string text = "1e" + std::to_string(exponent);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The digits of a number while they are read.
struct Digits {
  std::uint64_t significand = 0;
  std::int64_t exponent = 0;
  bool is_full = false;  // a digit did not fit; the rest is ignored

  void add(char c, bool in_fraction) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    // Each part of the number checks for itself whether it is too long.
    if (!is_full) is_full = significand > kMax / 10 || (significand == kMax / 10 && digit > kMax % 10);
    if (is_full) {
      if (!in_fraction) ++exponent;
      return;
    }
    significand = significand * 10 + digit;
    if (in_fraction) --exponent;
  }
};

double scaled(std::uint64_t significand, std::int64_t exponent) {
  auto value = static_cast<double>(significand);
  while (exponent < -kMaxExponent && value != 0) {
    value /= power_of_ten(kMaxExponent);
    exponent += kMaxExponent;
  }
  if (value == 0) return value;
  if (exponent > kMaxExponent) return std::numeric_limits<double>::infinity();
  return exponent < 0 ? value / power_of_ten(-exponent) : value * power_of_ten(exponent);
}

}  // namespace

double json_score(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::size_t at = negative ? 1 : 0;
  Digits digits;
  for (; at < text.size() && is_digit(text[at]); ++at) digits.add(text[at], false);
  if (at < text.size() && text[at] == '.') {
    digits.is_full = false;
    for (++at; at < text.size() && is_digit(text[at]); ++at) digits.add(text[at], true);
  }
  if (at < text.size()) {
    ++at;
    const bool down = at < text.size() && text[at] == '-';
    if (at < text.size() && !is_digit(text[at])) ++at;
    std::int64_t exponent = 0;
    for (; at < text.size() && is_digit(text[at]); ++at) {
      exponent = std::min<std::int64_t>(exponent * 10 + (text[at] - '0'), std::numeric_limits<std::int32_t>::max());
    }
    digits.exponent += down ? -exponent : exponent;
  }
  const double value = scaled(digits.significand, digits.exponent);
  return negative ? -value : value;
}

}  // namespace rondo::tokenizer
