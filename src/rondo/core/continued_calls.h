// The calls of a last message that the model continues inside the arguments of its last call.  Internal to core/.
#pragma once

#include <string>
#include <vector>

#include "chat/conversation.h"
#include "core/prepared.h"
#include "format/format.h"
#include "rondo/result.h"

namespace rondo::core {

struct CallPart {
  bool is_data = false;  // true: the message's own text; false: the template's
  std::string text;
};

// Returns the calls of the last message of `conversation`, from the text that opens them to the end of the last call's
// arguments as given.  The template writes what is complete.  A parameter that is cut off is written by the format.
// Fails with kTemplateError, or as tmpl::apply() does.
//
// REQUIRES: there is a last message, and it is an object.
[[nodiscard]] Result<std::vector<CallPart>> continued_calls(const Prepared& prepared,
                                                            const chat::Conversation& conversation,
                                                            const format::Format& format);

}  // namespace rondo::core
