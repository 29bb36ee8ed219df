#include "spans/digest_table.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace rondo::spans {

void DigestTable::put(std::uint64_t mark, std::uint32_t entry) {
  std::size_t at = mark & mask();
  while (entries_[at] != kFree) at = (at + 1) & mask();
  marks_[at] = mark;
  entries_[at] = entry;
  ++used_;
  ++size_;
}

void DigestTable::rebuild() {
  constexpr std::size_t kLeast = 16;
  const std::vector<std::uint64_t> marks = std::exchange(marks_, {});
  const std::vector<std::uint32_t> entries = std::exchange(entries_, {});
  const std::size_t capacity = std::bit_ceil(std::max(kLeast, size_ * 2 + 1));
  marks_.resize(capacity);
  entries_.assign(capacity, kFree);
  size_ = 0;
  used_ = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i] != kFree && entries[i] != kGone) put(marks[i], entries[i]);
  }
}

void DigestTable::add(const Digest& digest, std::uint32_t entry) {
  // Three quarters full at most.
  if ((used_ + 1) * 4 > entries_.size() * 3) rebuild();
  put(mark_of(digest), entry);
}

void DigestTable::remove(const Digest& digest, std::uint32_t entry) {
  if (entries_.empty()) return;
  const std::uint64_t mark = mark_of(digest);
  for (std::size_t at = mark & mask(); entries_[at] != kFree; at = (at + 1) & mask()) {
    if (entries_[at] != entry || marks_[at] != mark) continue;
    entries_[at] = kGone;
    --size_;
    return;
  }
}

}  // namespace rondo::spans
