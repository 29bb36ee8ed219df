// Enforces a constraint on an engine that takes none.  Works if the constraint allows only a single id at some places.
// Private to gateway/.
//
// If the engine samples another id than the required one, it is stopped.  Then the required id is appended to what was
// sampled before, and the engine continues from there.  What it has computed until then is in its cache.
#pragma once

#include <memory>

#include "engine/serving.h"

namespace rondo::gateway {

// Does Serving::submit() for a request with a constraint, on any engine.  Ids that were inserted have no log
// probability.
[[nodiscard]] std::unique_ptr<engine::Submission> submit_held(engine::Serving& serving, engine::Request request,
                                                              engine::Listener& listener);

}  // namespace rondo::gateway
