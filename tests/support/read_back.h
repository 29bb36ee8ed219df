// What a parser read of a rendered turn beside the message that it came from.
#pragma once

#include <string>

#include "chat/conversation.h"
#include "format/format.h"
#include "tests/support/messages.h"

namespace rondo::test {

// Nothing, or what is not as `wanted`, white space that the Format says is trimmed aside.  Numbers count by value, members
// of objects in any order.
[[nodiscard]] std::string difference(const MessageParts& wanted, const chat::AssistantMessage& got,
                                     const format::Trims& trims);

// Whether one of the losses that the Format tells of itself concerns the message.
[[nodiscard]] bool is_told(const format::Format& format, const MessageParts& wanted);
// Whether a note of the format says that turns like this one may be cut short where their content ends.
[[nodiscard]] bool may_stop_early(const format::Format& format, const MessageParts& wanted);

}  // namespace rondo::test
