#include "text/run_list.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace rondo::text {

void RunList::make_room(std::size_t count) {
  if (count <= static_cast<std::size_t>(capacity_ - end_)) return;
  constexpr std::size_t kLeast = 16;
  constexpr std::size_t kMost = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(Run);
  if (count > kMost - size()) throw std::length_error("too many runs");
  const std::size_t capacity = std::max({size() + count, std::min(size() * 2, kMost), kLeast});
  auto* const made = static_cast<Run*>(::operator new(capacity * sizeof(Run)));
  Run* const old = begin_;
  floor_ = made + (floor_ - old);
  end_ = std::copy(old, end_, made);
  begin_ = made;
  capacity_ = made + capacity;
  ::operator delete(old);
}

void RunList::append(std::span<const Run> runs) {
  make_room(runs.size());
  end_ = std::copy(runs.begin(), runs.end(), end_);
}

bool RunList::operator==(const RunList& other) const { return std::equal(begin_, end_, other.begin_, other.end_); }

}  // namespace rondo::text
