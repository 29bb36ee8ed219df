// Turns the wishes of a request about reasoning into variables of the model's template.  Private to gateway/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apis/request.h"
#include "core/model.h"

namespace rondo::gateway {

struct ReasoningPlan {
  std::vector<std::string> notes;      // sentences: wishes for which the template has no variable
  std::optional<std::int64_t> budget;  // a number of tokens that no template variable takes
};

// Sets variables of `call`, but never overwrites one that the client set by name.
[[nodiscard]] ReasoningPlan apply_reasoning(const core::Model& model, const apis::GenerateRequest& request,
                                            core::Call& call);

}  // namespace rondo::gateway
