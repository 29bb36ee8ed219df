// Ends reasoning that becomes too long.  Private to gateway/.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/engine.h"

namespace rondo::gateway {

struct ReasoningLimit {
  std::vector<engine::TokenId> open;    // the ids that open reasoning; empty: only the prompt opens it
  std::vector<engine::TokenId> close;   // the ids that close it.  REQUIRES: at least one
  std::vector<engine::TokenId> ending;  // the same as a template writes them, with white space.  REQUIRES: at least one
  std::size_t most = 0;                 // how many ids may be between them
  bool is_open = false;                 // whether the prompt has opened it
};

// Makes the constraint for one choice: after `most` ids of reasoning, the reasoning must end.
[[nodiscard]] std::unique_ptr<engine::TokenConstraint> limit_of_reasoning(ReasoningLimit limit);

}  // namespace rondo::gateway
