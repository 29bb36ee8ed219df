// Converts between the public types and the library's own.  Internal to facade/.
#pragma once

#include <string>

#include "chat/conversation.h"
#include "core/model.h"
#include "json/value.h"
#include "rondo/model.h"
#include "rondo/result.h"

namespace rondo {

// Gives the library's own classes access to the public ones.
struct Access {
  [[nodiscard]] static const std::shared_ptr<const core::Model>& model(const Model& model) { return model.model_; }
};

}  // namespace rondo

namespace rondo::facade {

// Makes a call from a chat.  Fails with kJson or kInvalidArgument, which names the field.
[[nodiscard]] Result<core::Call> call_of(const Chat& chat);
// Makes the call of a prompt.  Also fails if messages are missing; an empty array is allowed.
[[nodiscard]] Result<core::Call> prompt_call_of(const Chat& chat);
// Parses a JSON array of messages; `field` names it in errors.
[[nodiscard]] Result<json::Array> messages_of(const std::string& text, const char* field, chat::RoleCheck roles);

[[nodiscard]] Parsed parsed_of(const chat::AssistantMessage& message);

}  // namespace rondo::facade
