#include "engine/id_limits.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace rondo::engine {
namespace {

using Ids = std::vector<TokenId>;
using Kind = Allowed::Kind;

constexpr TokenId kSize = 130;  // three words of a mask, the last with two ids

Request asking(Ids allowed, std::vector<Ids> bad, Ids stops = {}, std::size_t min_tokens = 0) {
  Request out{.prompt = {4, 5}};
  out.allowed_ids = std::move(allowed);
  out.bad_ids = std::move(bad);
  out.stop_ids = std::move(stops);
  out.min_tokens = min_tokens;
  return out;
}

// The ids that may follow.
Ids taken(const Allowed& allowed) {
  if (allowed.kind == Kind::kOnly) return {allowed.ids.begin(), allowed.ids.end()};
  Ids out;
  for (TokenId id = 0; id < kSize; ++id) {
    const auto at = static_cast<std::size_t>(id);
    const bool is_in = at / 64 < allowed.mask.size() && ((allowed.mask[at / 64] >> (at % 64)) & 1U) != 0;
    if (allowed.kind == Kind::kAny || is_in) out.push_back(id);
  }
  return out;
}

Ids all_but(const Ids& missing) {
  Ids out;
  for (TokenId id = 0; id < kSize; ++id) {
    if (std::ranges::find(missing, id) == missing.end()) out.push_back(id);
  }
  return out;
}

TEST_CASE("a request without limits leaves what its constraint allows as it is") {
  IdLimits limits(asking({}, {}), kSize);
  CHECK(limits.next({}, {}).kind == Kind::kAny);
  const Ids listed = {3, 4};
  const Allowed only{.kind = Kind::kOnly, .ids = listed};
  CHECK(limits.next({}, only).ids.data() == listed.data());
  CHECK(IdLimits().next({}, {}).kind == Kind::kAny);
  CHECK(limits.takes(129));
}

TEST_CASE("only allowed ids follow, and of these no bad one") {
  IdLimits limits(asking({0, 64, 129, 7, 5000}, {{7}, {5001}}), kSize);
  CHECK(taken(limits.next({}, {})) == Ids{0, 64, 129});
  CHECK(limits.takes(129));
  CHECK_FALSE(limits.takes(7));
  CHECK_FALSE(limits.takes(5000));  // no id of the vocabulary
  CHECK(taken(IdLimits(asking({}, {{7}, {129}}), kSize).next({}, {})) == all_but({7, 129}));
  CHECK(taken(IdLimits(asking({7}, {{7}}), kSize).next({}, {})).empty());
}

TEST_CASE("the last id of a bad row cannot follow the others, where these were sampled just before") {
  IdLimits limits(asking({}, {{4, 5, 6}, {5, 8}, {9, 9}}), kSize);
  const auto after = [&](const Ids& sampled) { return limits.next(sampled, {}); };
  CHECK(after({}).kind == Kind::kAny);  // the prompt, 4 and 5, does not count
  CHECK(after({4}).kind == Kind::kAny);
  CHECK(taken(after({5})) == all_but({8}));
  CHECK(taken(after({1, 4, 5})) == all_but({6, 8}));
  CHECK_FALSE(limits.takes(6));
  CHECK(after({4, 5, 1}).kind == Kind::kAny);
  CHECK(limits.takes(6));
  CHECK(taken(after({9})) == all_but({9}));
  IdLimits both(asking({1, 6, 8}, {{5, 8}}), kSize);
  CHECK(taken(both.next({}, {})) == Ids{1, 6, 8});
  CHECK(taken(both.next(Ids{5}, {})) == Ids{1, 6});
}

TEST_CASE("what a constraint lists or masks loses what the request excludes") {
  IdLimits limits(asking({1, 2, 3}, {{2}, {9, 3}}), kSize);
  const Ids listed = {1, 2, 3, 4};
  CHECK(taken(limits.next({}, {.kind = Kind::kOnly, .ids = listed})) == Ids{1, 3});
  CHECK(taken(limits.next(Ids{9}, {.kind = Kind::kOnly, .ids = listed})) == Ids{1});
  const std::vector<std::uint64_t> mask = {0b11100};
  CHECK(taken(limits.next({}, {.kind = Kind::kMask, .mask = mask})) == Ids{3});
  CHECK(taken(limits.next(Ids{9}, {.kind = Kind::kMask, .mask = mask})).empty());
}

TEST_CASE("stop ids wait for the least tokens, unless a constraint says what follows") {
  IdLimits limits(asking({}, {}, {2, 3}, 2), kSize);
  CHECK(taken(limits.next(Ids{1}, {})) == all_but({2, 3}));
  CHECK(limits.next(Ids{1, 1}, {}).kind == Kind::kAny);
  CHECK(limits.takes(2));
  const Ids listed = {2};
  CHECK(taken(limits.next({}, {.kind = Kind::kOnly, .ids = listed})) == Ids{2});
  IdLimits both(asking({2, 5, 6}, {{6}, {7, 5}}, {2}, 2), kSize);
  CHECK(taken(both.next({}, {})) == Ids{5});
  CHECK(taken(both.next(Ids{7}, {})).empty());
  CHECK(taken(both.next(Ids{7, 7}, {})) == Ids{2});
}

}  // namespace
}  // namespace rondo::engine
