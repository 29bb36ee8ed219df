// Holds an engine that takes no constraints to one all the same, where that allows a single id now and then.  Private to
// gateway/.
//
// Where the engine samples something else than what must follow, it is stopped, what must follow is put behind what was
// sampled before, and the engine goes on from there.  What it has computed by then it has in its cache.
#pragma once

#include <memory>

#include "engine/serving.h"

namespace rondo::gateway {

// As Serving::submit(); of a request with a constraint, whichever engine it is.  Ids that were put in have no log probability.
[[nodiscard]] std::unique_ptr<engine::Submission> submit_held(engine::Serving& serving, engine::Request request,
                                                              engine::Listener& listener);

}  // namespace rondo::gateway
