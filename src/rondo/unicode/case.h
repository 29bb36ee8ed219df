// Upper, lower and title case, and the properties that Python's str methods ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rondo::unicode {

// The image of one code point: up to three ("ß" -> "SS").
struct CaseImage {
  char32_t code_points[3] = {};
  std::size_t count = 1;
};

[[nodiscard]] CaseImage to_upper(char32_t c);
// Without the rule for final sigma, which needs the text around it.
[[nodiscard]] CaseImage to_lower(char32_t c);
[[nodiscard]] CaseImage to_title(char32_t c);
[[nodiscard]] CaseImage to_fold(char32_t c);

[[nodiscard]] bool is_upper(char32_t c);
[[nodiscard]] bool is_lower(char32_t c);
[[nodiscard]] bool is_cased(char32_t c);
[[nodiscard]] bool is_case_ignorable(char32_t c);
[[nodiscard]] bool is_digit(char32_t c);    // decimal digits, superscripts, circled digits
[[nodiscard]] bool is_numeric(char32_t c);  // those, fractions and number signs

}  // namespace rondo::unicode
