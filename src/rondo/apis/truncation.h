// Shortens a request whose prompt does not fit into the model's context (`truncation: "auto"` of Responses).
#pragma once

#include <cstddef>
#include <span>

#include "apis/request.h"

namespace rondo::apis {

// Drops the oldest messages until `tokens` tokens are gone, and returns how many messages that were: 0 if no more may be
// dropped.  `sizes` are the tokens of the messages.  System and developer messages stay, and so does the last message;
// a call and its results are dropped together, or not at all.
[[nodiscard]] std::size_t drop_oldest(GenerateRequest& request, std::span<const std::size_t> sizes, std::size_t tokens);

}  // namespace rondo::apis
