// Relay: an engine that lives on another executor.
//
//   engine::Relay relay(fleet, fleet_loop, my_loop);
//   auto running = relay.submit(std::move(request), listener);   // the listener is called on my_loop
//
// Use it for an engine that several loops must share because its knowledge is worth more together, such as which server
// holds which prefix.  Each call costs one hop to the engine's executor, and each report one hop back.
#pragma once

#include <memory>

#include "base/executor.h"
#include "engine/serving.h"

namespace rondo::engine {

class Relay final : public Serving {
 public:
  // Both executors and the engine must outlive this object and its submissions.  Tasks that are still posted then are
  // dropped or have no effect.
  Relay(Serving& engine, Executor& home, Executor& own) : engine_(engine), home_(home), own_(own) {}

  // Returns the engine's capabilities, which must not change.
  [[nodiscard]] const Capabilities& capabilities() const override { return engine_.capabilities(); }
  [[nodiscard]] std::unique_ptr<Submission> submit(Request request, Listener& listener) override;

 private:
  Serving& engine_;
  Executor& home_;
  Executor& own_;
};

}  // namespace rondo::engine
