#include "tokenizer/merge_queue.h"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <tuple>

namespace rondo::tokenizer {
namespace {

using Order = std::tuple<std::uint32_t, std::int32_t, TokenId, std::uint32_t>;

Order order_of(const MergeQueue::Candidate& c) { return {c.rank, c.left, c.result, c.size}; }

}  // namespace

TEST_CASE("the queue of merges takes out what a sorted set would") {
  std::mt19937 random(20261122);
  MergeQueue queue;
  for (int round = 0; round < 400; ++round) {
    queue.clear();
    std::set<Order> twin;
    // Few ranks with many pairs, or many ranks.  No two pairs have the same place and rank.
    const std::uint32_t ranks = round % 2 == 0 ? 4 : 100000;
    const auto push = [&](std::uint32_t from) {
      const MergeQueue::Candidate next{from + 1 + static_cast<std::uint32_t>(random() % ranks),
                                       static_cast<std::int32_t>(random() % 5000), 0, 0};
      if (twin.insert(order_of(next)).second) queue.push(next);
    };
    for (int i = 0; i < 300; ++i) push(0);
    MergeQueue::Candidate found;
    std::size_t taken = 0;
    while (queue.pop(found)) {
      REQUIRE(!twin.empty());
      REQUIRE(order_of(found) == *twin.begin());
      twin.erase(twin.begin());
      // A merge usually leads to a later one, and now and then to an immediate one.
      if (++taken < 2000 && random() % 3 != 0) push(random() % 8 == 0 ? 0 : found.rank);
    }
    CHECK(twin.empty());
  }
}

}  // namespace rondo::tokenizer
