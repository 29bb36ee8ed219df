#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "cache/block_cache.h"
#include "cache/policies.h"
#include "cache/prefix_tree.h"

namespace rondo::cache {
namespace {

using Ids = std::vector<TokenId>;

Ids range(TokenId from, std::size_t count) {
  Ids out(count);
  std::iota(out.begin(), out.end(), from);
  return out;
}

Ids joined(Ids head, const Ids& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

// What PrefixTree promises, in the slowest way: every block by all ids up to its end, with the time of its last use.
class SlowTree {
 public:
  explicit SlowTree(const PrefixTreeOptions& options) : options_(options) {}

  std::size_t match(const Ids& ids) const {
    std::size_t known = 0;
    while (known + options_.block <= ids.size() && used_.contains(prefix(ids, known + options_.block)))
      known += options_.block;
    return known;
  }

  std::size_t use(const Ids& ids) {
    const std::size_t known = match(ids);
    ++time_;
    for (std::size_t end = options_.block; end <= known; end += options_.block) used_[prefix(ids, end)] = time_;
    return known;
  }

  PrefixTree::Inserted insert(const Ids& all) {
    const std::size_t room = std::min(all.size(), options_.capacity);
    const Ids ids = prefix(all, room - room % options_.block);
    PrefixTree::Inserted out{match(ids), 0, 0};
    out.added = ids.size() - out.matched;
    ++time_;
    for (std::size_t end = options_.block; end <= ids.size(); end += options_.block) used_[prefix(ids, end)] = time_;
    while (size() > options_.capacity) {
      forget_one();
      out.evicted += options_.block;
    }
    return out;
  }

  std::size_t size() const { return used_.size() * options_.block; }

 private:
  static Ids prefix(const Ids& ids, std::size_t size) {
    return {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(size)};
  }

  void forget_one() {
    const auto oldest = std::ranges::min_element(used_, [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second < b.second : a.first.size() > b.first.size();
    });
    used_.erase(oldest);
  }

  PrefixTreeOptions options_;
  std::map<Ids, int> used_;
  int time_ = 0;
};

TEST_CASE("a prefix tree finds the longest known prefix") {
  PrefixTree tree;
  CHECK(tree.match(range(0, 5)) == 0);
  CHECK(tree.insert(range(0, 10)).added == 10);
  CHECK(tree.match(range(0, 5)) == 5);
  CHECK(tree.match(range(0, 20)) == 10);
  CHECK(tree.match(range(1, 3)) == 0);
  const PrefixTree::Inserted branch = tree.insert(joined(range(0, 4), range(100, 3)));
  CHECK(branch.matched == 4);
  CHECK(branch.added == 3);
  CHECK(tree.match(range(0, 20)) == 10);
  CHECK(tree.match(joined(range(0, 4), range(100, 9))) == 7);
  CHECK(tree.size() == 13);
  CHECK(tree.node_count() == 3);
  CHECK(tree.verify().empty());
  tree.clear();
  CHECK(tree.match(range(0, 5)) == 0);
  CHECK(tree.verify().empty());
}

TEST_CASE("a sequence that grows stays one node") {
  PrefixTree tree;
  for (std::size_t size = 1; size <= 100; ++size) tree.insert(range(0, size));
  CHECK(tree.size() == 100);
  CHECK(tree.node_count() == 1);
}

TEST_CASE("blocks are kept whole, and children that differ behind their first id are told apart") {
  PrefixTree tree({.block = 4});
  CHECK(tree.insert(range(0, 11)).added == 8);
  CHECK(tree.match(range(0, 7)) == 4);
  CHECK(tree.match(range(0, 3)) == 0);
  const Ids other = {0, 1, 2, 99};
  CHECK(tree.insert(other).matched == 0);
  CHECK(tree.match(other) == 4);
  CHECK(tree.match(range(0, 8)) == 8);
  CHECK(tree.verify().empty());
}

TEST_CASE("what was used longest ago is forgotten first, from its end") {
  PrefixTree tree({.capacity = 20});
  tree.insert(range(0, 10));
  tree.insert(range(100, 10));
  CHECK(tree.use(range(0, 10)) == 10);
  CHECK(tree.insert(range(200, 4)).evicted == 4);
  CHECK(tree.match(range(0, 10)) == 10);
  CHECK(tree.match(range(100, 10)) == 6);
  CHECK(tree.match(range(200, 4)) == 4);
  CHECK(tree.insert(range(300, 50)).added == 20);  // no more than there is room for
  CHECK(tree.match(range(300, 50)) == 20);
  CHECK(tree.match(range(0, 10)) == 0);
  CHECK(tree.verify().empty());
  CHECK(tree.evict(5) == 5);
  CHECK(tree.match(range(300, 50)) == 15);
  CHECK(tree.evict(100) == 15);
  CHECK(tree.size() == 0);
  CHECK(tree.verify().empty());
}

TEST_CASE("a prefix that is shared outlives what hangs below it") {
  PrefixTree tree({.capacity = 12});
  tree.insert(joined(range(0, 4), range(100, 4)));
  tree.insert(joined(range(0, 4), range(200, 4)));
  tree.insert(joined(range(0, 4), range(300, 4)));
  CHECK(tree.match(joined(range(0, 4), range(100, 4))) == 4);
  CHECK(tree.match(joined(range(0, 4), range(200, 4))) == 8);
  CHECK(tree.match(joined(range(0, 4), range(300, 4))) == 8);
}

TEST_CASE("a prefix tree does what a slow model does") {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const std::size_t block = round % 3 == 0 ? 1 : 1 + random() % 4;
    const PrefixTreeOptions options{.capacity = round % 5 == 0 ? kUnlimited : 5 + random() % 60, .block = block};
    PrefixTree tree(options);
    SlowTree slow(options);
    for (int step = 0; step < 120; ++step) {
      Ids ids(random() % 25);
      for (TokenId& id : ids) id = static_cast<TokenId>(random() % 2);
      CAPTURE(round);
      CAPTURE(step);
      if (random() % 3 == 0) {
        CHECK(tree.match(ids) == slow.match(ids));
        CHECK(tree.use(ids) == slow.use(ids));
      } else {
        const PrefixTree::Inserted got = tree.insert(ids);
        const PrefixTree::Inserted wanted = slow.insert(ids);
        CHECK(got.matched == wanted.matched);
        CHECK(got.added == wanted.added);
        CHECK(got.evicted == wanted.evicted);
      }
      CHECK(tree.size() == slow.size());
      REQUIRE(tree.verify() == "");
      if (step % 10 == 0) {
        PrefixTree copy = tree;
        CHECK(copy.verify() == "");
        CHECK(copy.match(ids) == tree.match(ids));
        copy.clear();
        CHECK(tree.size() == slow.size());
      }
    }
  }
}

TEST_CASE("a chain of hashes has one for each full block, and each depends on all before it") {
  CHECK(hash_chain(range(0, 15), 16).empty());
  CHECK(hash_chain(range(0, 33), 16).size() == 2);
  const auto one = hash_chain(range(0, 64), 16);
  auto ids = range(0, 64);
  ids[20] = 7;
  const auto other = hash_chain(ids, 16);
  CHECK(one[0] == other[0]);
  for (std::size_t i = 1; i < one.size(); ++i) CHECK(one[i] != other[i]);
}

TEST_CASE("a block cache knows what was inserted last") {
  BlockCache cache(3);
  const auto first = hash_chain(range(0, 48), 16);
  const auto second = hash_chain(range(1000, 32), 16);
  CHECK(cache.insert(first) == 0);
  CHECK(cache.match(first) == 3);
  CHECK(cache.insert(second) == 2);  // the end of the first goes
  CHECK(cache.match(first) == 1);
  CHECK(cache.match(second) == 2);
  CHECK(cache.size() == 3);
  CHECK(cache.insert(hash_chain(range(5000, 200), 16)) == 3);
  CHECK(cache.match(first) == 0);
  CHECK(cache.match(hash_chain(range(5000, 200), 16)) == 3);
}

TEST_CASE("a block cache is the prefix tree with that block") {
  std::mt19937 random(11);
  for (const std::size_t capacity : {std::size_t{6}, std::size_t{40}, kUnlimited}) {
    BlockCache cache(capacity);
    PrefixTree tree({.capacity = capacity == kUnlimited ? kUnlimited : capacity * 2, .block = 2});
    for (int step = 0; step < 3000; ++step) {
      Ids ids(random() % 30);
      for (TokenId& id : ids) id = static_cast<TokenId>(random() % 3);
      const auto chain = hash_chain(ids, 2);
      REQUIRE(cache.match(chain) * 2 == tree.match(ids));
      cache.insert(chain);
      tree.insert(ids);
      REQUIRE(cache.size() * 2 == tree.size());
    }
  }
}

TEST_CASE("policies count as the engines do") {
  Policies policies({});
  const Ids prompt = range(0, 100);
  Hits hits = policies.serve(prompt);
  for (const Policy policy : kPolicies) CHECK(hits[policy] == 0);
  policies.add(joined(prompt, range(5000, 30)));

  hits = policies.serve(joined(joined(prompt, range(5000, 30)), range(9000, 10)));
  CHECK(hits[Policy::kBlocks] == 128);
  CHECK(hits[Policy::kRadix] == 130);
  CHECK(hits[Policy::kSteps] == 0);  // below 1,024

  hits = policies.serve(range(0, 96));  // the last id is always computed, and with it its block
  CHECK(hits[Policy::kBlocks] == 80);
  CHECK(hits[Policy::kRadix] == 95);

  CHECK(policies.serve(range(0, 1500))[Policy::kRadix] == 100);
  hits = policies.serve(range(0, 1400));
  CHECK(hits[Policy::kSteps] == 1280);
  CHECK(policies.serve(range(0, 1024))[Policy::kSteps] == 1024);
  CHECK(policies.serve(range(0, 1023))[Policy::kSteps] == 0);
  CHECK(policies.serve({})[Policy::kRadix] == 0);
}

TEST_CASE("policies find what a cache of block hashes finds") {
  std::mt19937 random(5);
  Policies policies({.block = 3});
  BlockCache blocks;
  for (int step = 0; step < 4000; ++step) {
    Ids ids(1 + random() % 40);
    for (TokenId& id : ids) id = static_cast<TokenId>(random() % 2);
    const auto chain = hash_chain(ids, 3);
    const auto reusable = std::span(chain).first((ids.size() - 1) / 3);
    REQUIRE(policies.serve(ids)[Policy::kBlocks] == blocks.match(reusable) * 3);
    blocks.insert(chain);
  }
}

TEST_CASE("policies forget beyond their capacity") {
  Policies policies({.capacity = 200});
  policies.serve(range(0, 160));
  policies.serve(range(1000, 160));
  CHECK(policies.size() == 200);
  const Hits hits = policies.serve(range(0, 160));
  CHECK(hits[Policy::kRadix] == 40);
  CHECK(hits[Policy::kBlocks] == 32);
}

TEST_CASE("what is told late is kept where its beginning is still there") {
  Policies policies({.capacity = 200});
  const Ids prompt = range(0, 160);
  policies.serve(prompt);
  policies.add_late(joined(prompt, range(500, 32)), 160);
  CHECK(policies.serve(joined(prompt, range(500, 33)))[Policy::kRadix] == 192);
  policies.serve(range(1000, 160));
  policies.add_late(joined(prompt, range(700, 32)), 160);
  const Hits hits = policies.serve(joined(prompt, range(700, 33)));
  CHECK(hits[Policy::kRadix] == 40);
  CHECK(hits[Policy::kBlocks] == 32);
}

}  // namespace
}  // namespace rondo::cache
