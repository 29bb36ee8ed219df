// Loop: the event loop of one thread.  Clients, servers and timers of net/ belong to a loop and call back on its
// thread.
//
//   net::Loop loop;
//   net::Timer timer = loop.after(std::chrono::seconds(1), [&] { loop.stop(); });
//   loop.run();
//
// Below the command line, nothing else in rondo has a clock: code that needs the time or a delay asks a loop.  A loop
// must outlive everything that was made on it.
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

// A delayed call that can be cancelled.  Destroying the handle cancels it.
class Timer {
 public:
  Timer() = default;  // nothing is scheduled
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
  struct Impl;  // only for the sources of net/

  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() override;

  // Works until stop(), even while there is nothing to do; may be called again afterwards.  The calling thread becomes
  // the loop's thread.
  void run();

  // Ends run() after the current task.  If called before run(), ends that run() at once.  Any thread.
  void stop();

  void post(std::function<void()> task) override;

  [[nodiscard]] Time now() const;

  // Calls `task` once on the loop's thread, `delay` from now.
  [[nodiscard]] Timer after(Milliseconds delay, std::function<void()> task);

  // While the loop lives, calls `task` on its thread whenever one of `signals` arrives (SIGTERM, SIGINT), instead of
  // the signal's normal effect.  Fails with kUnsupported if a signal cannot be caught.  Call it at most once per loop.
  [[nodiscard]] Status on_signals(std::span<const int> signals, std::function<void(int)> task);

  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace rondo::net
