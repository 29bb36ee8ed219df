// Finds what the template would write differently in earlier turns once new messages follow.
#pragma once

#include <vector>

#include "render/bridge.h"

namespace rondo::render {

// Compares the renders before and after `new_messages` follow `assistant`.  Returns nothing if the earlier text stays
// the same, or if the template refuses one of the renders.
[[nodiscard]] std::vector<LossyFinding> find_lossy(const TurnContext& context, const format::Format& format,
                                                   std::span<const json::Value> history, const json::Value& assistant,
                                                   std::span<const json::Value> new_messages);

}  // namespace rondo::render
