// The calls of a message that goes on inside the arguments of the last one.  Internal to core/.
#pragma once

#include <string>
#include <vector>

#include "chat/conversation.h"
#include "core/prepared.h"
#include "format/format.h"
#include "rondo/result.h"

namespace rondo::core {

struct CallPart {
  bool is_data = false;  // the message's own; else the template's
  std::string text;
};

// The calls of the last message of `conversation`, from what opens them up to the end of the last one's arguments as given.
// What is complete is written by the template; a parameter that is cut off, as the format says.  Fails with kTemplateError,
// and as tmpl::apply().  REQUIRES: there is a last message, an object.
[[nodiscard]] Result<std::vector<CallPart>> continued_calls(const Prepared& prepared,
                                                            const chat::Conversation& conversation,
                                                            const format::Format& format);

}  // namespace rondo::core
