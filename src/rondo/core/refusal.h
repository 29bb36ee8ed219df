// What of a conversation a template refuses.
#pragma once

#include <string>

#include "chat/conversation.h"
#include "core/prepared.h"

namespace rondo::core {

// A sentence that names the first message, or the field of it, without which the template renders `conversation` up to there:
// "messages[2].content: with a text in its place the template goes on".  "" where no single one is at fault.  Renders beginnings of
// the conversation, some twenty at most.  REQUIRES: the template fails on it.
[[nodiscard]] std::string refusal_hint(const Prepared& prepared, const chat::Conversation& conversation);

}  // namespace rondo::core
