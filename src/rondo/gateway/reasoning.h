// What a request wishes of reasoning, as variables of the model's template.  Private to gateway/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apis/request.h"
#include "core/model.h"

namespace rondo::gateway {

struct ReasoningPlan {
  std::vector<std::string> notes;      // what of the wish the template has no variable for
  std::optional<std::int64_t> budget;  // a number of tokens that the template is not told
};

// Sets variables of `call`, but for those that the client has set by name.
[[nodiscard]] ReasoningPlan apply_reasoning(const core::Model& model, const apis::GenerateRequest& request,
                                            core::Call& call);

}  // namespace rondo::gateway
