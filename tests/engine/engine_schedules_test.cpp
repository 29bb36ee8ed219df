// Many conversations on one context, in random order, with branches, cancels, evictions and restored states: the greedy ids
// of each are those that it has alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/support/batches.h"

using namespace rondo;
using namespace rondo::engine;

namespace {

using testing::BatchRun;
using testing::kVocabulary;

constexpr std::size_t kConversations = 16;

// A schedule: conversations that submit their turns while others run.
class Schedule {
 public:
  Schedule(const TinyArchitecture& architecture, LlamaCpp& reference, std::uint64_t seed)
      : random_(seed), run_(architecture, options()), reference_(reference), conversations_(kConversations) {
    const std::vector<TokenId> head = testing::random_ids(60 + random_.next() % 120, kVocabulary, seed);
    for (std::size_t i = 0; i < kConversations; ++i) {
      conversations_[i].tenant = random_.next() % 8 == 0 ? "other" : "";
      if (random_.next() % 4 != 0) conversations_[i].ids = head;
    }
    head_tokens_ = head.size();
  }

  void play(std::size_t turns) {
    std::size_t left = turns;
    while (left > 0 || !running_.empty()) {
      if (left > 0 && random_.next() % 4 != 0) {
        Conversation& conversation = conversations_[random_.next() % kConversations];
        if (!conversation.is_running) {
          submit(conversation);
          --left;
        }
      }
      if (!running_.empty() && random_.next() % 40 == 0) cancel_one();
      const std::uint64_t steps = random_.next() % 4;
      for (std::uint64_t i = 0; i < steps; ++i) (void)run_.step();
      collect();
    }
    const EmbeddedStatus status = run_.batcher->status();
    CHECK(status.running == 0);
    CHECK(status.waiting == 0);
    CHECK(status.failed_batches == 0);
    CHECK(status.prefilled_tokens + status.reused_tokens <= status.prompt_tokens);
    reused_tokens += status.reused_tokens;
    kept_sequences = std::max(kept_sequences, status.kept_sequences);
  }

  std::size_t checked_ids = 0;
  std::uint64_t reused_tokens = 0;
  std::size_t kept_sequences = 0;

 private:
  struct Conversation {
    std::vector<TokenId> ids;
    std::string tenant;
    bool is_running = false;
  };
  struct Running {
    Conversation* conversation = nullptr;
    std::vector<TokenId> prompt;
  };

  EmbeddedOptions options() {
    EmbeddedOptions options;
    options.parallel = 1 + random_.next() % 5;
    options.llama.checkpoint_bytes = random_.next() % 4 == 0 ? 0 : std::size_t{32} << 20U;
    const std::uint64_t kept = random_.next() % 3;
    options.kept_bytes = kept == 0 ? 0 : std::size_t{kept == 1 ? 1U : 256U} << 20U;
    return options;
  }

  void submit(Conversation& conversation) {
    std::vector<TokenId>& ids = conversation.ids;
    const std::uint64_t kind = random_.next() % 8;
    if (kind == 0 && !ids.empty()) ids.resize(1 + random_.next() % ids.size());         // a branch far back
    if (kind == 1 && ids.size() > 20) ids.resize(ids.size() - random_.next() % 20);     // the end rewritten
    const std::size_t added = kind == 2 && !ids.empty() ? 0 : 1 + random_.next() % 70;  // or the same again
    for (std::size_t i = 0; i < added; ++i) ids.push_back(static_cast<TokenId>(random_.next() % kVocabulary));
    if (ids.size() > 1200) ids.resize(600);
    Request request{.prompt = ids, .max_tokens = random_.next() % 25, .choices = random_.next() % 6 == 0 ? 2U : 1U};
    if (random_.next() % 2 == 0) request.shared_heads = {head_tokens_};
    request.tenant = conversation.tenant;
    conversation.is_running = true;
    const auto ticket = run_.add(std::move(request));
    running_[ticket] = {.conversation = &conversation, .prompt = ids};
  }

  void cancel_one() {
    auto chosen = running_.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(random_.next() % running_.size()));
    run_.batcher->cancel(chosen->first);
  }

  void collect() {
    for (auto one = running_.begin(); one != running_.end();) {
      const auto& received = run_.received.by_ticket[one->first];
      if (!received.has_ended) {
        ++one;
        continue;
      }
      CAPTURE(one->first);
      REQUIRE_FALSE(received.outcome.error.has_value());
      CAPTURE(one->second.prompt.size());
      CAPTURE(received.outcome.usage.cached_tokens.value_or(0));
      CAPTURE(to_string(received.outcome.usage.how));
      for (const auto& [choice, tokens] : received.tokens) {
        CAPTURE(choice);
        const std::vector<TokenId> ids = received.ids(choice);
        const std::string difference = testing::differs_from_alone(reference_, one->second.prompt, ids);
        REQUIRE(difference == "");
        checked_ids += ids.size();
      }
      Conversation& conversation = *one->second.conversation;
      const std::vector<TokenId> first = received.ids(0);
      conversation.ids.insert(conversation.ids.end(), first.begin(), first.end());
      conversation.is_running = false;
      run_.received.by_ticket.erase(one->first);
      one = running_.erase(one);
    }
  }

  Random random_;
  BatchRun run_;
  LlamaCpp& reference_;
  std::vector<Conversation> conversations_;
  std::size_t head_tokens_ = 0;
  std::map<Batcher::Ticket, Running> running_;
};

}  // namespace

TEST_CASE("003:201-207: whatever runs beside it, a conversation gets the ids that it has alone") {
  // Schedules for each architecture; the whole law was tried with 1000.
  const char* asked = std::getenv("RONDO_SCHEDULES");
  const std::uint64_t schedules = asked == nullptr ? 6 : std::strtoull(asked, nullptr, 10);
  for (const TinyArchitecture& one : tiny_architectures()) {
    CAPTURE(one.name);
    auto options = testing::small_batches();
    options.context_tokens = 2048;
    auto reference = testing::tiny_engine(one, options);
    std::size_t checked = 0;
    std::uint64_t reused = 0;
    std::size_t kept = 0;
    for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
      CAPTURE(seed);
      Schedule schedule(one, *reference, seed);
      schedule.play(40);
      checked += schedule.checked_ids;
      reused += schedule.reused_tokens;
      kept = std::max(kept, schedule.kept_sequences);
    }
    MESSAGE(std::string(one.name) << " (" << std::string(to_string(one.memory)) << "): " << checked << " sampled ids, "
                                  << reused << " prompt ids reused");
    CHECK(checked > 100 * schedules);
    CHECK(reused > 500 * schedules);
    CHECK(kept > 0);
  }
}
