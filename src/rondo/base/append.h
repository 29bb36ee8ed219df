// Appending to lists in the innermost loops: a comparison and a store.
#pragma once

#include <algorithm>
#include <cstddef>

namespace rondo {

// `List`: a std::vector, with any allocator.
template <typename List>
[[gnu::noinline]] void make_room(List& list) {
  constexpr std::size_t kLeast = 16;
  list.reserve(std::max(list.size() * 2, kLeast));
}
// Appends `value`; what makes room stands apart, so that the caller needs no registers for it.
template <typename List>
[[gnu::always_inline]] inline void append_to(List& list, const typename List::value_type& value) {
  if (list.size() == list.capacity()) make_room(list);
  if (list.size() == list.capacity()) __builtin_unreachable();
  // Not push_back(value): where that is a call, the value would be stored in parts and loaded as a whole at once, for which
  // a processor waits.
  list.emplace_back() = value;
}

}  // namespace rondo
