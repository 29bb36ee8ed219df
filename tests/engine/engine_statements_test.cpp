// What document 003 says of a prefix cache over token ids (tests/statements/003.md): the places are its lines.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/support/batches.h"

using namespace rondo;
using namespace rondo::engine;

namespace {

using testing::BatchRun;
using testing::Ids;
using testing::ids_of;
using testing::joined;

}  // namespace

TEST_CASE("003:37-54, 003:135-186: only the last of several channels comes back, and the next turn is right") {
  for (const TinyArchitecture& one : tiny_architectures()) {
    CAPTURE(one.name);
    auto reference = testing::tiny_engine(one, testing::small_batches());
    for (const std::size_t parallel : {std::size_t{1}, std::size_t{3}}) {
      BatchRun run(one, {.parallel = parallel});
      const Ids first = ids_of(100, 1);
      const auto& turn = run.result({.prompt = first, .max_tokens = 50});  // 150 ids are held, 100 of them are a prompt
      REQUIRE(turn.ids().size() == 50);
      // The client shows the last ten ids of the turn; the template writes them behind the prompt.
      const Ids sampled = turn.ids();
      Ids second = joined(first, Ids(sampled.end() - 10, sampled.end()));
      second = joined(second, ids_of(10, 2));
      const auto& next = run.result({.prompt = second, .max_tokens = 20});
      CHECK(next.outcome.usage.cached_tokens.value() >= 100);
      CHECK(next.outcome.usage.cached_tokens.value() < second.size());
      CHECK(testing::differs_from_alone(*reference, second, next.ids()) == "");
      // And a client that shows all of it goes on without decoding any of it again, but for the last id.
      const Ids whole = joined(joined(first, sampled), ids_of(10, 3));
      BatchRun again(one, {.parallel = parallel});
      (void)again.result({.prompt = first, .max_tokens = 50});
      CHECK(again.result({.prompt = whole, .max_tokens = 1}).outcome.usage.cached_tokens == 149);
    }
  }
}

TEST_CASE("003:108-117, 003:158-186, 003:302-314: a prompt that is a beginning of what is held removes the rest") {
  for (const TinyArchitecture& one : tiny_architectures()) {
    CAPTURE(one.name);
    auto reference = testing::tiny_engine(one, testing::small_batches());
    BatchRun run(one, {.parallel = 1});
    const Ids ids = ids_of(120, 4);
    (void)run.result({.prompt = ids, .max_tokens = 30});
    const Ids shorter(ids.begin(), ids.begin() + 100);  // nothing in it differs from what is held
    const auto& got = run.result({.prompt = shorter, .max_tokens = 10});
    CHECK(testing::differs_from_alone(*reference, shorter, got.ids()) == "");
  }
}

TEST_CASE("003:276-298: the first request is exact, and no slower than an engine that reuses nothing") {
  for (const TinyArchitecture& one : tiny_architectures()) {
    CAPTURE(one.name);
    const Ids prompt = ids_of(330, 5);
    auto plain = testing::tiny_engine(one, testing::small_batches());
    REQUIRE(plain->prompt(prompt).ok());
    const auto generated = plain->generate({.max_tokens = 20});
    REQUIRE(generated.ok());
    BatchRun run(one, {.parallel = 4});
    const auto& got = run.result({.prompt = prompt, .max_tokens = 20});
    CHECK(got.ids() == generated.value().ids);
    // The same batches: pieces of 32, then one id at a time.
    const EmbeddedStatus status = run.batcher->status();
    CHECK(status.prefilled_tokens == 330);
    CHECK(got.first_step == 11);
    CHECK(got.last_step == 11 + 19);
  }
}

TEST_CASE("003:223-232: what a request costs does not depend on how many came before") {
  for (const TinyArchitecture& one : tiny_architectures()) {
    CAPTURE(one.name);
    for (const int requests : {30, 300}) {
      BatchRun run(one, {.parallel = 2, .kept_bytes = std::size_t{4} << 20U});
      const Ids head = ids_of(100, 6);
      std::uint64_t early_steps = 0;
      std::uint64_t late_steps = 0;
      for (int i = 0; i < requests; ++i) {
        const std::uint64_t before = run.batcher->status().steps;
        const std::uint64_t prefilled = run.batcher->status().prefilled_tokens;
        (void)run.result({.prompt = joined(head, ids_of(20, static_cast<std::uint64_t>(i) + 10)),
                          .max_tokens = 4,
                          .shared_heads = {head.size()}});
        const std::uint64_t steps = run.batcher->status().steps - before;
        if (i >= 1 && i <= 10) early_steps += steps;
        if (i >= requests - 10) late_steps += steps;
        if (i > 0) CHECK(run.batcher->status().prefilled_tokens - prefilled <= 20);  // two prompts may go on alike
        run.received.by_ticket.clear();
      }
      CHECK(late_steps == early_steps);
    }
  }
}

TEST_CASE("003:188-199, 003:209-212: a turn of a long conversation decodes its own ids alone") {
  const TinyArchitecture& one = tiny_architectures().front();
  EmbeddedOptions options{.llama = {.context_tokens = 8192}, .parallel = 2};
  BatchRun run(one, options);
  Ids ids = ids_of(40, 7);
  for (int turn = 0; turn < 50; ++turn) {  // 7.7 thousand ids, as the table's second row
    const auto& got = run.result({.prompt = ids, .max_tokens = 100});
    if (turn > 0) CHECK(ids.size() - got.outcome.usage.cached_tokens.value() == 55);
    ids = joined(joined(ids, got.ids()), ids_of(54, static_cast<std::uint64_t>(turn) + 20));
    run.received.by_ticket.clear();
  }
  CHECK(ids.size() == 40 + 50 * 154);
}
