#include "net/loop.h"

#include <boost/asio/post.hpp>

#include "net/asio.h"

namespace rondo::net {

// Shared with the system's timer, which may still fire after the handle is gone.
struct Timer::State {
  State(Loop::Impl& loop, std::function<void()> what) : timer(loop.context), task(std::move(what)) {}
  SystemTimer timer;
  std::function<void()> task;  // empty once it was called or cancelled
};

Timer& Timer::operator=(Timer&& other) noexcept {
  if (this != &other) {
    cancel();
    state_ = std::move(other.state_);
  }
  return *this;
}

void Timer::cancel() {
  if (!state_) return;
  state_->task = nullptr;
  state_->timer.cancel();
  state_.reset();
}

Loop::Loop() : impl_(std::make_unique<Impl>()) {}
Loop::~Loop() = default;

void Loop::run() {
  impl_->context.run();
  impl_->context.restart();
}

void Loop::stop() { impl_->context.stop(); }

void Loop::post(std::function<void()> task) {
  asio::post(impl_->context, [&impl = *impl_, task = std::move(task)] {
    const LoopTask at_work(impl);
    task();
  });
}

Time Loop::now() const { return std::chrono::steady_clock::now(); }

Timer Loop::after(Milliseconds delay, std::function<void()> task) {
  auto state = std::make_shared<Timer::State>(*impl_, std::move(task));
  state->timer.expires_after(delay);
  state->timer.async_wait([state, &impl = *impl_](ErrorValue) {
    // It may have been cancelled, or replaced by nothing.  It is called at most once.
    const std::function<void()> what = std::exchange(state->task, nullptr);
    if (!what) return;
    const LoopTask at_work(impl);
    what();
  });
  return Timer(std::move(state));
}

namespace {

void await_signals(asio::basic_signal_set<LoopExecutor>& signals,
                   const std::shared_ptr<std::function<void(int)>>& task) {
  signals.async_wait([&signals, task](ErrorValue error, int signal) {
    if (error) return;
    await_signals(signals, task);
    (*task)(signal);
  });
}

}  // namespace

Status Loop::on_signals(std::span<const int> signals, std::function<void(int)> task) {
  impl_->signals.emplace(impl_->context);
  for (const int signal : signals) {
    ErrorValue error;
    impl_->signals->add(signal, error);
    if (error) {
      return Error(ErrorCode::kUnsupported,
                   "signal " + std::to_string(signal) + " cannot be taken: " + error.message());
    }
  }
  await_signals(*impl_->signals, std::make_shared<std::function<void(int)>>(std::move(task)));
  return Done{};
}

std::string name_of(const Protocol::endpoint& endpoint) {
  const std::string address = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(endpoint.port());
}

}  // namespace rondo::net
