// The byte-level alphabet.  Each byte is one printable character; byte-level BPE vocabularies spell tokens with it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rondo::tokenizer::byte_level {

// Returns the character for `byte`.
[[nodiscard]] char32_t to_char(unsigned char byte);
// Returns the byte for `code_point`, if it is in the alphabet.
[[nodiscard]] std::optional<unsigned char> to_byte(char32_t code_point);

// Returns the bytes that `text` spells; nullopt if a character is not in the alphabet.
[[nodiscard]] std::optional<std::string> to_bytes(std::string_view text);
// Appends these bytes to `out`.  Returns false, and appends nothing, if a character is not in the alphabet.
[[nodiscard]] bool append_bytes(std::string_view text, std::string& out);
[[nodiscard]] std::string to_text(std::string_view bytes);

}  // namespace rondo::tokenizer::byte_level
