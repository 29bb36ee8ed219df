// What an engine keeps of its memory, and when: rollback, checkpoints, cancelled decodes.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "engine/llama_cpp.h"
#include "engine/tiny_model.h"
#include "tests/support/tiny.h"

using namespace rondo;
using namespace rondo::engine;

namespace {

using testing::first_with;
using testing::kTolerance;
using testing::kVocabulary;
using testing::largest_difference;
using testing::random_ids;
using testing::small_batches;
using testing::tiny_engine;

PromptReport prompted(LlamaCpp& engine, const std::vector<TokenId>& ids) {
  const auto report = engine.prompt(ids);
  REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.error().to_string()));
  return report.value();
}

// How far the engine's logits are from those of a fresh decode of `ids`.
double difference_to_fresh(const LlamaCpp& engine, LlamaCpp& reference, const std::vector<TokenId>& ids) {
  REQUIRE(reference.replay(ids, engine.batches()).ok());
  return largest_difference(engine.logits(), reference.logits());
}

}  // namespace

TEST_CASE("003:300-326: going back behind a sliding window is noticed") {
  const TinyArchitecture& one = first_with(MemoryKind::kSlidingWindow);
  auto reference = tiny_engine(one, small_batches());
  for (const std::size_t checkpoint_bytes : {std::size_t{0}, std::size_t{64} << 20U}) {
    LlamaCppOptions options = small_batches();
    options.checkpoint_bytes = checkpoint_bytes;
    auto engine = tiny_engine(one, options);
    std::vector<TokenId> ids = random_ids(400, kVocabulary, 3);
    REQUIRE(engine->prompt(ids).ok());
    const std::vector<TokenId> more = random_ids(600, kVocabulary, 4);
    ids.insert(ids.end(), more.begin(), more.end());
    REQUIRE(engine->prompt(ids).ok());

    // Near the end the window still covers what is needed.
    ids.resize(990);
    ids.push_back(7);
    auto report = engine->prompt(ids);
    REQUIRE(report.ok());
    CHECK(report.value().how == Reuse::kRollback);
    CHECK(report.value().reused == 990);

    // Behind the end of the first prompt: only a checkpoint helps.
    ids.resize(420);
    ids.push_back(8);
    report = engine->prompt(ids);
    REQUIRE(report.ok());
    CHECK(report.value().how == (checkpoint_bytes == 0 ? Reuse::kFull : Reuse::kCheckpoint));
    CHECK(report.value().reused == (checkpoint_bytes == 0 ? 0 : 400));
    if (checkpoint_bytes == 0) {
      CHECK(report.value().reason ==
            "the window of 64 tokens has dropped positions that position 420 looks back at, and no checkpoint is old "
            "enough");
    }
    REQUIRE(reference->replay(ids, engine->batches()).ok());
    CHECK(largest_difference(engine->logits(), reference->logits()) <= kTolerance);

    // What was restored can be built upon.
    const std::vector<TokenId> tail = random_ids(300, kVocabulary, 5);
    ids.insert(ids.end(), tail.begin(), tail.end());
    report = engine->prompt(ids);
    REQUIRE(report.ok());
    CHECK(report.value().how == Reuse::kAppend);
    REQUIRE(reference->replay(ids, engine->batches()).ok());
    CHECK(largest_difference(engine->logits(), reference->logits()) <= kTolerance);
  }
}

TEST_CASE("a recurrent memory goes back to the end of a prompt or turn, else it starts over") {
  for (const MemoryKind kind : {MemoryKind::kRecurrent, MemoryKind::kHybrid}) {
    const TinyArchitecture& one = first_with(kind);
    auto engine = tiny_engine(one, small_batches());
    auto reference = tiny_engine(one, small_batches());
    const std::vector<TokenId> first = random_ids(150, kVocabulary, 6);
    REQUIRE(engine->prompt(first).ok());
    const std::vector<float> after_first(engine->logits().begin(), engine->logits().end());
    REQUIRE(engine->generate({.max_tokens = 10}).ok());

    // The same prompt once more, for another sample: nothing at all is decoded.
    auto report = engine->prompt(first);
    REQUIRE(report.ok());
    CHECK(report.value().how == Reuse::kCheckpoint);
    CHECK(report.value().prefilled == 0);
    CHECK(std::equal(after_first.begin(), after_first.end(), engine->logits().begin()));

    // One token changed inside the prompt: no state is old enough.
    std::vector<TokenId> changed = first;
    changed[140] = (changed[140] + 1) % kVocabulary;
    report = engine->prompt(changed);
    REQUIRE(report.ok());
    CHECK(report.value().how == Reuse::kFull);
    CHECK(report.value().reason == "a " + std::string(to_string(kind)) +
                                       " memory can't go back from 150 tokens to 140, and no checkpoint is old enough");
    REQUIRE(reference->replay(changed, engine->batches()).ok());
    CHECK(largest_difference(engine->logits(), reference->logits()) == 0.0);
  }
}

TEST_CASE("the logits behind a prompt are there also where a cancelled one left none") {
  for (const TinyArchitecture& one : tiny_architectures()) {
    CAPTURE(one.name);
    auto engine = tiny_engine(one, small_batches());
    auto reference = tiny_engine(one, small_batches());
    const std::vector<TokenId> ids = random_ids(100, kVocabulary, 7);
    prompted(*engine, ids);
    std::vector<TokenId> branch(ids.begin(), ids.begin() + 90);
    const std::vector<TokenId> kept = branch;
    branch.push_back((ids[90] + 1) % kVocabulary);
    const CancelFlag cancel{true};
    CHECK(engine->prompt(branch, &cancel).error().message == "cancelled");
    const PromptReport report = prompted(*engine, kept);
    CHECK(report.reused + report.prefilled == 90);
    CHECK(report.prefilled > 0);
    CHECK(difference_to_fresh(*engine, *reference, kept) <= kTolerance);
  }
}

TEST_CASE("a decode that is cancelled at any moment leaves a memory that goes on as a fresh one") {
  for (const TinyArchitecture& one : tiny_architectures()) {
    CAPTURE(one.name);
    LlamaCppOptions options = small_batches();
    options.batch_tokens = 512;
    auto engine = tiny_engine(one, options);
    auto reference = tiny_engine(one, options);
    const std::vector<TokenId> first = random_ids(40, kVocabulary, 8);
    std::vector<TokenId> longer = first;
    const std::vector<TokenId> more = random_ids(500, kVocabulary, 9);
    longer.insert(longer.end(), more.begin(), more.end());
    for (int delay = 0; delay < 6; ++delay) {
      CAPTURE(delay);
      prompted(*engine, first);
      CancelFlag cancel{false};
      std::atomic<bool> is_running{false};
      std::thread canceller([&] {
        while (!is_running) std::this_thread::yield();
        for (int i = 0; i < delay * 4; ++i) std::this_thread::yield();
        cancel = true;
      });
      is_running = true;
      const auto report = engine->prompt(longer, &cancel);
      canceller.join();
      if (!report.ok()) CHECK(report.error().message == "cancelled");
      CHECK(std::equal(engine->tokens().begin(), engine->tokens().end(), longer.begin()));
      std::vector<TokenId> next = first;
      next.push_back(delay);
      prompted(*engine, next);
      CHECK(difference_to_fresh(*engine, *reference, next) <= kTolerance);
    }
  }
}

TEST_CASE("a checkpoint that is too large takes no smaller one's place") {
  const TinyArchitecture& one = first_with(MemoryKind::kSlidingWindow);
  LlamaCppOptions options = small_batches();
  options.checkpoint_bytes = std::size_t{16} << 10U;  // of ten positions, not of a whole window
  auto engine = tiny_engine(one, options);
  std::vector<TokenId> ids = random_ids(10, kVocabulary, 10);
  prompted(*engine, ids);
  std::vector<TokenId> branch = ids;
  branch.push_back(1);
  const std::vector<TokenId> more = random_ids(600, kVocabulary, 11);
  ids.insert(ids.end(), more.begin(), more.end());
  prompted(*engine, ids);
  const PromptReport report = prompted(*engine, branch);
  CHECK(report.how == Reuse::kCheckpoint);
  CHECK(report.reused == 10);
}

TEST_CASE("of several checkpoints the newest that fits is restored, and the oldest go first") {
  const TinyArchitecture& one = first_with(MemoryKind::kRecurrent);
  const std::vector<TokenId> ids = random_ids(60, kVocabulary, 12);
  const auto reused_behind = [&](std::size_t checkpoint_bytes, std::size_t size) {
    LlamaCppOptions options = small_batches();
    options.checkpoint_bytes = checkpoint_bytes;
    auto engine = tiny_engine(one, options);
    for (const std::ptrdiff_t turn : {20, 40, 60}) prompted(*engine, {ids.begin(), ids.begin() + turn});
    std::vector<TokenId> branch(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(size));
    branch.push_back((ids[size] + 1) % kVocabulary);
    return prompted(*engine, branch).reused;
  };
  constexpr std::size_t kAll = std::size_t{64} << 20U;
  CHECK(reused_behind(kAll, 50) == 40);
  CHECK(reused_behind(kAll, 40) == 40);
  CHECK(reused_behind(kAll, 39) == 20);
  CHECK(reused_behind(kAll, 19) == 0);
  CHECK(reused_behind(0, 50) == 0);
}

TEST_CASE("a constraint steers the engine, and ends it") {
  class Only : public TokenConstraint {
   public:
    Allowed next(std::span<const TokenId> sampled) override {
      if (sampled.size() == 3) return {.kind = Allowed::Kind::kDone};
      id_ = static_cast<TokenId>(7 + sampled.size());
      return {.kind = Allowed::Kind::kOnly, .ids = {&id_, 1}};
    }

   private:
    TokenId id_ = 0;
  };
  class Nothing : public TokenConstraint {
   public:
    Allowed next(std::span<const TokenId> /*sampled*/) override { return {.kind = Allowed::Kind::kOnly}; }
  };
  auto engine = tiny_engine(tiny_architectures().front(), small_batches());
  prompted(*engine, {1, 2, 3});
  Only only;
  const auto turn = engine->generate({.constraint = &only});
  REQUIRE(turn.ok());
  CHECK(turn.value().ids == std::vector<TokenId>{7, 8, 9});
  CHECK(turn.value().stop == StopReason::kConstraint);
  CHECK(engine->tokens().size() == 5);  // the last one is the next prompt's
  Nothing nothing;
  CHECK(engine->generate({.constraint = &nothing}).error().message == "the constraint allows no token");
}
