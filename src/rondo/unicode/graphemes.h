// What readers take for one character: extended grapheme clusters of Unicode 17, as the reference tokenizers cut them.
#pragma once

#include <cstddef>
#include <string_view>

namespace rondo::unicode {

// The end of the cluster that starts at byte `at`.  REQUIRES: at < text.size(), a cluster starts there, valid UTF-8.
[[nodiscard]] std::size_t grapheme_end(std::string_view text, std::size_t at);

}  // namespace rondo::unicode
