// A listener that writes down what it hears of a request, and runs the loop until it has heard the end.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "engine/serving.h"
#include "net/loop.h"

namespace rondo::testing {

struct Listening final : engine::Listener {
  explicit Listening(net::Loop& on) : loop(on) {}

  void on_start(const engine::Start& got) override {
    CHECK(!start);
    start = got;
  }
  void on_prompt(std::span<const engine::SampledToken> some) override {
    CHECK(start.has_value());
    CHECK(prompt.empty());
    CHECK(ids[0].empty());
    prompt.assign(some.begin(), some.end());
  }
  void on_tokens(std::size_t choice, std::span<const engine::SampledToken> some) override {
    CHECK(start.has_value());
    CHECK(!outcome);
    for (const engine::SampledToken& token : some) {
      ids[choice].push_back(token.id);
      tokens[choice].push_back(token);
    }
    if (on_some) on_some();
  }
  void on_end(const engine::Outcome& got) override {
    CHECK(!outcome);
    outcome = got;
    loop.stop();
  }

  net::Loop& loop;
  std::optional<engine::Start> start;
  std::vector<engine::SampledToken> prompt;
  std::map<std::size_t, std::vector<engine::TokenId>> ids;
  std::map<std::size_t, std::vector<engine::SampledToken>> tokens;
  std::optional<engine::Outcome> outcome;
  std::function<void()> on_some;
};

// Submits the request and waits for its end.
inline engine::Outcome run(engine::Serving& serving, engine::Request request, Listening& listener) {
  const auto running = serving.submit(std::move(request), listener);
  CHECK(!listener.outcome);  // never inside of submit()
  listener.loop.run();
  REQUIRE(listener.outcome);
  return *listener.outcome;
}

}  // namespace rondo::testing
