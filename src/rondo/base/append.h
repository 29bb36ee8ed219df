// Fast appending to lists in the innermost loops: one comparison and one store.
#pragma once

#include <algorithm>
#include <cstddef>

namespace rondo {

// Grows the list.  `List` is a std::vector with any allocator.
template <typename List>
[[gnu::noinline]] void make_room(List& list) {
  constexpr std::size_t kLeast = 16;
  list.reserve(std::max(list.size() * 2, kLeast));
}
// Appends `value`.  The growing is in make_room(), a separate function, so that the fast path saves no registers for
// it.
template <typename List>
[[gnu::always_inline]] inline void append_to(List& list, const typename List::value_type& value) {
  if (list.size() == list.capacity()) make_room(list);
  if (list.size() == list.capacity()) __builtin_unreachable();
  // push_back(value) may be a call.  The value would then be stored in parts and loaded as a whole right after, and a
  // processor waits for such a load.
  list.emplace_back() = value;
}

}  // namespace rondo
