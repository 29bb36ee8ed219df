// Character classes as parts of the reference tokenizer library have them, each by a Unicode version of its own (7 to 17).
//
// classes.h has those of its regular expressions' categories.
#pragma once

#include <cstdint>

#include "unicode/case.h"

namespace rondo::unicode::reference {

// Above U+10FFFF all are false.
[[nodiscard]] bool is_control(char32_t c);      // what BERT's cleaning drops: control, format, private use, U+FFFD
[[nodiscard]] bool is_nonspacing(char32_t c);   // what BERT's stripping of accents drops from decomposed text
[[nodiscard]] bool is_accent(char32_t c);       // what the normaliser StripAccents drops
[[nodiscard]] bool is_punctuation(char32_t c);  // what the pre-tokenizers Punctuation and BERT's isolate
[[nodiscard]] bool is_numeric(char32_t c);      // what the pre-tokenizer Digits isolates
[[nodiscard]] bool is_word(char32_t c);         // \w of the pre-tokenizer Whitespace
[[nodiscard]] bool is_regex_word(char32_t c);   // \w of regular expressions in files

// Without the rule for final sigma.
[[nodiscard]] CaseImage to_lower(char32_t c);

// A number for each script as the pre-tokenizer UnicodeScripts tells them apart; 0 goes with any.
[[nodiscard]] std::uint8_t script(char32_t c);

}  // namespace rondo::unicode::reference
