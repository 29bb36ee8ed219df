// Extended grapheme clusters, which readers see as one character: Unicode 17, as the reference tokenizers cut them.
#pragma once

#include <cstddef>
#include <string_view>

namespace rondo::unicode {

// Returns the end of the cluster that starts at byte `at`.
//
// REQUIRES: `text` is valid UTF-8, at < text.size(), and a cluster starts at `at`.
[[nodiscard]] std::size_t grapheme_end(std::string_view text, std::size_t at);

}  // namespace rondo::unicode
