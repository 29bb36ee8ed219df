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
  // The table is at most three quarters full.
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

std::uint32_t DigestLists::head_of(const Digest& digest) const {
  std::uint32_t out = kNone;
  heads_.each(digest, [&](std::uint32_t head) {
    out = head;
    return true;
  });
  return out;
}

std::uint32_t DigestLists::add(const Digest& digest, std::uint32_t entry) {
  auto link = static_cast<std::uint32_t>(links_.size());
  if (free_.empty()) {
    links_.emplace_back();
  } else {
    link = free_.back();
    free_.pop_back();
  }
  const std::uint32_t head = head_of(digest);
  if (head == kNone) {
    links_[link] = {entry, link, link};
    heads_.add(digest, link);
    return link;
  }
  const std::uint32_t last = links_[head].before;
  links_[link] = {entry, head, last};
  links_[last].next = link;
  links_[head].before = link;
  return link;
}

void DigestLists::remove(const Digest& digest, std::uint32_t link) {
  const Link gone = links_[link];
  if (head_of(digest) == link) {
    heads_.remove(digest, link);
    if (gone.next != link) heads_.add(digest, gone.next);
  }
  links_[gone.before].next = gone.next;
  links_[gone.next].before = gone.before;
  free_.push_back(link);
}

}  // namespace rondo::spans
