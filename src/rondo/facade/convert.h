// Between the public types and the library's own.  Internal to facade/.
#pragma once

#include <string>

#include "chat/conversation.h"
#include "core/model.h"
#include "json/value.h"
#include "rondo/model.h"
#include "rondo/result.h"

namespace rondo {

// The way into public classes for the library's own.
struct Access {
  [[nodiscard]] static const std::shared_ptr<const core::Model>& model(const Model& model) { return model.model_; }
};

}  // namespace rondo

namespace rondo::facade {

// Fails with kJson or kInvalidArgument, naming the field.
[[nodiscard]] Result<core::Call> call_of(const Chat& chat);
// The same for a prompt of its own, which fails without messages; an empty array of them is one.
[[nodiscard]] Result<core::Call> prompt_call_of(const Chat& chat);
// A JSON array of messages; `field` names it in errors.
[[nodiscard]] Result<json::Array> messages_of(const std::string& text, const char* field, chat::RoleCheck roles);

[[nodiscard]] Parsed parsed_of(const chat::AssistantMessage& message);

}  // namespace rondo::facade
