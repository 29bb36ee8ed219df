// Executor: the one thread on which an engine, a connection or a timer calls back.
//
// An object that waits for a network or for another thread takes an executor when it is made.  It calls back only
// there, so its caller needs no locks.  `net::Loop` is an executor; tests step through a `TaskQueue`.
#pragma once

#include <functional>

namespace rondo {

class Executor {
 public:
  virtual ~Executor() = default;

  // Runs `task` later on the executor's thread, never inside post().  Tasks from one thread run in the order in which
  // that thread posts them.  Any thread may call this while the executor lives.
  virtual void post(std::function<void()> task) = 0;
};

}  // namespace rondo
