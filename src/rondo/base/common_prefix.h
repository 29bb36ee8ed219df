// The common prefix of two lists of ids.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace rondo {

// Returns the length of the longest common prefix.
[[nodiscard]] inline std::size_t common_prefix(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  constexpr std::size_t kStride = 32;
  const std::size_t length = std::min(a.size(), b.size());
  std::size_t same = 0;
  while (same + kStride <= length && std::memcmp(&a[same], &b[same], kStride * sizeof(a[0])) == 0) same += kStride;
  while (same < length && a[same] == b[same]) ++same;
  return same;
}

}  // namespace rondo
