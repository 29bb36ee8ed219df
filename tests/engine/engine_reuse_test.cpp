// Reuse is correct: after any mix of appended turns, rollbacks and branches the logits are those of a fresh decode of
// the same ids in the same batches.  docs/engine.md has the numbers that this test prints.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "engine/llama_cpp.h"
#include "engine/tiny_model.h"
#include "tests/support/tiny.h"

using namespace rondo;
using namespace rondo::engine;

namespace {

using testing::kTolerance;
using testing::kVocabulary;

struct Difference {
  double max = 0;
  bool same_best = true;  // the same best id, or two best that the tolerance can't tell apart
  double deviation = 0;   // of the reference logits
};

Difference compare(std::span<const float> a, std::span<const float> b) {
  Difference result;
  result.max = testing::largest_difference(a, b);
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += b[i];
    squares += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  const double mean = sum / static_cast<double>(b.size());
  result.deviation = std::sqrt(squares / static_cast<double>(b.size()) - mean * mean);
  std::vector<float> sorted(b.begin(), b.end());
  std::partial_sort(sorted.begin(), sorted.begin() + 2, sorted.end(), std::greater<>());
  const bool clear_best = static_cast<double>(sorted[0] - sorted[1]) > 2 * kTolerance;
  result.same_best = !clear_best || std::max_element(a.begin(), a.end()) - a.begin() ==
                                        std::max_element(b.begin(), b.end()) - b.begin();
  return result;
}

struct Tally {
  int count = 0;
  int equal = 0;
  double max = 0;
};

// One conversation: the engine under test goes on, the reference starts afresh each time.
class Conversation {
 public:
  Conversation(LlamaCpp& engine, LlamaCpp& reference, std::uint64_t seed)
      : engine_(engine), reference_(reference), random_(seed) {}

  void step(std::map<Reuse, Tally>& tallies) {
    std::vector<TokenId> prompt = all_;
    const std::uint64_t choice = random_.next() % 6;
    if (!all_.empty() && choice == 0) prompt.resize(1 + random_.next() % all_.size());  // a branch far back
    if (!all_.empty() && choice == 1)
      prompt.resize(all_.size() - random_.next() % std::min<std::size_t>(all_.size(), 20));
    if (!all_.empty() && choice == 2 && last_prompt_ > 0)
      prompt.resize(std::min(last_prompt_, all_.size()));  // the turn again
    const std::size_t added = choice == 2 && !all_.empty() ? 0 : 1 + random_.next() % (all_.empty() ? 300 : 90);
    for (std::size_t i = 0; i < added; ++i) prompt.push_back(static_cast<TokenId>(random_.next() % kVocabulary));
    last_prompt_ = prompt.size();

    const auto report = engine_.prompt(prompt);
    REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.error().to_string()));
    CHECK(std::equal(prompt.begin(), prompt.end(), engine_.tokens().begin(), engine_.tokens().end()));
    CHECK(report.value().reused + report.value().prefilled == prompt.size());
    CHECK((report.value().how == Reuse::kFull) == (report.value().reused == 0));
    CHECK((report.value().how == Reuse::kFull) == !report.value().reason.empty());
    check_logits(prompt, report.value(), tallies);

    const Sampling sampling{.temperature = 1.0F, .seed = random_.next()};
    const auto turn = engine_.generate({.max_tokens = 1 + random_.next() % 12, .sampling = sampling});
    REQUIRE(turn.ok());
    all_ = prompt;
    all_.insert(all_.end(), turn.value().ids.begin(), turn.value().ids.end());
    CHECK(engine_.tokens().size() + 1 == all_.size());
  }

 private:
  void check_logits(const std::vector<TokenId>& prompt, const PromptReport& report, std::map<Reuse, Tally>& tallies) {
    REQUIRE(reference_.replay(prompt, engine_.batches()).ok());
    const Difference difference = compare(engine_.logits(), reference_.logits());
    CAPTURE(to_string(report.how));
    CAPTURE(prompt.size());
    CAPTURE(report.reused);
    CHECK(difference.max <= kTolerance);
    CHECK(difference.same_best);
    CHECK(difference.deviation > 0.1);  // logits that say nothing would prove nothing
    // Where equal sums in an equal order are certain.  Rolled back inside a batch, what remains of it was computed in a
    // larger batch than the reference's; and a window's cells stand in another order once some of them were reused.
    const bool exact = report.how == Reuse::kFull || engine_.describe().memory != MemoryKind::kSlidingWindow;
    if (exact && report.how != Reuse::kRollback) CHECK(difference.max == 0.0);
    Tally& tally = tallies[report.how];
    ++tally.count;
    tally.equal += difference.max == 0.0 ? 1 : 0;
    tally.max = std::max(tally.max, difference.max);
  }

  LlamaCpp& engine_;
  LlamaCpp& reference_;
  Random random_;
  std::vector<TokenId> all_;
  std::size_t last_prompt_ = 0;
};

}  // namespace

TEST_CASE("000:2-3, 003:55-73: reused memory gives the logits of a fresh decode") {
  for (const TinyArchitecture& one : tiny_architectures()) {
    CAPTURE(one.name);
    auto reference = testing::tiny_engine(one, testing::small_batches());
    std::map<Reuse, Tally> tallies;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(seed);
      auto engine = testing::tiny_engine(one, testing::small_batches());
      Conversation conversation(*engine, *reference, seed);
      for (int i = 0; i < 8; ++i) conversation.step(tallies);
    }
    std::string line = std::string(one.name) + " (" + std::string(to_string(one.memory)) + "):";
    for (const auto& [how, tally] : tallies) {
      line += " " + std::string(to_string(how)) + " " + std::to_string(tally.equal) + "/" +
              std::to_string(tally.count) + " equal";
      if (tally.max > 0) line += ", max difference " + std::to_string(tally.max * 1e6) + "e-6";
      line += ";";
    }
    MESSAGE(line);
    CHECK(tallies[Reuse::kAppend].count > 0);
    const bool rolls_back = one.memory == MemoryKind::kAttention || one.memory == MemoryKind::kSlidingWindow;
    CHECK((tallies[Reuse::kRollback].count > 0) == rolls_back);
    if (!rolls_back) CHECK(tallies[Reuse::kCheckpoint].count > 0);
  }
}
