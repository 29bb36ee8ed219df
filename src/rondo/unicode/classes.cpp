#include "unicode/classes.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"
#include "unicode/tables.h"

namespace rondo::unicode {
namespace {

constexpr std::uint8_t kDiffers = 0x80;

std::uint8_t entry(char32_t code_point) {
  if (code_point > 0x10FFFF) return 0;
  return tables::kCategory[tables::kCategoryIndex[code_point >> 8U] * std::size_t{256} + (code_point & 0xFFU)];
}

bool in_range(char32_t code_point, Category first, Category last) {
  const Category found = category(code_point);
  return found >= first && found <= last;
}

char32_t substitute(char32_t code_point) {
  const auto* end = tables::kSubstitutions + tables::kSubstitutionCount;
  const auto* found = std::lower_bound(tables::kSubstitutions, end, code_point,
                                       [](const tables::Substitution& row, char32_t at) { return row.last < at; });
  return found != end && found->first <= code_point ? found->target : code_point;
}

}  // namespace

Category category(char32_t code_point) {
  return static_cast<Category>(entry(code_point) & static_cast<std::uint8_t>(~kDiffers));
}

bool is_letter(char32_t code_point) { return in_range(code_point, Category::kLl, Category::kLu); }
bool is_mark(char32_t code_point) { return in_range(code_point, Category::kMc, Category::kMn); }
bool is_number(char32_t code_point) { return in_range(code_point, Category::kNd, Category::kNo); }
bool is_punctuation(char32_t code_point) { return in_range(code_point, Category::kPc, Category::kPs); }
bool is_symbol(char32_t code_point) { return in_range(code_point, Category::kSc, Category::kSo); }

bool is_word(char32_t c) {
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  const Category found = category(c);
  // Other_Alphabetic beyond letters and marks: letters in circles and squares.
  const bool is_enclosed = (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
                           (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
  return is_letter(c) || is_mark(c) || found == Category::kNd || found == Category::kNl || found == Category::kPc ||
         c == 0x200C || c == 0x200D || is_enclosed;
}

bool substitute_newer(std::string_view text, std::string& out) {
  bool changed = false;
  for (std::size_t at = 0; at < text.size();) {
    // Nothing below U+0800 differs, so one- and two-byte sequences are skipped unread.
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead < 0xE0) {
      ++at;
      continue;
    }
    const utf8::Decoded decoded = utf8::decode(text, at);
    if (decoded.valid && (entry(decoded.code_point) & kDiffers) != 0) {
      if (!changed) out.assign(text);
      changed = true;
      std::string target;
      utf8::append(target, substitute(decoded.code_point));
      out.replace(at, decoded.size, target);
    }
    at += decoded.size;
  }
  return changed;
}

}  // namespace rondo::unicode
