// Character classes of parts of the reference tokenizer library, each by its own version of Unicode (7 to 17).
//
// classes.h has the categories of its regular expressions.
#pragma once

#include <cstdint>

#include "unicode/case.h"

namespace rondo::unicode::reference {

// All return false above U+10FFFF.
[[nodiscard]] bool is_control(char32_t c);      // removed by BERT's cleaning: control, format, private use, U+FFFD
[[nodiscard]] bool is_nonspacing(char32_t c);   // removed from decomposed text by BERT's stripping of accents
[[nodiscard]] bool is_accent(char32_t c);       // removed by the normaliser StripAccents
[[nodiscard]] bool is_punctuation(char32_t c);  // isolated by the pre-tokenizers Punctuation and BERT
[[nodiscard]] bool is_numeric(char32_t c);      // isolated by the pre-tokenizer Digits
[[nodiscard]] bool is_word(char32_t c);         // \w in the pre-tokenizer Whitespace
[[nodiscard]] bool is_regex_word(char32_t c);   // \w in regular expressions of tokenizer files

// Does not apply the rule for the final sigma.
[[nodiscard]] CaseImage to_lower(char32_t c);

// Returns a number for each script that the pre-tokenizer UnicodeScripts distinguishes; 0 goes with any script.
[[nodiscard]] std::uint8_t script(char32_t c);

}  // namespace rondo::unicode::reference
