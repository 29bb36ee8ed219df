// What the trees of this folder share.
#pragma once

#include <cstdint>

namespace rondo::cache {

using TokenId = std::int32_t;

// Returns the key of the edge from a node to its child with this first id.
[[nodiscard]] inline std::uint64_t edge_key(std::uint32_t parent, TokenId first) {
  return std::uint64_t{parent} << 32U | static_cast<std::uint32_t>(first);
}

}  // namespace rondo::cache
