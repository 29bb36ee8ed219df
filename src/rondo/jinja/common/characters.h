// Classes of characters in the template language and in Python's string methods.
#pragma once

#include <string>
#include <string_view>

#include "base/hex.h"
#include "unicode/case.h"
#include "unicode/classes.h"

namespace rondo::jinja {

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Python's str.isspace(): the property White_Space, and the four separators U+001C..001F.
[[nodiscard]] constexpr bool is_space(char32_t c) { return unicode::is_white_space(c) || (c >= 0x1C && c <= 0x1F); }

// True for the characters at which str.splitlines() breaks.
[[nodiscard]] constexpr bool is_line_break(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 || c == 0x2029;
}

// Python's str.isprintable() of one character.
[[nodiscard]] inline bool is_printable(char32_t c) { return unicode::is_printable(c); }

// Returns the quote that Python's repr() puts around a string.
[[nodiscard]] inline char repr_quote(std::string_view text) {
  return text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
}

// Returns a character as \xHH, \uHHHH or \UHHHHHHHH.
[[nodiscard]] inline std::string hex_escape(char32_t c) {
  const unsigned digits = c < 0x100 ? 2 : c < 0x10000 ? 4 : 8;
  std::string out = digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  hex::append(out, c, digits);
  return out;
}

// True for what `\w` matches in Python's regular expressions.
[[nodiscard]] inline bool is_word(char32_t c) { return c == '_' || unicode::is_alphanumeric(c); }

}  // namespace rondo::jinja
