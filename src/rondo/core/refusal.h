// Finds which part of a conversation a template refuses.
#pragma once

#include <string>

#include "chat/conversation.h"
#include "core/prepared.h"

namespace rondo::core {

// Returns a sentence that names the first message, or the field of a message, that the template refuses:
// "messages[2].content: with a text in its place the template goes on".  Without that message or field, the template
// renders `conversation` up to there.  Returns "" if no single message or field is at fault.  Renders at most some
// twenty beginnings of the conversation.
//
// REQUIRES: the template fails on `conversation`.
[[nodiscard]] std::string refusal_hint(const Prepared& prepared, const chat::Conversation& conversation);

}  // namespace rondo::core
