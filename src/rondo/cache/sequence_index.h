// Which of many sequences of token ids serves a prompt best: a radix tree whose ends carry the name of their holder.
//
//   SequenceIndex index;
//   index.add(7, ids_of_a_saved_state);
//   index.longest_common(prompt);   // who shares the longest beginning with it, and how long that is
//   index.longest_end(prompt);      // who holds a sequence that is the longest whole beginning of it
//
// Looking up takes time linear in the prompt's matching part; adding and removing, in the sequence.  Memory: 4 bytes for
// each id of a path that is not shared, some 150 for each node, of which there are at most two for each sequence.  Not
// thread-safe.
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
    std::size_t length = 0;  // ids that agree
    bool operator==(const Match&) const = default;
  };

  SequenceIndex();
  ~SequenceIndex();

  // A holder may have several sequences.  Adding the same once more does nothing.  REQUIRES: `ids` is not empty.
  void add(Holder holder, std::span<const TokenId> ids);
  // What was not added is passed over.
  void remove(Holder holder, std::span<const TokenId> ids);

  // Among several that share as much, the lowest holder of the first end below.  nullopt if none shares an id.
  [[nodiscard]] std::optional<Match> longest_common(std::span<const TokenId> ids) const;
  // Among several that end there, the lowest holder.
  [[nodiscard]] std::optional<Match> longest_end(std::span<const TokenId> ids) const;

  [[nodiscard]] std::size_t size() const { return size_; }  // sequences

  // What is broken in the structure, "" if nothing; for tests.
  [[nodiscard]] std::string verify() const;

 private:
  struct Node;
  [[nodiscard]] static std::string verify(const Node& node, bool is_root);

  std::unique_ptr<Node> root_;
  std::size_t size_ = 0;
};

}  // namespace rondo::cache
