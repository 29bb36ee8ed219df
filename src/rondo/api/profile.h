// Turn profiles (how turns end), made once per template, tokenizer, tools and template variables.
#pragma once

#include <memory>
#include <string>

#include "api/cache.h"
#include "api/requests.h"
#include "render/stop.h"

namespace rondo::api {

// The conversation's tools, documents, template variables and special tokens alone.
[[nodiscard]] chat::Conversation without_messages(const chat::Conversation& conversation);

// Names what may be derived from `prepared` and all of `conversation` but its messages, for a Memo.
[[nodiscard]] std::string derived_key(const Prepared& prepared, const chat::Conversation& conversation);

// REQUIRES: `prepared` has a tokenizer.
[[nodiscard]] Memo<render::TurnProfile>::Made turn_profile(Memo<render::TurnProfile>& profiles,
                                                           const Prepared& prepared,
                                                           const chat::Conversation& conversation);

}  // namespace rondo::api
