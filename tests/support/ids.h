// Rows of ids for tests of caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace rondo::testing {

using Ids = std::vector<std::int32_t>;

// `count` ids from `from` on.
[[nodiscard]] inline Ids range(std::int32_t from, std::size_t count) {
  Ids out(count);
  std::iota(out.begin(), out.end(), from);
  return out;
}

[[nodiscard]] inline Ids joined(Ids head, const Ids& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

}  // namespace rondo::testing
