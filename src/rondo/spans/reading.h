// Reads again what was sampled for a reply.  Internal to spans/.
#pragma once

#include <span>

#include "core/model.h"
#include "spans/span.h"

namespace rondo::spans {

// Returns the call without its messages: what the model's parser needs besides the ids.
[[nodiscard]] core::Call reading_of(const core::Call& call);

// Returns the options for a reply after `prompt`, which must stay valid.  Without tools, calls are text.
[[nodiscard]] core::ParseCall parsing_of(const core::Call& call, std::span<const TokenId> prompt);

}  // namespace rondo::spans
