// The common prefix of two lists of ids.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>

namespace rondo {

// Returns the length of the longest common prefix.
[[nodiscard]] inline std::size_t common_prefix(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  const std::size_t length = std::min(a.size(), b.size());
  std::size_t same = 0;
  // Rows are compared in long pieces up to the first that differs, and this one in shorter pieces.
  for (const std::size_t stride : {std::size_t{512}, std::size_t{32}}) {
    while (same + stride <= length && std::memcmp(&a[same], &b[same], stride * sizeof(a[0])) == 0) same += stride;
  }
  while (same < length && a[same] == b[same]) ++same;
  return same;
}

}  // namespace rondo
