// Which entries a digest stands for: 12 bytes an entry, a fifth of what a node of a standard container takes.
//
// It keeps eight bytes of each digest.  So it may tell of an entry too many, which the caller tells by the whole digest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spans/hash.h"

namespace rondo::spans {

class DigestTable {
 public:
  void add(const Digest& digest, std::uint32_t entry);
  // Removes one such pair, if there is one.
  void remove(const Digest& digest, std::uint32_t entry);

  // Calls `take(entry)` for each that may be meant, in no order, until it says true.
  template <typename Take>
  void each(const Digest& digest, const Take& take) const {
    if (entries_.empty()) return;
    const std::uint64_t mark = mark_of(digest);
    for (std::size_t at = mark & mask(); entries_[at] != kFree; at = (at + 1) & mask()) {
      if (entries_[at] != kGone && marks_[at] == mark && take(entries_[at])) return;
    }
  }

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFFU;
  static constexpr std::uint32_t kGone = 0xFFFFFFFEU;  // was taken: a search goes on behind it

  [[nodiscard]] static std::uint64_t mark_of(const Digest& digest) { return DigestHash()(digest); }
  [[nodiscard]] std::size_t mask() const { return entries_.size() - 1; }
  void put(std::uint64_t mark, std::uint32_t entry);
  void rebuild();

  // Two rows, so that an entry takes 12 bytes and not 16.
  std::vector<std::uint64_t> marks_;
  std::vector<std::uint32_t> entries_;  // a power of two in size
  std::size_t size_ = 0;
  std::size_t used_ = 0;  // with those that are gone
};

// The entries of each digest, in the order in which they came: any number under one digest costs no more than one.
class DigestLists {
 public:
  // What remove() is told.
  std::uint32_t add(const Digest& digest, std::uint32_t entry);
  // REQUIRES: `link` came of add() with this digest, and was not removed.
  void remove(const Digest& digest, std::uint32_t link);

  // Calls `take(entry)` for each, the first that came first, until it says true.
  template <typename Take>
  void each(const Digest& digest, const Take& take) const {
    const std::uint32_t head = head_of(digest);
    if (head == kNone) return;
    std::uint32_t at = head;
    do {
      if (take(links_[at].entry)) return;
      at = links_[at].next;
    } while (at != head);
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  // A ring, in which the first one stands behind the last.
  struct Link {
    std::uint32_t entry = 0;
    std::uint32_t next = 0;
    std::uint32_t before = 0;
  };

  [[nodiscard]] std::uint32_t head_of(const Digest& digest) const;

  DigestTable heads_;
  std::vector<Link> links_;
  std::vector<std::uint32_t> free_;
};

}  // namespace rondo::spans
