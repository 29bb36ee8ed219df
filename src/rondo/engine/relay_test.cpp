#include "engine/relay.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "base/task_queue.h"

namespace rondo::engine {
namespace {

// Reports three ids for each request, and ends when told to or cancelled.
class Slow final : public Serving {
 public:
  explicit Slow(Executor& executor) : executor_(executor) {}
  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] std::unique_ptr<Submission> submit(Request request, Listener& listener) override {
    struct Running final : Submission {
      explicit Running(Slow& of, Listener& to) : engine(of), listener(&to) {}
      ~Running() override {
        *is_alive = false;
        --engine.running;
      }
      void cancel() override { end(StopReason::kCancelled); }
      void end(StopReason reason) {
        Listener* const told = std::exchange(listener, nullptr);
        if (told == nullptr) return;
        Outcome outcome;
        outcome.choices.resize(1);
        outcome.choices[0].stop = reason;
        told->on_end(outcome);
      }
      Slow& engine;
      Listener* listener;
      std::shared_ptr<bool> is_alive = std::make_shared<bool>(true);
    };
    ++running;
    auto made = std::make_unique<Running>(*this, listener);
    executor_.post([alive = made->is_alive, &listener, prompt = std::move(request.prompt), run = made.get(),
                    ends = request.max_tokens == 3] {
      if (!*alive) return;
      listener.on_start({.expected_tokens = prompt.size(), .replica = "r"});
      std::vector<SampledToken> tokens(3);
      for (std::size_t i = 0; i < 3; ++i) tokens[i].id = static_cast<TokenId>(prompt.size() + i);
      listener.on_tokens(0, tokens);
      if (ends) run->end(StopReason::kLength);
    });
    return made;
  }
  std::atomic<int> running = 0;

 private:
  Executor& executor_;
  Capabilities capabilities_{.name = "slow", .grammars = {}};
};

struct Heard final : Listener {
  void on_start(const Start& start) override { expected = start.expected_tokens; }
  void on_tokens(std::size_t, std::span<const SampledToken> tokens) override {
    for (const SampledToken& token : tokens) ids.push_back(token.id);
  }
  void on_end(const Outcome& outcome) override { stop = outcome.choices[0].stop; }
  std::size_t expected = 0;
  std::vector<TokenId> ids;
  std::optional<StopReason> stop;
};

// An engine's executor on a thread of its own.
struct Home {
  ~Home() {
    queue.post([this] { is_over = true; });
    thread.join();
  }
  TaskQueue queue;
  bool is_over = false;
  std::thread thread{[this] { queue.run_until([this] { return is_over; }); }};
};

TEST_CASE("relay: many requests from another thread, each with its own ids") {
  TaskQueue own;
  Home home;
  Slow slow(home.queue);
  Relay relay(slow, home.queue, own);
  CHECK(relay.capabilities().name == "slow");
  std::vector<Heard> heard(50);
  std::vector<std::unique_ptr<Submission>> running;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    running.push_back(relay.submit({.prompt = std::vector<TokenId>(i + 1, 1), .max_tokens = 3}, heard[i]));
  }
  own.run_until([&] { return std::all_of(heard.begin(), heard.end(), [](const Heard& one) { return one.stop; }); });
  for (std::size_t i = 0; i < heard.size(); ++i) {
    const auto first = static_cast<TokenId>(i + 1);
    CHECK(heard[i].expected == i + 1);
    CHECK(heard[i].ids == std::vector<TokenId>{first, first + 1, first + 2});
    CHECK(heard[i].stop == StopReason::kLength);
  }
}

TEST_CASE("relay: a request is cancelled, or let go of, on its way") {
  TaskQueue own;
  Slow* engine = nullptr;
  std::optional<Slow> slow;
  {
    Home home;
    engine = &slow.emplace(home.queue);
    Relay relay(*engine, home.queue, own);
    Heard heard;
    const auto running = relay.submit({.prompt = {1}}, heard);
    own.run_until([&] { return heard.ids.size() == 3; });
    running->cancel();
    running->cancel();
    own.run_until([&] { return heard.stop.has_value(); });
    CHECK(heard.stop == StopReason::kCancelled);
    // Nobody listens any more: at once, and after the first ids.
    for (int i = 0; i < 20; ++i) {
      Heard gone;
      auto dropped = relay.submit({.prompt = {1}}, gone);
      if (i % 2 == 0) own.run_until([&] { return gone.ids.size() == 3; });
      dropped.reset();
    }
  }
  CHECK(engine->running == 0);
}

}  // namespace
}  // namespace rondo::engine
