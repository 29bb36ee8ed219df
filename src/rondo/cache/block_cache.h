// A prefix cache that knows blocks of ids by a chain of hashes: the hash of a block covers all blocks before it.
//
//   BlockCache cache(capacity_in_blocks);
//   const auto chain = hash_chain(prompt, 16);     // one hash for each full block
//   cache.match(chain);                            // leading blocks that are there
//   cache.insert(chain);
//
// Ids themselves are not kept, so a block costs some 40 bytes whatever its size.  Two chains with one hash would be taken for
// each other; hashes have 64 bits.  The blocks that were used longest ago go first, of one chain those at its end.  Copying
// copies everything.  Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cache/prefix_tree.h"

namespace rondo::cache {

// A hash for each full block of `ids`; what is left over has none.  REQUIRES: block > 0.
[[nodiscard]] std::vector<std::uint64_t> hash_chain(std::span<const TokenId> ids, std::size_t block);

class BlockCache {
 public:
  // REQUIRES: capacity_blocks > 0.
  explicit BlockCache(std::size_t capacity_blocks = kUnlimited);

  // How many leading blocks of the chain are known.
  [[nodiscard]] std::size_t match(std::span<const std::uint64_t> chain) const;
  // The whole chain is known from here on, and just used; what has no room is not kept.  Returns how many blocks were forgotten.
  std::size_t insert(std::span<const std::uint64_t> chain);

  [[nodiscard]] std::size_t size() const { return size_; }  // blocks

 private:
  using Index = std::uint32_t;

  struct Entry {
    std::uint64_t hash = 0;
    Index newer = 0;
    Index older = 0;
  };

  [[nodiscard]] Index find(std::uint64_t hash) const;
  void grow();
  void enter(Index entry);
  void leave(Index entry);
  void link_newest(Index entry);
  void unlink(Index entry);

  std::size_t capacity_;
  std::size_t size_ = 0;
  std::vector<Entry> entries_;  // [0] is the ring's anchor
  std::vector<Index> slots_;    // open addressing, a power of two; 0: empty
};

}  // namespace rondo::cache
