// Finds which of many sequences of token ids serves a prompt best.  It is a radix tree whose ends name their holders.
//
//   SequenceIndex index;
//   index.add(7, ids_of_a_saved_state);
//   index.longest_common(prompt);   // the holder with the longest common beginning, and its length
//   index.longest_end(prompt);      // the holder of the longest sequence that is a beginning of the prompt
//
// Looking up takes time linear in the matching part of the prompt; adding and removing take time linear in the
// sequence.  Memory: 4 bytes for each id of a path that is not shared, and some 150 for each node; there are at most
// two nodes per sequence.  Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cache/ids.h"

namespace rondo::cache {

class SequenceIndex {
 public:
  using Holder = std::uint64_t;
  struct Match {
    Holder holder = 0;
    std::size_t length = 0;  // how many ids agree
    bool operator==(const Match&) const = default;
  };

  SequenceIndex();
  ~SequenceIndex();

  // Adds a sequence.  A holder may have several.  Adding the same one again does nothing.
  //
  // REQUIRES: `ids` is not empty.
  void add(Holder holder, std::span<const TokenId> ids);
  // Removes a sequence.  Does nothing if it was not added.
  void remove(Holder holder, std::span<const TokenId> ids);

  // If several share as much, returns the lowest holder of the first end below.  Returns nullopt if none shares an id.
  [[nodiscard]] std::optional<Match> longest_common(std::span<const TokenId> ids) const;
  // If several end there, returns the lowest holder.
  [[nodiscard]] std::optional<Match> longest_end(std::span<const TokenId> ids) const;

  [[nodiscard]] std::size_t size() const { return size_; }  // sequences

  // Returns what is wrong in the structure; "" if nothing is.  For tests.
  [[nodiscard]] std::string verify() const;

 private:
  struct Node;
  [[nodiscard]] static std::string verify(const Node& node, bool is_root);

  std::unique_ptr<Node> root_;
  std::size_t size_ = 0;
};

}  // namespace rondo::cache
