// Hexadecimal digits: lower case where they are written, either case where they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rondo::hex {

// Appends the last `digits` digits of `value`.
constexpr void append(std::string& out, std::uint64_t value, unsigned digits) {
  for (unsigned shift = 4 * digits; shift != 0; shift -= 4) out += "0123456789abcdef"[(value >> (shift - 4)) & 15U];
}

// Returns the value of a digit; nothing for any other character.
constexpr std::optional<unsigned> digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

// Returns the byte that the two digits at `at` spell; nothing where they are not two digits.
constexpr std::optional<char> byte(std::string_view text, std::size_t at) {
  const std::optional<unsigned> high = at < text.size() ? digit(text[at]) : std::nullopt;
  const std::optional<unsigned> low = at + 1 < text.size() ? digit(text[at + 1]) : std::nullopt;
  if (!high || !low) return std::nullopt;
  return static_cast<char>(*high * 16 + *low);
}

}  // namespace rondo::hex
