// Random assistant messages with hostile values, for a random template.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "json/value.h"
#include "tests/support/messages.h"
#include "tests/support/random_template.h"

namespace rondo::test {

// Never holds a text that the template itself ends something with.
[[nodiscard]] MessageParts random_message(const TemplateShape& shape, std::uint64_t seed);

// Whether the template writes something else for it than for any other message.
[[nodiscard]] bool is_expressible(const TemplateShape& shape, const MessageParts& message);

// Tools whose schemas have the types of the message's own arguments, and allow nothing else.
[[nodiscard]] json::Value tools_for(const MessageParts& message);

[[nodiscard]] std::string to_string(const MessageParts& message);

// Messages that are a little simpler, the simplest first.
[[nodiscard]] std::vector<MessageParts> simpler_messages(const MessageParts& message);

}  // namespace rondo::test
