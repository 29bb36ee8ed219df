// The generated tables of case.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::unicode {

// Each `step`-th code point from `first` to `last` maps to itself plus `delta`.
struct CaseRange {
  char32_t first;
  char32_t last;
  std::int32_t delta;
  std::uint32_t step;
};
// A code point that maps to several; unused ones are 0.
struct CaseExpansion {
  char32_t from;
  char32_t to[3];
};
struct PropertyRange {
  char32_t first;
  char32_t last;
};

extern const CaseRange kUpperRanges[], kLowerRanges[], kTitleRanges[], kFoldRanges[];
extern const std::size_t kUpperRangeCount, kLowerRangeCount, kTitleRangeCount, kFoldRangeCount;
extern const CaseExpansion kUpperExpansions[], kLowerExpansions[], kTitleExpansions[], kFoldExpansions[];
extern const std::size_t kUpperExpansionCount, kLowerExpansionCount, kTitleExpansionCount, kFoldExpansionCount;
extern const PropertyRange kUppercase[], kLowercase[], kCased[], kCaseIgnorable[], kDigit[], kNumeric[];
extern const PropertyRange kAlpha[], kDecimal[], kPrintable[], kIdentifierStart[], kIdentifierPart[];
extern const std::size_t kUppercaseCount, kLowercaseCount, kCasedCount, kCaseIgnorableCount, kDigitCount, kNumericCount;
extern const std::size_t kAlphaCount, kDecimalCount, kPrintableCount, kIdentifierStartCount, kIdentifierPartCount;

}  // namespace rondo::unicode
