// Explains why known ids are lost to a prompt.  Internal to spans/.
#pragma once

#include <cstddef>

#include "chat/conversation.h"
#include "spans/planner.h"

namespace rondo::spans {

// Returns what the client changed between the turn and the request.  `message` is the index of the turn's reply in the
// request, and `shown` what the client shows there; null: nothing.
[[nodiscard]] Loss loss_between(const Turn& turn, const chat::Conversation& conversation, const json::Array& messages,
                                std::size_t message, const json::Value* shown, std::size_t lost_tokens);
[[nodiscard]] Loss loss_of_unknown(std::size_t message);

}  // namespace rondo::spans
