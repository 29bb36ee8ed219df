// Base64 (RFC 4648, the standard alphabet).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rondo::base64 {

// Returns the bytes that `text` stands for.  Returns nullopt if a character is not in the alphabet, or if the length
// with its padding is not a multiple of four.
[[nodiscard]] std::optional<std::string> decode(std::string_view text);

// Encodes with padding.
[[nodiscard]] std::string encode(std::string_view bytes);

}  // namespace rondo::base64
