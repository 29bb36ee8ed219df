#include "cache/sequence_index.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

using namespace rondo::cache;

namespace {

using Ids = std::vector<TokenId>;

std::size_t common(const Ids& a, const Ids& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

TEST_CASE("an index names who shares most, and whose whole sequence is a beginning") {
  SequenceIndex index;
  CHECK_FALSE(index.longest_common(Ids{1}).has_value());
  index.add(1, Ids{1, 2, 3, 4});
  index.add(2, Ids{1, 2, 5});
  index.add(3, Ids{1, 2});
  CHECK(index.longest_common(Ids{1, 2, 3, 9}) == SequenceIndex::Match{.holder = 1, .length = 3});
  CHECK(index.longest_end(Ids{1, 2, 3, 9}) == SequenceIndex::Match{.holder = 3, .length = 2});
  CHECK(index.longest_end(Ids{1, 2, 5, 9}) == SequenceIndex::Match{.holder = 2, .length = 3});
  CHECK_FALSE(index.longest_end(Ids{1}).has_value());
  CHECK_FALSE(index.longest_common(Ids{2}).has_value());
  CHECK_FALSE(index.longest_common(Ids{}).has_value());
  index.remove(3, Ids{1, 2});
  CHECK_FALSE(index.longest_end(Ids{1, 2, 3}).has_value());
  CHECK(index.size() == 2);
  CHECK(index.verify().empty());
}

TEST_CASE("003:100-106: an index agrees with a list that is searched from end to end") {
  std::mt19937 random(1);
  SequenceIndex index;
  std::vector<std::pair<SequenceIndex::Holder, Ids>> list;
  const auto made = [&] {
    Ids ids(1 + random() % 12);
    for (TokenId& id : ids) id = static_cast<TokenId>(random() % 3);
    return ids;
  };
  for (int step = 0; step < 4000; ++step) {
    const SequenceIndex::Holder holder = random() % 6;
    const Ids ids = made();
    const auto entry = std::pair(holder, ids);
    const auto found = std::find(list.begin(), list.end(), entry);
    if (random() % 2 == 0) {
      index.add(holder, ids);
      if (found == list.end()) list.push_back(entry);
    } else {
      index.remove(holder, ids);
      if (found != list.end()) list.erase(found);
    }
    const Ids prompt = made();
    std::size_t shared = 0;
    std::size_t whole = 0;
    for (const auto& [held_by, held] : list) {
      const std::size_t length = common(held, prompt);
      shared = std::max(shared, length);
      if (length == held.size()) whole = std::max(whole, length);
    }
    const auto best = index.longest_common(prompt);
    const auto end = index.longest_end(prompt);
    REQUIRE((best ? best->length : 0) == shared);
    REQUIRE((end ? end->length : 0) == whole);
    const auto holds = [&](const SequenceIndex::Match& match) {
      return std::any_of(list.begin(), list.end(), [&](const auto& one) {
        return one.first == match.holder && common(one.second, prompt) >= match.length;
      });
    };
    if (best) REQUIRE(holds(*best));
    if (end) REQUIRE(holds(*end));
    REQUIRE(index.size() == list.size());
  }
  CHECK(index.verify().empty());
}
