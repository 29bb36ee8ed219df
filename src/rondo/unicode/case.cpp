#include "unicode/case.h"

#include <algorithm>
#include <span>

#include "unicode/case_tables.h"

namespace rondo::unicode {
namespace {

CaseImage image(char32_t c, std::span<const CaseRange> ranges, std::span<const CaseExpansion> expansions) {
  CaseImage out;
  out.code_points[0] = c;
  const auto range =
      std::lower_bound(ranges.begin(), ranges.end(), c, [](const CaseRange& a, char32_t b) { return a.last < b; });
  if (range != ranges.end() && range->first <= c && (c - range->first) % range->step == 0) {
    out.code_points[0] = static_cast<char32_t>(static_cast<std::int64_t>(c) + range->delta);
    return out;
  }
  const auto expansion = std::lower_bound(expansions.begin(), expansions.end(), c,
                                          [](const CaseExpansion& a, char32_t b) { return a.from < b; });
  if (expansion != expansions.end() && expansion->from == c) {
    out.count = 0;
    for (const char32_t part : expansion->to) {
      if (part != 0) out.code_points[out.count++] = part;
    }
  }
  return out;
}

// The range that contains `c`, or nullptr.
const PropertyRange* find(char32_t c, std::span<const PropertyRange> ranges) {
  const auto range =
      std::lower_bound(ranges.begin(), ranges.end(), c, [](const PropertyRange& a, char32_t b) { return a.last < b; });
  return range != ranges.end() && range->first <= c ? &*range : nullptr;
}

bool is_in(char32_t c, std::span<const PropertyRange> ranges) { return find(c, ranges) != nullptr; }

}  // namespace

CaseImage to_upper(char32_t c) {
  if (c < 0x80) return {{c >= 'a' && c <= 'z' ? c - 32 : c}, 1};
  return image(c, {kUpperRanges, kUpperRangeCount}, {kUpperExpansions, kUpperExpansionCount});
}

CaseImage to_lower(char32_t c) {
  if (c < 0x80) return {{c >= 'A' && c <= 'Z' ? c + 32 : c}, 1};
  return image(c, {kLowerRanges, kLowerRangeCount}, {kLowerExpansions, kLowerExpansionCount});
}

CaseImage to_title(char32_t c) {
  return image(c, {kTitleRanges, kTitleRangeCount}, {kTitleExpansions, kTitleExpansionCount});
}

CaseImage to_fold(char32_t c) {
  return image(c, {kFoldRanges, kFoldRangeCount}, {kFoldExpansions, kFoldExpansionCount});
}

bool is_upper(char32_t c) { return is_in(c, {kUppercase, kUppercaseCount}); }
bool is_lower(char32_t c) { return is_in(c, {kLowercase, kLowercaseCount}); }
bool is_cased(char32_t c) { return is_in(c, {kCased, kCasedCount}); }
bool is_case_ignorable(char32_t c) { return is_in(c, {kCaseIgnorable, kCaseIgnorableCount}); }
bool is_digit(char32_t c) { return is_in(c, {kDigit, kDigitCount}); }
bool is_numeric(char32_t c) { return is_in(c, {kNumeric, kNumericCount}); }
bool is_alpha(char32_t c) { return is_in(c, {kAlpha, kAlphaCount}); }
bool is_decimal(char32_t c) { return is_in(c, {kDecimal, kDecimalCount}); }
bool is_printable(char32_t c) {
  if (c < 0x7F) return c >= 0x20;
  return is_in(c, {kPrintable, kPrintableCount});
}
bool is_identifier_start(char32_t c) { return is_in(c, {kIdentifierStart, kIdentifierStartCount}); }
bool is_identifier_part(char32_t c) { return is_in(c, {kIdentifierPart, kIdentifierPartCount}); }
bool is_alphanumeric(char32_t c) { return is_alpha(c) || is_numeric(c) || is_decimal(c) || is_digit(c); }

int decimal_value(char32_t c) {
  const PropertyRange* range = find(c, {kDecimal, kDecimalCount});
  return range == nullptr ? -1 : static_cast<int>((c - range->first) % 10);
}

}  // namespace rondo::unicode
