#include "engine/relay.h"

#include <atomic>
#include <utility>
#include <vector>

namespace rondo::engine {
namespace {

// A request that travels between two executors.  Both sides hold it, and each touches only its own members.
class Passage final : public Listener, public std::enable_shared_from_this<Passage> {
 public:
  Passage(Executor& home, Executor& own, Listener& listener) : home_(home), own_(own), listener_(&listener) {}

  // --- On the engine's executor.

  void begin(Serving& engine, Request request) {
    if (is_gone_) return;
    self_ = shared_from_this();
    submission_ = engine.submit(std::move(request), *this);
  }
  void cancel_at_home() {
    if (submission_) submission_->cancel();
  }
  void let_go_at_home() {
    submission_.reset();
    self_.reset();
  }
  void on_start(const Start& start) override {
    tell([start](Listener& listener) { listener.on_start(start); });
  }
  void on_prompt(std::span<const SampledToken> tokens) override {
    tell([all = std::vector<SampledToken>(tokens.begin(), tokens.end())](Listener& listener) {
      listener.on_prompt(all);
    });
  }
  void on_tokens(std::size_t choice, std::span<const SampledToken> tokens) override {
    tell([choice, all = std::vector<SampledToken>(tokens.begin(), tokens.end())](Listener& listener) {
      listener.on_tokens(choice, all);
    });
  }
  void on_end(const Outcome& outcome) override {
    const auto self = shared_from_this();  // the last reference may be released here
    own_.post([self, outcome] {
      if (Listener* listener = std::exchange(self->listener_, nullptr)) listener->on_end(outcome);
    });
    let_go_at_home();
  }

  // --- On the listener's executor.

  void cancel() {
    home_.post([self = shared_from_this()] { self->cancel_at_home(); });
  }
  void let_go() {
    if (listener_ == nullptr) return;  // it has already ended there
    listener_ = nullptr;
    is_gone_ = true;
    home_.post([self = shared_from_this()] { self->let_go_at_home(); });
  }

 private:
  template <typename Say>
  void tell(Say say) {
    own_.post([self = shared_from_this(), say = std::move(say)] {
      if (self->listener_ != nullptr) say(*self->listener_);
    });
  }

  Executor& home_;
  Executor& own_;
  std::atomic<bool> is_gone_ = false;
  Listener* listener_;                      // of the listener's side; null when nobody listens
  std::unique_ptr<Submission> submission_;  // of the engine's side
  std::shared_ptr<Passage> self_;           // likewise, while the engine may call
};

class Passing final : public Submission {
 public:
  explicit Passing(std::shared_ptr<Passage> passage) : passage_(std::move(passage)) {}
  ~Passing() override { passage_->let_go(); }
  void cancel() override { passage_->cancel(); }

 private:
  std::shared_ptr<Passage> passage_;
};

}  // namespace

std::unique_ptr<Submission> Relay::submit(Request request, Listener& listener) {
  auto passage = std::make_shared<Passage>(home_, own_, listener);
  home_.post([passage, &engine = engine_, request = std::move(request)]() mutable {
    passage->begin(engine, std::move(request));
  });
  return std::make_unique<Passing>(std::move(passage));
}

}  // namespace rondo::engine
