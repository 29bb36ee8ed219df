// A short name for what something was made from.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace rondo {

// 64-bit FNV-1a over the texts and what separates them, in hex.  Tells texts apart; keeps no secret.
[[nodiscard]] std::string hex_digest(std::initializer_list<std::string_view> texts);

}  // namespace rondo
