// Thousands of conversations through four sequences: memory stays what it was, and no reuse is wrong.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "tests/support/batches.h"

using namespace rondo;
using namespace rondo::engine;

namespace {

using testing::kVocabulary;

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t whole = 0;
  std::size_t resident = 0;
  file >> whole >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// Idle talks are the test's own; the address sanitizer keeps what was freed for a while.
#if defined(__SANITIZE_ADDRESS__)
#define RONDO_KEEPS_FREED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RONDO_KEEPS_FREED 1
#endif
#endif
#ifdef RONDO_KEEPS_FREED
constexpr std::size_t kSpareBytes = std::size_t{400} << 20U;
#else
constexpr std::size_t kSpareBytes = std::size_t{16} << 20U;
#endif

struct Talk {
  std::vector<TokenId> ids;
  std::size_t turns = 0;
};

}  // namespace

TEST_CASE("003:214-221: many conversations leave nothing behind and get their own ids") {
  const char* asked = std::getenv("RONDO_CONVERSATIONS");  // the whole law was tried with 10000
  const std::size_t wanted = asked == nullptr ? 150 : std::strtoull(asked, nullptr, 10);
  constexpr std::size_t kTurns = 3;
  constexpr std::size_t kOpen = 12;   // at the same time
  constexpr std::size_t kCheck = 20;  // each so-manieth turn is compared
  for (const TinyArchitecture& one : tiny_architectures()) {
    CAPTURE(one.name);
    auto options = testing::small_batches();
    auto reference = testing::tiny_engine(one, options);
    testing::BatchRun run(one, {.parallel = 4, .kept_bytes = std::size_t{8} << 20U});
    Random random(7);
    std::map<Batcher::Ticket, Talk> running;
    std::vector<Talk> idle;
    std::size_t begun = 0;
    std::size_t ended = 0;
    std::size_t turns = 0;
    std::size_t early_bytes = 0;
    while (ended < wanted) {
      while (running.size() < kOpen && (begun < wanted || !idle.empty())) {
        Talk talk;
        if (!idle.empty() && (begun == wanted || random.next() % 2 == 0)) {
          std::swap(idle[random.next() % idle.size()], idle.back());
          talk = std::move(idle.back());
          idle.pop_back();
        } else {
          ++begun;
          talk.ids = testing::random_ids(40, kVocabulary, 1 + begun % 3);  // one of three heads
        }
        for (int i = 0; i < 20; ++i) talk.ids.push_back(static_cast<TokenId>(random.next() % kVocabulary));
        const auto ticket = run.add({.prompt = talk.ids, .max_tokens = 8, .shared_heads = {40}});
        running.emplace(ticket, std::move(talk));
      }
      (void)run.step();
      for (auto at = running.begin(); at != running.end();) {
        const auto& received = run.received.by_ticket[at->first];
        if (!received.has_ended) {
          ++at;
          continue;
        }
        REQUIRE_FALSE(received.outcome.error.has_value());
        const std::vector<TokenId> sampled = received.ids();
        if (++turns % kCheck == 0) REQUIRE(testing::differs_from_alone(*reference, at->second.ids, sampled) == "");
        Talk talk = std::move(at->second);
        talk.ids.insert(talk.ids.end(), sampled.begin(), sampled.end());
        if (++talk.turns < kTurns) {
          idle.push_back(std::move(talk));
        } else {
          ++ended;
        }
        run.received.by_ticket.erase(at->first);
        at = running.erase(at);
      }
      if (early_bytes == 0 && ended >= wanted / 4) early_bytes = resident_bytes();
    }
    const std::size_t late_bytes = resident_bytes();
    MESSAGE(std::string(one.name) << ": " << turns << " turns, " << early_bytes / 1024
                                  << " KiB resident after a quarter, " << late_bytes / 1024 << " KiB at the end");
    CHECK(run.batcher->status().kept_bytes <= std::size_t{8} << 20U);
    CHECK(late_bytes < early_bytes + early_bytes / 4 + kSpareBytes);
  }
}
