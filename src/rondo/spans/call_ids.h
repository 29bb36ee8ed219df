// The ids of calls as the model wrote them.  Clients show the ids that they were handed out; templates that write ids
// must get those that are in the tokens.  Internal to spans/.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/model.h"
#include "json/value.h"
#include "spans/span.h"

namespace rondo::spans {

using CallIds = std::vector<std::optional<std::string>>;

// Returns the id that each call of the turn's reply has in its tokens; nullopt if it has none.  Where the format writes no
// ids, it is the one that chat::to_history() makes.  `call` has the tools and template variables.
[[nodiscard]] CallIds sampled_call_ids(const core::Model& model, const core::Call& call, const Turn& turn);

// Gives these ids to the calls of a message.
void set_call_ids(const CallIds& ids, json::Value& message);

// Does the same with message `reply` of a conversation, which shows the turn's reply, and with the results that follow.
void use_call_ids(const CallIds& ids, const Turn& turn, std::size_t reply, json::Array& messages);

// Returns whether a result follows message `reply`.
[[nodiscard]] bool has_results(const json::Array& messages, std::size_t reply);

}  // namespace rondo::spans
