// Loop: one thread's event loop.  Clients, servers and timers of net/ live on one, and answer on its thread.
//
//   net::Loop loop;
//   net::Timer timer = loop.after(std::chrono::seconds(1), [&] { loop.stop(); });
//   loop.run();
//
// Nothing else in rondo below the command line has a clock: who needs the time or a delay asks a loop.
// A loop outlives everything that was made on it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>

#include "base/executor.h"
#include "rondo/result.h"

namespace rondo::net {

using Milliseconds = std::chrono::milliseconds;
using Time = std::chrono::steady_clock::time_point;

// A delayed call that can be taken back.  Destroying the handle takes it back too.
class Timer {
 public:
  Timer() = default;  // nothing is waited for
  Timer(Timer&&) noexcept = default;
  Timer& operator=(Timer&& other) noexcept;
  ~Timer() { cancel(); }

  void cancel();

 private:
  friend class Loop;
  struct State;
  explicit Timer(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

class Loop final : public Executor {
 public:
  struct Impl;  // for the sources of net/ alone

  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() override;

  // Works until stop(), also while there is nothing to do; may be called again then.  The thread that calls it is the loop's.
  void run();

  // Ends run() after the task that is at work; a stop() before run() ends that at once.  Any thread.
  void stop();

  void post(std::function<void()> task) override;

  [[nodiscard]] Time now() const;

  // Calls `task` once, `delay` from now, on the loop's thread.
  [[nodiscard]] Timer after(Milliseconds delay, std::function<void()> task);

  // Calls `task` on the loop's thread whenever one of `signals` arrives (SIGTERM, SIGINT), instead of what the signal does
  // otherwise, as long as the loop lives.  kUnsupported where a signal cannot be taken.  Once for each loop.
  [[nodiscard]] Status on_signals(std::span<const int> signals, std::function<void(int)> task);

  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace rondo::net
