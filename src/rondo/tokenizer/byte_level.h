// The byte-level alphabet: every byte written as one printable character, as byte-level BPE vocabularies spell tokens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rondo::tokenizer::byte_level {

// The character that stands for `byte`.
[[nodiscard]] char32_t to_char(unsigned char byte);
// The byte that `code_point` stands for, if any.
[[nodiscard]] std::optional<unsigned char> to_byte(char32_t code_point);

// The bytes that `text` spells; nothing if a character of it is not of the alphabet.
[[nodiscard]] std::optional<std::string> to_bytes(std::string_view text);
// The same, appended to `out`; false, and nothing appended, if there are none.
[[nodiscard]] bool append_bytes(std::string_view text, std::string& out);
[[nodiscard]] std::string to_text(std::string_view bytes);

}  // namespace rondo::tokenizer::byte_level
