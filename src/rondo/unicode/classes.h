// Classes of characters: general categories and white space of Unicode 16.
//
// The regular expressions of the reference tokenizers use this version, so that rondo splits text where they do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rondo::unicode {

// In the order of the generated table.
enum class Category : std::uint8_t {
  kCn,
  kCc,
  kCf,
  kCo,
  kCs,
  kLl,
  kLm,
  kLo,
  kLt,
  kLu,
  kMc,
  kMe,
  kMn,
  kNd,
  kNl,
  kNo,
  kPc,
  kPd,
  kPe,
  kPf,
  kPi,
  kPo,
  kPs,
  kSc,
  kSk,
  kSm,
  kSo,
  kZl,
  kZp,
  kZs,
};

// Returns kCn for anything above U+10FFFF.
[[nodiscard]] Category category(char32_t code_point);

[[nodiscard]] bool is_letter(char32_t code_point);       // L
[[nodiscard]] bool is_mark(char32_t code_point);         // M
[[nodiscard]] bool is_number(char32_t code_point);       // N
[[nodiscard]] bool is_punctuation(char32_t code_point);  // P
[[nodiscard]] bool is_symbol(char32_t code_point);       // S

// A word character of regular expressions, `\w`: alphabetic, mark, decimal digit, connector punctuation or joiner.
[[nodiscard]] bool is_word(char32_t code_point);

// The property White_Space: U+0009..000D, 0020, 0085, 00A0, 1680, 2000..200A, 2028, 2029, 202F, 205F, 3000.
[[nodiscard]] constexpr bool is_white_space(char32_t code_point) {
  if (code_point < 0x80) return code_point == 0x20 || (code_point >= 0x09 && code_point <= 0x0D);
  if (code_point < 0x2000) return code_point == 0x85 || code_point == 0xA0 || code_point == 0x1680;
  return code_point <= 0x200A || code_point == 0x2028 || code_point == 0x2029 || code_point == 0x202F ||
         code_point == 0x205F || code_point == 0x3000;
}

// For libraries with tables of Unicode 14.  Copies `text` to `out` and replaces each code point that Unicode 14
// classifies differently than Unicode 16.  The replacement has the class of Unicode 16 in both versions, has the same
// length in UTF-8, and is Han exactly if the original is.  Returns false and leaves `out` alone if there is nothing to
// replace.
//
// REQUIRES: `text` is valid UTF-8.
[[nodiscard]] bool substitute_newer(std::string_view text, std::string& out);

}  // namespace rondo::unicode
