// Upper, lower and title case, and the properties that Python's str methods ask for: Unicode 14, as Python 3.11 has it.
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
[[nodiscard]] bool is_alpha(char32_t c);
[[nodiscard]] bool is_decimal(char32_t c);
[[nodiscard]] bool is_printable(char32_t c);
[[nodiscard]] bool is_identifier_start(char32_t c);
[[nodiscard]] bool is_identifier_part(char32_t c);
[[nodiscard]] bool is_alphanumeric(char32_t c);  // with the underscore, what \w matches
// 0 to 9 for a decimal digit of any script, else -1.
[[nodiscard]] int decimal_value(char32_t c);

}  // namespace rondo::unicode
