// Base64 (RFC 4648, the standard alphabet).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rondo::base64 {

// The bytes that `text` stands for.  Nothing if a character is not of the alphabet or the length, padding included, is
// not a multiple of four.
[[nodiscard]] std::optional<std::string> decode(std::string_view text);

// With padding.
[[nodiscard]] std::string encode(std::string_view bytes);

}  // namespace rondo::base64
