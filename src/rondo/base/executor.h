// Executor: the one thread that an engine, a connection or a timer answers on.
//
// What waits for a network or for another thread takes an executor when it is made, and calls back there only: its caller
// needs no locks.  `net::Loop` is one; tests step through a `TaskQueue`.
#pragma once

#include <functional>

namespace rondo {

class Executor {
 public:
  virtual ~Executor() = default;

  // Runs `task` later on the executor's thread, never inside of post(); tasks run in the order in which a thread posts them.
  // Any thread may call this as long as the executor lives.
  virtual void post(std::function<void()> task) = 0;
};

}  // namespace rondo
