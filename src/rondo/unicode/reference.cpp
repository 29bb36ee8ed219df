#include "unicode/reference.h"

#include <algorithm>

#include "unicode/reference_tables.h"

namespace rondo::unicode::reference {
namespace {

bool has(char32_t c, unsigned bit) {
  if (c > 0x10FFFF) return false;
  const auto found = tables::kClass[tables::kClassIndex[c >> 8U] * std::size_t{256} + (c & 0xFFU)];
  return ((static_cast<unsigned>(found) >> bit) & 1U) != 0;
}

}  // namespace

bool is_control(char32_t c) { return has(c, 0); }
bool is_nonspacing(char32_t c) { return has(c, 1); }
bool is_accent(char32_t c) { return has(c, 2); }
bool is_punctuation(char32_t c) { return has(c, 3); }
bool is_numeric(char32_t c) { return has(c, 4); }
bool is_word(char32_t c) { return has(c, 5); }
bool is_regex_word(char32_t c) { return has(c, 6); }

CaseImage to_lower(char32_t c) {
  if (c < 0x80) return {{c >= 'A' && c <= 'Z' ? c + 32 : c}, 1};
  const auto* end = tables::kLower + tables::kLowerCount;
  const auto* found =
      std::lower_bound(tables::kLower, end, c, [](const tables::LowerCase& row, char32_t at) { return row.from < at; });
  if (found == end || found->from != c) return {{c}, 1};
  return {{found->to[0], found->to[1]}, found->to[1] == 0 ? std::size_t{1} : std::size_t{2}};
}

std::uint8_t script(char32_t c) {
  if (c > 0x10FFFF) return 0;
  return tables::kScript[tables::kScriptIndex[c >> 8U] * std::size_t{256} + (c & 0xFFU)];
}

}  // namespace rondo::unicode::reference
