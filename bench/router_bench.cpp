// Routing decisions for each second of one core, for fleets of 1 to 1,000 replicas, beside the naive way: a tree for
// each replica, all of which are asked.
//
//   bench_router [DECISIONS]     2,000 by default
//
// 1,000 conversations of ten systems take turns, so prompts have 30,000 ids on average; each decision is followed by
// its consequences (begin, progress, end), which are timed apart.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <random>
#include <vector>

#include "cache/prefix_tree.h"
#include "cache/router.h"

namespace {

using namespace rondo::cache;  // NOLINT(google-build-using-namespace): a program of one file

constexpr std::size_t kConversations = 1000;
constexpr std::size_t kSystems = 10;
constexpr std::size_t kHead = 4000;
constexpr std::size_t kGrowth = 1500;
constexpr std::size_t kLongest = 52'000;
constexpr std::size_t kCapacity = 4'000'000;

using Ids = std::vector<TokenId>;

class Conversations {
 public:
  Conversations() : prompts_(kConversations) {
    for (std::size_t i = 0; i < kConversations; ++i) {
      begin(i);
      extend(i, random_() % (kLongest - kHead));
    }
  }

  // The next prompt; which conversation it is of is drawn.
  const Ids& next() {
    const std::size_t i = random_() % kConversations;
    if (prompts_[i].size() > kLongest) begin(i);
    extend(i, kGrowth);
    return prompts_[i];
  }

 private:
  void begin(std::size_t i) {
    std::mt19937 same(static_cast<unsigned>(i % kSystems));
    prompts_[i].clear();
    for (std::size_t at = 0; at < kHead; ++at) prompts_[i].push_back(static_cast<TokenId>(same() % 150'000));
  }
  void extend(std::size_t i, std::size_t count) {
    for (std::size_t at = 0; at < count; ++at) prompts_[i].push_back(static_cast<TokenId>(random_() % 150'000));
  }

  std::mt19937 random_{1};
  std::vector<Ids> prompts_;
};

class Stopwatch {
 public:
  template <class Work>
  void time(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  [[nodiscard]] double microseconds(std::size_t times) const { return seconds_ * 1e6 / static_cast<double>(times); }

 private:
  double seconds_ = 0;
};

// What the naive way has for the same decision: the longest match of all trees, less the load.
std::size_t choose_naively(const std::vector<PrefixTree>& trees, const Ids& prompt) {
  std::size_t best = 0;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const std::size_t known = trees[i].match(prompt);
    if (known <= longest) continue;
    longest = known;
    best = i;
  }
  return best;
}

void measure(std::size_t replicas, std::size_t decisions) {
  Router router({});
  for (std::size_t i = 0; i < replicas; ++i) router.add({.capacity = kCapacity, .block = 16});
  std::vector<PrefixTree> trees;
  for (std::size_t i = 0; i < replicas; ++i) trees.emplace_back(kCapacity);
  Conversations conversations;
  Stopwatch choosing;
  Stopwatch keeping;
  Stopwatch naive;
  std::deque<Router::Ticket> running;
  std::size_t ids = 0;
  std::size_t expected = 0;
  const std::size_t warm_up = 2 * kConversations;
  for (std::size_t i = 0; i < warm_up + decisions; ++i) {
    const Ids& prompt = conversations.next();
    const bool is_timed = i >= warm_up;
    const Router::Ask ask{.ids = prompt};
    std::optional<Router::Choice> choice;
    const auto choose = [&] { choice = router.choose(ask); };
    const auto keep = [&] {
      running.push_back(router.begin(choice->replica, ask));
      router.progress(running.back(), prompt);
      if (running.size() <= 8 * replicas) return;
      router.drop(running.front());
      running.pop_front();
    };
    std::size_t place = 0;
    if (is_timed) {
      choosing.time(choose);
      keeping.time(keep);
      naive.time([&] { place = choose_naively(trees, prompt); });
      ids += prompt.size();
      expected += choice->expected;
    } else {
      choose();
      keep();
    }
    // The same placement, so that both search the same.
    trees[choice->replica].insert(prompt);
  }
  std::printf(
      "router: %4zu replicas, prompts of %zu ids, %4.1f %% expected: %6.2f us to choose (%.0f decisions/s), %6.2f us "
      "to keep; "
      "a tree for each: %8.2f us to choose\n",
      replicas, ids / decisions, 100.0 * static_cast<double>(expected) / static_cast<double>(ids),
      choosing.microseconds(decisions), 1e6 / choosing.microseconds(decisions), keeping.microseconds(decisions),
      naive.microseconds(decisions));
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t decisions = 2000;
  if (argc > 1 && std::atoi(argv[1]) > 0) decisions = static_cast<std::size_t>(std::atoi(argv[1]));
  for (const std::size_t replicas : {1U, 10U, 100U, 1000U}) measure(replicas, decisions);
  return 0;
}
