#include "cache/fleet_tree.h"
#include "tests/support/ids.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace rondo::cache {
namespace {

using testing::Ids;
using testing::joined;
using testing::range;

// What one replica holds, in the slowest way: every id keyed by its tenant and all ids up to it, with the time of its
// last use.
class SlowReplica {
 public:
  explicit SlowReplica(std::size_t capacity) : capacity_(capacity) {}

  std::size_t match(const std::string& tenant, const Ids& ids) const {
    std::size_t known = 0;
    while (known < ids.size() && used_.contains(key(tenant, ids, known + 1))) ++known;
    return known;
  }

  std::size_t insert(const std::string& tenant, const Ids& all, FleetTree::Stamp now) {
    const Ids ids(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), capacity_)));
    const std::size_t known = match(tenant, ids);
    for (std::size_t end = 1; end <= ids.size(); ++end) used_[key(tenant, ids, end)] = now;
    while (used_.size() > capacity_) forget_one();
    return known;
  }

  void forget_until(FleetTree::Stamp stamp) {
    std::erase_if(used_, [stamp](const auto& entry) { return entry.second <= stamp; });
  }

  FleetTree::Stamp last_use(const std::string& tenant, const Ids& ids, std::size_t at) const {
    return used_.at(key(tenant, ids, at + 1));
  }

  std::size_t size() const { return used_.size(); }

 private:
  using Key = std::pair<std::string, Ids>;

  static Key key(const std::string& tenant, const Ids& ids, std::size_t end) {
    return {tenant, Ids(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(end))};
  }

  void forget_one() {
    const auto oldest = std::ranges::min_element(used_, [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second < b.second : a.first.second.size() > b.first.second.size();
    });
    used_.erase(oldest);
  }

  std::size_t capacity_;
  std::map<Key, FleetTree::Stamp> used_;
};

TEST_CASE("a fleet tree knows what each replica holds, and stores it once") {
  FleetTree tree;
  const auto a = tree.add();
  const auto b = tree.add();
  const Ids head = range(0, 100);
  CHECK(tree.insert(a, "", joined(head, range(500, 10))).known == 0);
  CHECK(tree.insert(b, "", joined(head, range(600, 10))).known == 0);
  CHECK(tree.match(a, "", joined(head, range(600, 10))) == 100);
  CHECK(tree.match(b, "", joined(head, range(600, 10))) == 110);
  CHECK(tree.insert(a, "", joined(head, range(600, 20))).known == 100);
  CHECK(tree.match(b, "", joined(head, range(600, 20))) == 110);
  CHECK(tree.match(a, "", joined(head, range(600, 30))) == 120);
  CHECK(tree.stored_ids() == 130);
  CHECK(tree.size(a) == 130);
  CHECK(tree.size(b) == 110);
  CHECK(tree.verify() == "");
}

TEST_CASE("tenants share nothing") {
  FleetTree tree;
  const auto a = tree.add(50);
  tree.insert(a, "one", range(0, 30));
  CHECK(tree.match(a, "two", range(0, 30)) == 0);
  CHECK(tree.match(a, "", range(0, 30)) == 0);
  tree.insert(a, "two", range(0, 30));  // except for the room
  CHECK(tree.match(a, "two", range(0, 30)) == 30);
  CHECK(tree.match(a, "one", range(0, 30)) == 20);
  tree.forget_until(a, 2);
  CHECK(tree.node_count() == 0);
  CHECK(tree.verify() == "");
}

TEST_CASE("a replica that grows a sequence leaves the others where they were") {
  FleetTree tree;
  const auto a = tree.add(40);
  const auto b = tree.add(40);
  tree.insert(a, "", range(0, 30));
  tree.insert(b, "", range(0, 10));
  CHECK(tree.match(b, "", range(0, 30)) == 10);
  CHECK(tree.node_count() == 1);
  tree.insert(b, "", range(0, 40));
  CHECK(tree.match(a, "", range(0, 40)) == 30);
  tree.insert(b, "", range(100, 15));  // forgets the end of what it held, which then nobody holds
  CHECK(tree.match(b, "", range(0, 40)) == 25);
  CHECK(tree.stored_ids() == 45);
  CHECK(tree.verify() == "");
}

TEST_CASE("an insertion says what was known, what was settled, and when it was used") {
  FleetTree tree;
  const auto a = tree.add();
  const Ids head = range(0, 20);
  const auto first = tree.insert(a, "", head);
  tree.settle(a, "", head);
  const auto second = tree.insert(a, "", joined(head, range(100, 10)));
  CHECK(second.known == 20);
  CHECK(second.settled == 20);
  const auto third = tree.insert(a, "", joined(head, range(100, 15)));
  CHECK(third.known == 30);
  CHECK(third.settled == 20);
  REQUIRE(third.uses.size() == 1);
  CHECK(third.uses[0].end == 30);
  CHECK(third.uses[0].stamp == second.stamp);
  CHECK(first.stamp < second.stamp);
}

TEST_CASE("what is settled is counted from the beginning, also behind a place where others part") {
  FleetTree tree;
  const auto a = tree.add();
  const Ids head = range(0, 20);
  const Ids one = joined(head, range(100, 10));
  const Ids other = joined(head, range(200, 10));
  tree.insert(a, "", one);
  tree.settle(a, "", one);
  const auto parted = tree.insert(a, "", other);
  CHECK(parted.known == 20);
  CHECK(parted.settled == 20);
  const auto again = tree.insert(a, "", joined(one, range(500, 5)));
  CHECK(again.known == 30);
  CHECK(again.settled == 30);
  CHECK(tree.insert(a, "", other).settled == 20);  // its own end was never settled
  CHECK(tree.verify() == "");
}

TEST_CASE("a fleet tree does what a slow model of each replica does") {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    FleetTree tree;
    std::vector<SlowReplica> slow;
    const std::size_t replicas = 1 + random() % 4;
    for (std::size_t i = 0; i < replicas; ++i) {
      const std::size_t capacity = random() % 4 == 0 ? kUnlimited : 5 + random() % 60;
      tree.add(capacity);
      slow.emplace_back(capacity);
    }
    for (int step = 0; step < 150; ++step) {
      CAPTURE(round);
      CAPTURE(step);
      Ids ids(random() % 25);
      for (TokenId& id : ids) id = static_cast<TokenId>(random() % 2);
      const auto replica = static_cast<FleetTree::Replica>(random() % replicas);
      const std::string tenant = random() % 4 == 0 ? "other" : "";
      for (FleetTree::Replica each = 0; each < replicas; ++each)
        CHECK(tree.match(each, tenant, ids) == slow[each].match(tenant, ids));
      if (random() % 12 == 0 && slow[replica].match(tenant, ids) > 0) {
        const FleetTree::Stamp stamp = slow[replica].last_use(tenant, ids, random() % slow[replica].match(tenant, ids));
        tree.forget_until(replica, stamp);
        slow[replica].forget_until(stamp);
      } else if (random() % 3 != 0) {
        const SlowReplica before = slow[replica];
        const FleetTree::Insertion insertion = tree.insert(replica, tenant, ids);
        CHECK(insertion.known == slow[replica].insert(tenant, ids, insertion.stamp));
        CHECK((insertion.uses.empty() ? 0 : insertion.uses.back().end) == insertion.known);
        std::size_t at = 0;
        for (const FleetTree::Use& use : insertion.uses) {
          for (; at < use.end; ++at) CHECK(before.last_use(tenant, ids, at) == use.stamp);
        }
      }
      for (FleetTree::Replica each = 0; each < replicas; ++each) CHECK(tree.size(each) == slow[each].size());
      REQUIRE(tree.verify() == "");
    }
  }
}

}  // namespace
}  // namespace rondo::cache
