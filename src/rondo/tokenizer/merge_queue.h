// A queue of the pairs in a long piece that may merge: lowest rank first, leftmost among equals.
//
//   queue.clear();
//   queue.push({rank, left, result, size});  // in any order, while others are taken
//   while (queue.pop(candidate)) ...
//
// A repetitive text has few ranks with many pairs each, and pairs mostly come from left to right.  So the pairs of one
// rank form a list, and only ranks are in a heap.  The cost per pair does not grow with the number of pairs of its
// rank.
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
    std::uint32_t size = 0;  // of both symbols; tells whether the pair is still the same
  };

  void clear();
  void push(const Candidate& candidate);
  // Takes the next pair.  Returns false if there is none.
  [[nodiscard]] bool pop(Candidate& next);

 private:
  static constexpr std::uint32_t kNobody = 0xFFFFFFFF;
  struct Node {
    Candidate candidate;
    std::uint32_t next = kNobody;
  };
  // The list of a rank, valid if `round` is the current one.
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
  std::vector<std::uint32_t> ranks_;  // a heap of the ranks that have a list
  std::size_t list_count_ = 0;
  std::uint32_t round_ = 0;
  std::uint32_t free_ = kNobody;  // nodes to be used again

  std::vector<Candidate> batch_;  // all pairs of the lowest rank, from left to right
  std::size_t at_ = 0;            // the next one in it
  std::uint32_t batch_rank_ = 0;  // its rank; pairs of higher ranks wait in lists
  std::vector<Candidate> late_;   // a heap: pairs that came after the batch of their rank was taken
};

}  // namespace rondo::tokenizer
