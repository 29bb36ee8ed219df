// A radix tree over token ids.  It tells how much of a sequence is already known, and drops what was used least
// recently.
//
//   PrefixTree tree(1'000'000);
//   tree.insert(prompt);             // what an engine has computed
//   tree.match(next_prompt);         // how many leading ids of it are there
//
// Looking up and inserting take time linear in the sequence, and one look into a hash table for each node on its path.
// Dropping takes constant time per node.  Memory: 4 bytes for each kept id, some 150 for each node; there are at most
// two nodes for each inserted sequence.  Copying copies everything.  Not thread-safe; threads may share a const tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/ids.h"

namespace rondo::cache {

inline constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

class PrefixTree {
 public:
  // `capacity` is in ids.
  explicit PrefixTree(std::size_t capacity = kUnlimited) : capacity_(capacity), nodes_(1) {}

  // Returns how many leading ids of `ids` are known.  Does not count as a use.
  [[nodiscard]] std::size_t match(std::span<const TokenId> ids) const { return find(ids).matched; }

  // Keeps `ids`, as many of the first as the capacity allows.  All of them count as just used.  To make room, drops the
  // end of the sequence that was used longest ago, then the end of the next.  Returns how many ids were known.
  std::size_t insert(std::span<const TokenId> ids);

  [[nodiscard]] std::size_t size() const { return size_; }  // ids
  [[nodiscard]] std::size_t node_count() const { return nodes_.size() - free_.size() - 1; }

  // Returns what is wrong in the structure; "" if nothing is.  For tests.
  [[nodiscard]] std::string verify() const;

 private:
  using Index = std::uint32_t;
  static constexpr Index kRoot = 0;  // has no ids; also closes the list of uses

  // `ids` lead from the parent to this node.  `newer` and `older` form the list of uses.  No node is older than one
  // below it, so the oldest is a leaf.
  struct Node {
    std::vector<TokenId> ids;
    Index parent = kRoot;
    Index newer = kRoot;
    Index older = kRoot;
    std::uint32_t children = 0;
  };

  // The place where a sequence leaves the tree: after `used` ids of `node`, `matched` ids in all.
  struct Place {
    Index node = kRoot;
    std::size_t used = 0;
    std::size_t matched = 0;
  };

  [[nodiscard]] Index child(Index parent, TokenId first) const;
  [[nodiscard]] Place find(std::span<const TokenId> ids) const;
  Index make(Index parent, std::span<const TokenId> ids);
  void enter(Index node);  // adds it to the table of children
  void evict(std::size_t count);
  Index split(Index node, std::size_t at);
  void remove_leaf(Index node);
  void link_before(Index node, Index older);
  void unlink(Index node);
  void touch(Index node);  // also touches all nodes above it

  std::size_t capacity_;
  std::vector<Node> nodes_;
  std::vector<Index> free_;
  std::unordered_map<std::uint64_t, Index> children_;  // by parent and first id
  std::size_t size_ = 0;
};

}  // namespace rondo::cache
