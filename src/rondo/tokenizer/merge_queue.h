// The pairs of a long piece that may merge, the lowest rank first, the leftmost among equals.
//
//   queue.clear();
//   queue.push({rank, left, result, size});  // in any order, while others are taken
//   while (queue.pop(candidate)) ...
//
// Texts that repeat have few ranks with many pairs each, and pairs come mostly from left to right: pairs of one rank are a
// list, and only ranks are kept in a heap.  Any number of pairs of one rank costs as much per pair as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tokenizer/vocabulary.h"

namespace rondo::tokenizer {

class MergeQueue {
 public:
  struct Candidate {
    std::uint32_t rank = 0;
    std::int32_t left = 0;  // place of the left symbol
    TokenId result = 0;
    std::uint32_t size = 0;  // of both; tells whether the pair is still the same
  };

  void clear();
  void push(const Candidate& candidate);
  // Takes the next one; false if there is none.
  [[nodiscard]] bool pop(Candidate& next);

 private:
  static constexpr std::uint32_t kNobody = 0xFFFFFFFF;
  struct Node {
    Candidate candidate;
    std::uint32_t next = kNobody;
  };
  // The list of a rank, if `round` is the current one.
  struct List {
    std::uint32_t rank = 0;
    std::uint32_t round = 0;
    std::uint32_t first = kNobody;
    std::uint32_t last = kNobody;
  };
  [[nodiscard]] List& list_of(std::uint32_t rank);
  void grow();
  [[nodiscard]] bool next_batch();

  std::vector<Node> nodes_;
  std::vector<List> lists_;           // open addressing
  std::vector<std::uint32_t> ranks_;  // a heap: those that have a list
  std::size_t list_count_ = 0;
  std::uint32_t round_ = 0;
  std::uint32_t free_ = kNobody;  // nodes to use again

  std::vector<Candidate> batch_;  // all of the lowest rank, from left to right
  std::size_t at_ = 0;            // the next one in it
  std::uint32_t batch_rank_ = 0;  // those of higher ranks wait in lists
  std::vector<Candidate> late_;   // a heap: those that came when their rank's batch had been taken
};

}  // namespace rondo::tokenizer
