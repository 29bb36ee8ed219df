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

// Returns the number that `digits` digits at `at` spell, eight at most; nullopt if there are fewer.
constexpr std::optional<std::uint32_t> number(std::string_view text, std::size_t at, std::size_t digits) {
  if (text.size() < digits || at > text.size() - digits) return std::nullopt;
  std::uint32_t out = 0;
  for (const char c : text.substr(at, digits)) {
    const std::optional<unsigned> value = digit(c);
    if (!value) return std::nullopt;
    out = out * 16 + *value;
  }
  return out;
}

// Returns the byte that the two digits at `at` spell; nullopt if they are not two digits.
constexpr std::optional<char> byte(std::string_view text, std::size_t at) {
  const std::optional<std::uint32_t> value = number(text, at, 2);
  return value ? std::optional(static_cast<char>(*value)) : std::nullopt;
}

}  // namespace rondo::hex
