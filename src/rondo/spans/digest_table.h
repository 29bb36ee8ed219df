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

}  // namespace rondo::spans
