#include "yaml/scalars.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>

namespace rondo::yaml {
namespace {

template <typename... Words>
bool is_one_of(std::string_view text, Words... words) {
  return ((text == words) || ...);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The number of digits at the beginning of `text`.
std::size_t digits(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
}

// Takes the sign off `text`; returns "-" or nothing, as JSON has it.
std::string take_sign(std::string_view& text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  return is_negative ? "-" : "";
}

// JSON has no leading zeros.
std::string_view without_zeros(std::string_view digits) {
  const std::size_t first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? digits.substr(0, digits.empty() ? 0 : 1) : digits.substr(first);
}

std::optional<json::Number> of_base(std::string_view text, int base) {
  std::uint64_t number = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, failure] = std::from_chars(begin, end, number, base);
  if (text.empty() || failure != std::errc() || stop != end) return std::nullopt;
  return json::Number{std::to_string(number), false};
}

}  // namespace

bool is_null_word(std::string_view text) { return is_one_of(text, "", "~", "null", "Null", "NULL"); }

std::optional<bool> bool_of(std::string_view text) {
  if (is_one_of(text, "true", "True", "TRUE")) return true;
  if (is_one_of(text, "false", "False", "FALSE")) return false;
  return std::nullopt;
}

std::optional<json::Number> integer_of(std::string_view text) {
  if (text.starts_with("0o")) return of_base(text.substr(2), 8);
  if (text.starts_with("0x")) return of_base(text.substr(2), 16);
  const std::string sign = take_sign(text);
  if (text.empty() || digits(text) != text.size()) return std::nullopt;
  return json::Number{sign + std::string(without_zeros(text)), false};
}

std::optional<json::Number> float_of(std::string_view text) {
  if (is_one_of(text, ".nan", ".NaN", ".NAN")) return json::Number{"NaN", true};
  std::string out = take_sign(text);
  if (is_one_of(text, ".inf", ".Inf", ".INF")) return json::Number{out + "Infinity", true};
  const std::size_t whole = digits(text);
  out += whole == 0 ? "0" : without_zeros(text.substr(0, whole));
  text.remove_prefix(whole);
  std::size_t fraction = 0;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = digits(text);
    out += "." + (fraction == 0 ? "0" : std::string(text.substr(0, fraction)));
    text.remove_prefix(fraction);
  }
  if (whole == 0 && fraction == 0) return std::nullopt;
  if (text.empty()) return json::Number{std::move(out), true};
  const char exponent = text.front();
  if (exponent != 'e' && exponent != 'E') return std::nullopt;
  text.remove_prefix(1);
  out += exponent;
  if (text.starts_with('-') || text.starts_with('+')) {
    out += text.front();
    text.remove_prefix(1);
  }
  if (text.empty() || digits(text) != text.size()) return std::nullopt;
  return json::Number{out + std::string(text), true};
}

json::Value resolve_plain(std::string_view text) {
  if (is_null_word(text)) return {};
  if (const auto word = bool_of(text)) return *word;
  if (auto number = integer_of(text)) return *std::move(number);
  if (auto number = float_of(text)) return *std::move(number);
  return text;
}

}  // namespace rondo::yaml
