// What the trees of this folder have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace rondo::cache {

using TokenId = std::int32_t;

// The key of the edge that leads from a node to its child with this first id.
[[nodiscard]] inline std::uint64_t edge_key(std::uint32_t parent, TokenId first) {
  return std::uint64_t{parent} << 32U | static_cast<std::uint32_t>(first);
}

// How many leading ids are the same.
[[nodiscard]] inline std::size_t common_length(std::span<const TokenId> known, std::span<const TokenId> ids) {
  constexpr std::size_t kStride = 32;
  const std::size_t length = std::min(known.size(), ids.size());
  std::size_t same = 0;
  while (same + kStride <= length && std::memcmp(&known[same], &ids[same], kStride * sizeof(TokenId)) == 0)
    same += kStride;
  while (same < length && known[same] == ids[same]) ++same;
  return same;
}

}  // namespace rondo::cache
