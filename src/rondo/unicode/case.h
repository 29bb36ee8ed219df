// Upper, lower and title case, and the character properties of Python's str methods: Unicode 14, as in Python 3.11.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rondo::unicode {

// The result of mapping one code point: up to three code points ("ß" -> "SS").
struct CaseImage {
  char32_t code_points[3] = {};
  std::size_t count = 1;
};

[[nodiscard]] CaseImage to_upper(char32_t c);
// Does not apply the rule for the final sigma, which needs the text around it.
[[nodiscard]] CaseImage to_lower(char32_t c);
[[nodiscard]] CaseImage to_title(char32_t c);
[[nodiscard]] CaseImage to_fold(char32_t c);

[[nodiscard]] bool is_upper(char32_t c);
[[nodiscard]] bool is_lower(char32_t c);
[[nodiscard]] bool is_cased(char32_t c);
[[nodiscard]] bool is_case_ignorable(char32_t c);
[[nodiscard]] bool is_digit(char32_t c);    // decimal digits, superscripts, circled digits
[[nodiscard]] bool is_numeric(char32_t c);  // the same, fractions and number signs
[[nodiscard]] bool is_alpha(char32_t c);
[[nodiscard]] bool is_decimal(char32_t c);
[[nodiscard]] bool is_printable(char32_t c);
[[nodiscard]] bool is_identifier_start(char32_t c);
[[nodiscard]] bool is_identifier_part(char32_t c);
[[nodiscard]] bool is_alphanumeric(char32_t c);  // with the underscore, what \w matches
// Returns 0 to 9 for a decimal digit of any script, otherwise -1.
[[nodiscard]] int decimal_value(char32_t c);

}  // namespace rondo::unicode
