// Relay: an engine that lives on another executor.
//
//   engine::Relay relay(fleet, fleet_loop, my_loop);
//   auto running = relay.submit(std::move(request), listener);   // the listener is called on my_loop
//
// For engines that must be one for several loops, since what they know is worth more together: of which server holds which
// prefix, say.  Each call costs a hop to the engine's executor, and each piece of news one back.
#pragma once

#include <memory>

#include "base/executor.h"
#include "engine/serving.h"

namespace rondo::engine {

class Relay final : public Serving {
 public:
  // Neither executor nor engine may end before this and its submissions; tasks that are still posted then are dropped or run
  // in vain.
  Relay(Serving& engine, Executor& home, Executor& own) : engine_(engine), home_(home), own_(own) {}

  // Of the engine; it must not change.
  [[nodiscard]] const Capabilities& capabilities() const override { return engine_.capabilities(); }
  [[nodiscard]] std::unique_ptr<Submission> submit(Request request, Listener& listener) override;

 private:
  Serving& engine_;
  Executor& home_;
  Executor& own_;
};

}  // namespace rondo::engine
