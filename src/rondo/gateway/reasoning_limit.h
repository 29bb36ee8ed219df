// Ends reasoning that grows too long.  Private to gateway/.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/engine.h"

namespace rondo::gateway {

struct ReasoningLimit {
  std::vector<engine::TokenId> open;    // what begins reasoning; none: only the prompt does
  std::vector<engine::TokenId> close;   // what ends it.  REQUIRES: one at least
  std::vector<engine::TokenId> ending;  // the same as a template writes it, with white space.  REQUIRES: one at least
  std::size_t most = 0;                 // ids between them
  bool is_open = false;                 // the prompt has begun it
};

// Of one choice: behind so many ids of reasoning its end follows.
[[nodiscard]] std::unique_ptr<engine::TokenConstraint> limit_of_reasoning(ReasoningLimit limit);

}  // namespace rondo::gateway
