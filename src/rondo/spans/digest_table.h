// Maps a digest to entries, with 12 bytes per entry: a fifth of a node in a standard container.
//
// It keeps only eight bytes of each digest.  It may therefore report a wrong entry, and the caller must compare the
// whole digest.
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

  // Calls `take(entry)` for each possible entry, in any order, until it returns true.
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
  static constexpr std::uint32_t kGone = 0xFFFFFFFEU;  // a removed entry: a search continues after it

  [[nodiscard]] static std::uint64_t mark_of(const Digest& digest) { return DigestHash()(digest); }
  [[nodiscard]] std::size_t mask() const { return entries_.size() - 1; }
  void put(std::uint64_t mark, std::uint32_t entry);
  void rebuild();

  // Two separate arrays, so that an entry takes 12 bytes and not 16.
  std::vector<std::uint64_t> marks_;
  std::vector<std::uint32_t> entries_;  // its size is a power of two
  std::size_t size_ = 0;
  std::size_t used_ = 0;  // includes removed entries
};

// The entries of each digest in order of insertion.  Many entries under one digest cost no more than one.
class DigestLists {
 public:
  // Adds an entry, and returns the link that remove() needs.
  std::uint32_t add(const Digest& digest, std::uint32_t entry);
  // REQUIRES: add() returned `link` for this digest, and it was not removed.
  void remove(const Digest& digest, std::uint32_t link);

  // Calls `take(entry)` for each entry in order of insertion, until it returns true.
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
  // A ring: the first link follows the last.
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
