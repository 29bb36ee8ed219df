#include "cache/router.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "cache/fleet.h"
#include "tests/support/ids.h"

namespace rondo::cache {
namespace {

using testing::Ids;
using testing::joined;
using testing::range;

Router router_of(std::size_t replicas, const RouterOptions& options = {}, const ReplicaFacts& facts = {}) {
  Router out(options);
  for (std::size_t i = 0; i < replicas; ++i) out.add(facts);
  return out;
}

// Sends a request where the router wants it, and answers it at once.
Router::Replica serve(Router& router, const Ids& ids, Router::Ask ask = {}) {
  ask.ids = ids;
  const auto choice = router.choose(ask);
  REQUIRE(choice);
  router.end(router.begin(choice->replica, ask), ids, std::nullopt);
  return choice->replica;
}

TEST_CASE("a conversation stays where its prefix is") {
  Router router = router_of(4);
  const Router::Replica first = serve(router, range(0, 5000));
  const Router::Replica other = serve(router, range(50'000, 5000));
  CHECK(first != other);
  const auto again = router.choose({.ids = joined(range(0, 5000), range(9000, 10))});
  CHECK(again->replica == first);
  CHECK(again->expected == 5000);
  CHECK(router.choose({.ids = range(0, 6000), .tenant = "another"})->expected == 0);
}

TEST_CASE("a longer prefix is weighed against what waits and runs") {
  Router router = router_of(2, {.running_cost = 100});
  const Ids prompt = range(0, 1000);
  const Router::Replica holder = serve(router, prompt);
  std::vector<Router::Ticket> tickets;
  const Ids other = range(5000, 300);
  // 300 ids wait there and one request runs: 600 ids less than the other has to compute.
  tickets.push_back(router.begin(holder, {.ids = other}));
  CHECK(router.state(holder).waiting == 300);
  CHECK(router.choose({.ids = prompt})->replica == holder);
  for (TokenId i = 1; i < 3; ++i) {
    const Ids more = range(10'000 * i, 300);
    tickets.push_back(router.begin(holder, {.ids = more}));
  }
  CHECK(router.choose({.ids = prompt})->replica != holder);
  // Their prompts are computed: three requests run.
  for (std::size_t i = 0; i < tickets.size(); ++i) router.progress(tickets[i], i == 0 ? other : Ids{});
  CHECK(router.state(holder).waiting == 0);
  CHECK(router.choose({.ids = prompt})->replica == holder);
  for (Router::Ticket& ticket : tickets) router.drop(ticket);
  CHECK(router.state(holder).running == 0);
}

TEST_CASE("a prompt waits for what it has to compute, until it is computed") {
  Router router = router_of(1);
  const Ids prompt = range(0, 1000);
  serve(router, prompt);
  const Ids longer = joined(prompt, range(5000, 10));
  Router::Ticket ticket = router.begin(0, {.ids = longer});
  CHECK(ticket.expected == 1000);
  CHECK(router.state(0).waiting == 10);
  Router::Ticket other = router.begin(0, {.ids = range(9000, 300)});
  for (int told = 0; told < 2; ++told) {  // the second report says nothing new
    router.progress(ticket, longer);
    CHECK(router.state(0).waiting == 300);
  }
  router.end(std::move(ticket), longer, std::nullopt);
  CHECK(router.state(0).waiting == 300);
  router.drop(other);
  CHECK(router.state(0).waiting == 0);
}

// Recent work is counted in a unit that grows with each request and is scaled down now and then.
TEST_CASE("the work of the past is weighed alike however much there was") {
  const std::size_t capacity = 100;
  Router router = router_of(2, {}, {.capacity = capacity});
  std::vector<int> served(2, 0);
  for (TokenId i = 0; i < 1500; ++i) {
    ++served[serve(router, range(1000 * i, capacity))];
    // The mean is at most what the fleet computes before half of it is forgotten.
    CHECK(router.state(0).excess + router.state(1).excess <= 2 * capacity);
  }
  CHECK(served[0] > 600);
  CHECK(served[1] > 600);
}

TEST_CASE("of equals the affinity decides, the same for every router") {
  Router one = router_of(16);
  Router other = router_of(16);
  const Ids prompt = range(0, 100);
  std::map<Router::Replica, int> seen;
  for (int i = 0; i < 200; ++i) {
    const std::string session = "session " + std::to_string(i);
    const auto choice = one.choose({.ids = prompt, .affinity = session});
    CHECK(choice->replica == other.choose({.ids = prompt, .affinity = session})->replica);
    ++seen[choice->replica];
  }
  CHECK(seen.size() == 16);
}

TEST_CASE("a shared beginning does not draw every conversation to one replica") {
  Router router = router_of(4, {}, {.capacity = 60'000});
  const Ids head = range(0, 3000);
  std::map<Router::Replica, int> conversations;
  for (TokenId i = 0; i < 40; ++i) ++conversations[serve(router, joined(head, range(100'000 * (i + 1), 4000)))];
  REQUIRE(conversations.size() == 4);
  for (const auto& [replica, count] : conversations) CHECK(count >= 4);
}

TEST_CASE("a reply that says less corrects what is expected") {
  Router router = router_of(1, {}, {.capacity = kUnlimited, .block = 16});
  const Ids older = range(50'000, 600);
  const Ids prompt = range(0, 1000);
  const Ids younger = range(90'000, 600);
  for (const Ids& ids : {older, prompt, younger}) serve(router, ids);
  const auto reply = [&](const Ids& ids, std::size_t cached) {
    router.end(router.begin(0, {.ids = ids}), ids, cached);
  };
  reply(joined(prompt, range(7000, 10)), 992);  // whole blocks: as expected
  CHECK(router.choose({.ids = older})->expected == 600);
  reply(joined(older, range(7000, 10)), 592);
  reply(joined(prompt, range(8000, 10)), 320);
  // What was used before the missing ids is gone too; the prompt itself is there again.
  CHECK(router.choose({.ids = younger})->expected == 0);
  CHECK(router.choose({.ids = joined(prompt, range(7000, 10))})->expected == 1000);
  CHECK(router.choose({.ids = joined(prompt, range(8000, 10))})->expected == 1010);
  CHECK(router.choose({.ids = older})->expected == 600);  // used after the prompt
  reply(prompt, 5000);                                    // more than expected, so there is nothing to correct
  CHECK(router.choose({.ids = prompt})->expected == 1000);
}

TEST_CASE("what is computed at the same time proves nothing") {
  Router router = router_of(1);
  const Ids old = range(50'000, 600);
  serve(router, old);
  const Ids prompt = range(0, 1000);
  Router::Ticket first = router.begin(0, {.ids = prompt});
  Router::Ticket second = router.begin(0, {.ids = prompt});
  CHECK(second.expected == 1000);
  router.end(std::move(second), prompt, 0);
  CHECK(router.choose({.ids = old})->expected == 600);
  router.end(std::move(first), prompt, 0);
  CHECK(router.choose({.ids = old})->expected == 600);
  router.end(router.begin(0, {.ids = prompt}), prompt, 0);  // now it does
  CHECK(router.choose({.ids = old})->expected == 0);
}

TEST_CASE("a replica that fails is left out for a growing pause, and taken back") {
  Router router = router_of(2, {.first_pause_ms = 100, .longest_pause_ms = 250});
  const Ids prompt = range(0, 1000);
  const Router::Replica holder = serve(router, prompt);
  const auto chosen = [&](std::int64_t now) { return router.choose({.ids = prompt, .now_ms = now})->replica; };
  const auto begin = [&](std::int64_t now) { return router.begin(holder, {.ids = prompt, .now_ms = now}); };
  Router::Ticket one = begin(0);
  Router::Ticket two = begin(0);
  router.fail(one, 10);
  router.fail(two, 20);  // the same failure
  CHECK(router.state(holder).failures == 1);
  CHECK(chosen(109) != holder);
  CHECK(chosen(110) == holder);
  Router::Ticket trial = begin(110);
  CHECK(chosen(115) != holder);  // one at a time
  router.fail(trial, 120);
  CHECK(chosen(319) != holder);
  CHECK(chosen(320) == holder);
  router.fail(begin(320), 330);
  CHECK(chosen(579) != holder);  // 250 at most
  Router::Ticket last = begin(580);
  CHECK(router.is_out(holder, 581));
  router.end(std::move(last), prompt, std::nullopt);
  CHECK(!router.is_out(holder, 581));
  CHECK(chosen(581) == holder);
}

TEST_CASE("a replica whose health is good again gets one request, then the others") {
  Router router = router_of(2, {.first_pause_ms = 1000});
  const Ids prompt = range(0, 1000);
  const Router::Replica holder = serve(router, prompt);
  router.fail(holder, 0);
  CHECK(router.is_out(holder, 10));
  router.readmit(holder, 10);
  CHECK(!router.is_out(holder, 10));
  Router::Ticket trial = router.begin(holder, {.ids = prompt, .now_ms = 10});
  CHECK(router.is_out(holder, 11));
  router.fail(trial, 20);
  CHECK(router.state(holder).left_out_until_ms == 2020);  // the pause has grown
}

TEST_CASE("where all have failed the one whose pause ends first is taken, and none twice") {
  Router router = router_of(2);
  const Ids prompt = range(0, 10);
  router.fail(router.begin(1, {.ids = prompt}), 5);
  router.fail(router.begin(0, {.ids = prompt}), 10);
  CHECK(router.choose({.ids = prompt, .now_ms = 20})->replica == 1);
  const std::vector<Router::Replica> tried = {1};
  CHECK(router.choose({.ids = prompt, .now_ms = 20, .without = tried})->replica == 0);
  const std::vector<Router::Replica> both = {1, 0};
  CHECK(!router.choose({.ids = prompt, .now_ms = 20, .without = both}));
}

TEST_CASE("a replica that was started anew holds nothing") {
  Router router = router_of(1);
  const Ids prompt = range(0, 10);
  serve(router, prompt);
  router.forget(0);
  CHECK(router.choose({.ids = prompt})->expected == 0);
  CHECK(router.state(0).held == 0);
}

TEST_CASE("the other rules") {
  Router turns = router_of(3, {.routing = Routing::kRoundRobin});
  std::vector<Router::Replica> order;
  const Ids prompt = range(0, 10);
  for (int i = 0; i < 6; ++i) order.push_back(serve(turns, prompt));
  CHECK(order == std::vector<Router::Replica>{0, 1, 2, 0, 1, 2});

  Router least = router_of(3, {.routing = Routing::kLeastLoad});
  std::vector<Router::Ticket> running;
  for (int i = 0; i < 6; ++i) {
    const Router::Ask ask{.ids = prompt};
    running.push_back(least.begin(least.choose(ask)->replica, ask));
  }
  for (Router::Replica replica = 0; replica < 3; ++replica) CHECK(least.state(replica).running == 2);

  Router hash = router_of(8, {.routing = Routing::kTextHash, .hash_bytes = 8});
  const Router::Replica first = serve(hash, prompt, {.text = "same be, and then"});
  CHECK(serve(hash, range(90, 5), {.text = "same be, and other"}) == first);
  std::map<Router::Replica, int> seen;
  running.clear();
  for (int i = 0; i < 16; ++i) {
    const Router::Ask ask{.ids = prompt, .text = "same be"};
    running.push_back(hash.begin(hash.choose(ask)->replica, ask));
    ++seen[running.back().replica];
  }
  for (const auto& [replica, count] : seen) CHECK(count <= 3);  // none has more than its share
  for (const Routing routing : kRoutings) CHECK(routing_of(to_string(routing)) == routing);
  CHECK(!routing_of("psychic"));
}

TEST_CASE("a fleet finds what its replicas were sent, in whole blocks") {
  Fleet fleet({.replicas = 2, .capacity = 4000, .block = 16}, Routing::kExact);
  const Ids prompt = range(0, 1000);
  const Fleet::Served first = fleet.serve({.ids = prompt});
  CHECK(first.hit == 0);
  fleet.add(first.place, joined(prompt, range(5000, 30)));
  const Ids next = joined(joined(prompt, range(5000, 30)), range(8000, 20));
  const Fleet::Served second = fleet.serve({.ids = next, .parent = first.place});
  CHECK(second.place.replica == first.place.replica);
  CHECK(second.hit == 1024);
  CHECK(fleet.serve({.ids = prompt}).hit == 992);
  CHECK(fleet.computed()[first.place.replica] == 1000 + 26 + 8);
  CHECK(fleet.computed()[1 - first.place.replica] == 0);
}

TEST_CASE("an answer that is told late is kept where its prompt is still there") {
  for (const bool is_forgotten : {false, true}) {
    Fleet fleet({.replicas = 1, .capacity = 1500}, Routing::kExact);
    const Ids prompt = range(0, 1000);
    const Fleet::Place place = fleet.serve({.ids = prompt}).place;
    if (is_forgotten) fleet.serve({.ids = range(9000, 1000)});
    const Ids whole = joined(prompt, range(5000, 64));
    fleet.add(place, whole, prompt.size());
    CHECK(fleet.serve({.ids = joined(whole, {7})}).hit == (is_forgotten ? 496 : 1056));
  }
}

TEST_CASE("a fleet runs so many requests at once, and of a conversation one") {
  const Ids prompt = range(0, 64);
  Fleet two({.replicas = 3, .concurrency = 2}, Routing::kLeastLoad);
  Router::Replica last = two.serve({.ids = prompt}).place.replica;
  for (int i = 0; i < 6; ++i) {
    const Router::Replica next = two.serve({.ids = prompt}).place.replica;
    CHECK(next != last);
    last = next;
  }
  Fleet alone({.replicas = 2, .concurrency = 100}, Routing::kTextHash);
  Fleet::Served served = alone.serve({.ids = prompt, .text = "t"});
  for (int i = 0; i < 20; ++i) {
    const Fleet::Served next = alone.serve({.ids = prompt, .text = "t", .parent = served.place});
    CHECK(next.place.replica == served.place.replica);  // it never has more than its share, because nothing else runs
    served = next;
  }
}

TEST_CASE("a conversation may go on from a request that has ended long ago") {
  Fleet fleet({.replicas = 2, .concurrency = 2}, Routing::kExact);
  const Ids prompt = range(0, 1000);
  const Fleet::Served first = fleet.serve({.ids = prompt});
  for (TokenId i = 1; i < 10; ++i) fleet.serve({.ids = range(10'000 * i, 100)});
  const Fleet::Served again = fleet.serve({.ids = joined(prompt, range(5000, 16)), .parent = first.place});
  CHECK(again.place.replica == first.place.replica);
  CHECK(again.hit == 992);
  CHECK(again.place.request == 10);
}

// The rule of the header, over all replicas.
TEST_CASE("the cheapest replica is chosen") {
  std::mt19937 random(3);
  for (int round = 0; round < 40; ++round) {
    const std::size_t replicas = 1 + random() % 6;
    Router router = router_of(replicas, {.running_cost = 3}, {.capacity = 60});
    std::vector<Router::Ticket> running;
    for (int step = 0; step < 80; ++step) {
      Ids ids(1 + random() % 20);
      for (TokenId& id : ids) id = static_cast<TokenId>(random() % 2);
      const Router::Ask ask{.ids = ids};
      const auto cost = [&](Router::Replica replica, std::size_t expected) {
        const Router::State state = router.state(replica);
        return state.waiting + 3 * state.running + state.excess + ids.size() - expected;
      };
      const auto choice = router.choose(ask);
      REQUIRE(choice);
      for (Router::Replica replica = 0; replica < replicas; ++replica) {
        Router copy = router;
        const std::size_t expected = copy.begin(replica, ask).expected;
        if (replica == choice->replica) CHECK(expected == choice->expected);
        CHECK(cost(choice->replica, choice->expected) <= cost(replica, expected));
      }
      running.push_back(router.begin(choice->replica, ask));
      if (running.size() > 8) {
        router.end(std::move(running.front()), ids, std::nullopt);
        running.erase(running.begin());
      }
    }
  }
}

}  // namespace
}  // namespace rondo::cache
