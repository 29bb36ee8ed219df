#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "cache/breakpoints.h"
#include "cache/policies.h"
#include "cache/prefix_tree.h"
#include "tests/support/ids.h"

namespace rondo::cache {
namespace {

using testing::Ids;
using testing::joined;
using testing::range;

Ids prefix(const Ids& ids, std::size_t size) { return {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(size)}; }

// Does what PrefixTree promises, in the slowest way: every id keyed by all ids up to it, with the time of its last use.
class SlowTree {
 public:
  explicit SlowTree(std::size_t capacity) : capacity_(capacity) {}

  std::size_t match(const Ids& ids) const {
    std::size_t known = 0;
    while (known < ids.size() && used_.contains(prefix(ids, known + 1))) ++known;
    return known;
  }

  std::size_t insert(const Ids& all) {
    const Ids ids = prefix(all, std::min(all.size(), capacity_));
    const std::size_t known = match(ids);
    ++time_;
    for (std::size_t end = 1; end <= ids.size(); ++end) used_[prefix(ids, end)] = time_;
    while (size() > capacity_) forget_one();
    return known;
  }

  std::size_t size() const { return used_.size(); }

 private:
  void forget_one() {
    const auto oldest = std::ranges::min_element(used_, [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second < b.second : a.first.size() > b.first.size();
    });
    used_.erase(oldest);
  }

  std::size_t capacity_;
  std::map<Ids, int> used_;
  int time_ = 0;
};

TEST_CASE("000:3: a prefix tree finds the longest known prefix") {
  PrefixTree tree;
  CHECK(tree.match(range(0, 5)) == 0);
  CHECK(tree.insert(range(0, 10)) == 0);
  CHECK(tree.match(range(0, 5)) == 5);
  CHECK(tree.match(range(0, 20)) == 10);
  CHECK(tree.match(range(1, 3)) == 0);
  CHECK(tree.insert(joined(range(0, 4), range(100, 3))) == 4);
  CHECK(tree.match(range(0, 20)) == 10);
  CHECK(tree.match(joined(range(0, 4), range(100, 9))) == 7);
  CHECK(tree.size() == 13);
  CHECK(tree.node_count() == 3);
  CHECK(tree.verify().empty());
}

TEST_CASE("a sequence that grows stays one node") {
  PrefixTree tree;
  for (std::size_t size = 1; size <= 100; ++size) tree.insert(range(0, size));
  CHECK(tree.size() == 100);
  CHECK(tree.node_count() == 1);
}

TEST_CASE("what was used longest ago is forgotten first, from its end") {
  PrefixTree tree(20);
  tree.insert(range(0, 10));
  tree.insert(range(100, 10));
  CHECK(tree.insert(range(0, 10)) == 10);
  tree.insert(range(200, 4));
  CHECK(tree.size() == 20);
  CHECK(tree.match(range(0, 10)) == 10);
  CHECK(tree.match(range(100, 10)) == 6);
  CHECK(tree.match(range(200, 4)) == 4);
  tree.insert(range(300, 50));  // no more than fits
  CHECK(tree.size() == 20);
  CHECK(tree.match(range(300, 50)) == 20);
  CHECK(tree.match(range(0, 10)) == 0);
  CHECK(tree.verify().empty());
}

TEST_CASE("a prefix that is shared outlives what hangs below it") {
  PrefixTree tree(12);
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
    const std::size_t capacity = round % 5 == 0 ? kUnlimited : 5 + random() % 60;
    PrefixTree tree(capacity);
    SlowTree slow(capacity);
    for (int step = 0; step < 120; ++step) {
      Ids ids(random() % 25);
      for (TokenId& id : ids) id = static_cast<TokenId>(random() % 2);
      CAPTURE(round);
      CAPTURE(step);
      CHECK(tree.match(ids) == slow.match(ids));
      if (random() % 3 != 0) CHECK(tree.insert(ids) == slow.insert(ids));
      CHECK(tree.size() == slow.size());
      REQUIRE(tree.verify() == "");
      if (step % 10 == 0) {
        PrefixTree copy = tree;
        copy.insert(range(100, 30));
        CHECK(copy.verify() == "");
        CHECK(tree.match(ids) == slow.match(ids));
      }
    }
  }
}

TEST_CASE("000:36: policies count as the engines do") {
  Policies policies({});
  const Ids prompt = range(0, 100);
  Hits hits = policies.serve(prompt);
  for (const Policy policy : kPolicies) CHECK(hits[policy] == 0);
  policies.add(joined(prompt, range(5000, 30)));

  hits = policies.serve(joined(joined(prompt, range(5000, 30)), range(9000, 10)));
  CHECK(hits[Policy::kBlocks] == 128);
  CHECK(hits[Policy::kRadix] == 130);
  CHECK(hits[Policy::kSteps] == 0);  // below 1,024

  hits = policies.serve(range(0, 96));  // the last id is always computed, and its block with it
  CHECK(hits[Policy::kBlocks] == 80);
  CHECK(hits[Policy::kRadix] == 95);

  CHECK(policies.serve(range(0, 1500))[Policy::kRadix] == 100);
  hits = policies.serve(range(0, 1400));
  CHECK(hits[Policy::kSteps] == 1280);
  CHECK(policies.serve(range(0, 1024))[Policy::kSteps] == 1024);
  CHECK(policies.serve(range(0, 1023))[Policy::kSteps] == 0);
  CHECK(policies.serve({})[Policy::kRadix] == 0);
}

TEST_CASE("policies find the blocks that are known by all ids up to their end") {
  std::mt19937 random(5);
  Policies policies({.block = 3});
  std::set<Ids> known;
  for (int step = 0; step < 4000; ++step) {
    Ids ids(1 + random() % 40);
    for (TokenId& id : ids) id = static_cast<TokenId>(random() % 2);
    std::size_t found = 0;
    while (found + 3 < ids.size() && known.contains(prefix(ids, found + 3))) found += 3;
    REQUIRE(policies.serve(ids)[Policy::kBlocks] == found);
    for (std::size_t end = 3; end <= ids.size(); end += 3) known.insert(prefix(ids, end));
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

TEST_CASE("a prefix is kept up to its breakpoint, and found there or at the end of a block before another") {
  Breakpoints cache;
  const Ids first = range(0, 3000);
  const std::vector<std::size_t> blocks = {1500, 2000};
  const auto serve = [&](const Ids& ids, std::vector<Breakpoint> marks, std::optional<std::int64_t> now = {}) {
    const BreakpointHits hits = cache.serve(ids, marks, blocks, now);
    return std::vector<std::size_t>{hits.read, hits.written, hits.expired};
  };
  CHECK(serve(first, {{1500, 300}, {2000, 300}}) == std::vector<std::size_t>{0, 2000, 0});
  CHECK(serve(first, {{2000, 300}}) == std::vector<std::size_t>{2000, 0, 0});
  // The end of a block before the breakpoint, where another request has written.
  CHECK(serve(joined(range(0, 1500), range(9000, 900)), {{2400, 300}}) == std::vector<std::size_t>{1500, 900, 0});
  CHECK(serve(range(5000, 3000), {{2000, 300}}) == std::vector<std::size_t>{0, 2000, 0});
  CHECK(serve(first, {}) == std::vector<std::size_t>{0, 0, 0});
}

TEST_CASE("a prefix below 1,024 ids is not kept, nor a fifth breakpoint") {
  Breakpoints cache;
  const Ids ids = range(0, 9000);
  CHECK(cache.serve(ids, std::vector<Breakpoint>{{1023, 300}}, {}, {}).written == 0);
  CHECK(cache.serve(ids, std::vector<Breakpoint>{{1024, 300}}, {}, {}).written == 1024);
  const std::vector<Breakpoint> five = {{1100, 9}, {1200, 9}, {1300, 9}, {1400, 9}, {1500, 9}};
  CHECK(cache.serve(ids, five, {}, {}).written == 1400);
}

TEST_CASE("a prefix expires after its time without use") {
  Breakpoints cache;
  const Ids ids = range(0, 2000);
  const std::vector<Breakpoint> marks = {{1500, 300}};
  CHECK(cache.serve(ids, marks, {}, 1000).written == 1500);
  CHECK(cache.serve(ids, marks, {}, 1300).read == 1500);
  CHECK(cache.serve(ids, marks, {}, 1600).read == 1500);
  const BreakpointHits late = cache.serve(ids, marks, {}, 1901);
  CHECK(late.read == 0);
  CHECK(late.expired == 1500);
  CHECK(late.written == 1500);
  const std::vector<Breakpoint> longer = {{1500, 3600}};
  CHECK(cache.serve(ids, longer, {}, 1902).read == 1500);
  CHECK(cache.serve(ids, longer, {}, 5502).read == 1500);
}

}  // namespace
}  // namespace rondo::cache
