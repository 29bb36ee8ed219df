// A short key for a list of texts.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace rondo {

// Returns the 64-bit FNV-1a hash of the texts and of separators between them, in hex.  It tells texts apart; it is not
// cryptographic.
[[nodiscard]] std::string hex_digest(std::initializer_list<std::string_view> texts);

}  // namespace rondo
