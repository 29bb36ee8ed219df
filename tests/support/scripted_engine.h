// An engine that says what a test tells it to, in pieces, and fails or waits where it is told to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "engine/serving.h"
#include "net/loop.h"

namespace rondo::testing {

// What it says to a request, in each of its choices: ids up to its first stop id.
struct Script {
  enum class End : std::uint8_t {
    kDone,   // all ids are said
    kFails,  // the engine fails behind `until` ids
    kWaits,  // nothing follows `until` ids, until the request is cancelled
  };
  std::vector<engine::TokenId> ids{};
  std::size_t piece = 1;  // ids that come at once
  End end = End::kDone;
  std::size_t until = 0;
};

class ScriptedEngine final : public engine::Serving {
 public:
  // `say` is asked for each request; `waits` is told when one waits.
  ScriptedEngine(net::Loop& loop, std::function<Script(const engine::Request&)> say, std::function<void()> waits = {})
      : loop_(loop), say_(std::move(say)), waits_(std::move(waits)) {}

  [[nodiscard]] const engine::Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] std::unique_ptr<engine::Submission> submit(engine::Request request,
                                                           engine::Listener& listener) override {
    auto running = std::make_shared<Running>();
    running->listener = &listener;
    running->choices = request.choices;
    running->script = say_(request);
    std::vector<engine::TokenId>& ids = running->script.ids;
    const auto is_stop = [&](engine::TokenId id) { return std::ranges::count(request.stop_ids, id) > 0; };
    const auto stop = std::ranges::find_if(ids, is_stop);
    if (stop != ids.end()) {
      ids.erase(stop + 1, ids.end());
      running->stop = *stop;
    }
    if (ids.size() > request.max_tokens) {
      ids.resize(request.max_tokens);
      running->stop.reset();
    }
    running->script.until = std::min(running->script.until, ids.size());
    prompt_ = std::move(request.prompt);
    said_.clear();
    later(running);
    return std::make_unique<Handle>(*this, std::move(running));
  }

  // Of the last request.
  [[nodiscard]] const std::vector<engine::TokenId>& prompt() const { return prompt_; }
  [[nodiscard]] const std::vector<engine::TokenId>& said() const { return said_; }

 private:
  struct Running {
    engine::Listener* listener = nullptr;
    std::size_t choices = 1;
    Script script;
    std::optional<engine::TokenId> stop;
    std::size_t at = 0;
    bool has_begun = false;
    bool is_over = false;
  };
  struct Handle final : engine::Submission {
    Handle(ScriptedEngine& owner, std::shared_ptr<Running> of) : engine(owner), running(std::move(of)) {}
    ~Handle() override { running->is_over = true; }
    void cancel() override {
      engine.loop_.post([owner = &engine, of = running] { owner->end(*of, engine::StopReason::kCancelled); });
    }
    ScriptedEngine& engine;
    std::shared_ptr<Running> running;
  };

  void later(const std::shared_ptr<Running>& running) {
    loop_.post([this, running] { step(running); });
  }
  void step(const std::shared_ptr<Running>& running) {
    using End = Script::End;
    if (running->is_over) return;
    const Script& script = running->script;
    if (script.end == End::kFails && running->at == script.until) return fail(*running);
    if (!std::exchange(running->has_begun, true)) running->listener->on_start({});
    const std::size_t last = script.end == End::kDone ? script.ids.size() : script.until;
    const std::size_t count = std::min(script.piece, last - running->at);
    std::vector<engine::SampledToken> tokens(count);
    for (engine::SampledToken& token : tokens) {
      token.id = script.ids[running->at++];
      token.logprob = -0.5F;
      said_.push_back(token.id);
    }
    for (std::size_t i = 0; !tokens.empty() && i < running->choices && !running->is_over; ++i)
      running->listener->on_tokens(i, tokens);
    if (running->is_over) return;
    if (script.end == End::kWaits && running->at == last) {
      if (waits_) waits_();
    } else if (script.end == End::kDone && running->at == last) {
      end(*running, running->stop ? engine::StopReason::kStopToken : engine::StopReason::kLength);
    } else {
      later(running);
    }
  }
  void end(Running& running, engine::StopReason reason) {
    if (std::exchange(running.is_over, true)) return;
    engine::Outcome outcome;
    outcome.choices.resize(running.choices, {.stop = reason, .stop_id = running.stop, .inexact = {}});
    outcome.usage.completion_tokens = running.at * running.choices;
    running.listener->on_end(outcome);
  }
  void fail(Running& running) {
    running.is_over = true;
    engine::Outcome outcome;
    outcome.choices.resize(running.choices, {.stop = engine::StopReason::kCancelled, .stop_id = {}, .inexact = {}});
    outcome.error = Error(ErrorCode::kEngine, "the engine is gone");
    running.listener->on_end(outcome);
  }

  net::Loop& loop_;
  std::function<Script(const engine::Request&)> say_;
  std::function<void()> waits_;
  std::vector<engine::TokenId> prompt_;
  std::vector<engine::TokenId> said_;
  engine::Capabilities capabilities_{.name = "scripted", .grammars = {}};
};

}  // namespace rondo::testing
