// Turn profiles (how turns end), made once per template, tokenizer, tools and template variables.
#pragma once

#include <memory>

#include "api/cache.h"
#include "api/requests.h"
#include "render/stop.h"

namespace rondo::api {

// REQUIRES: `prepared` has a tokenizer.
[[nodiscard]] Memo<render::TurnProfile>::Made turn_profile(Memo<render::TurnProfile>& profiles, const Prepared& prepared,
                                                           const chat::Conversation& conversation);

}  // namespace rondo::api
