#include "facade/convert.h"

#include <optional>
#include <utility>

#include "core/fields.h"
#include "json/parse.h"

namespace rondo::facade {
namespace {

// The public headers have no type for JSON, so JSON comes as text, and an empty text is an absent field.  Returns
// nullopt for "".
Result<std::optional<json::Value>> value_of(const std::string& text, const char* field) {
  if (text.empty()) return std::optional<json::Value>();
  auto value = json::parse(text);
  if (value.ok()) return std::optional(std::move(value).value());
  Error error = value.error();
  error.source = field;
  return error;
}

// nullopt for "" and null.
Result<std::optional<json::Value>> objects_of(const std::string& text, const char* field) {
  auto value = value_of(text, field);
  if (!value.ok() || !value.value()) return value;
  if (value.value()->is_null()) return std::optional<json::Value>();
  if (Status shape = chat::check_objects(*value.value(), field); !shape.ok()) return shape.error();
  return value;
}

Error missing(const char* field) {
  return {ErrorCode::kInvalidArgument, std::string("the field `") + field + "` is missing"};
}

Result<json::Object> kwargs_of(const std::string& text) {
  auto value = value_of(text, "kwargs");
  if (!value.ok()) return value.error();
  if (!value.value() || value.value()->is_null()) return json::Object{};
  if (value.value()->is_object()) return value.value()->as_object();
  return Error(ErrorCode::kInvalidArgument,
               "`kwargs` must be an object, found " + std::string(json::describe(value.value()->kind())));
}

}  // namespace

Result<core::Call> call_of(const Chat& chat) {
  core::Call out;
  chat::Conversation& conversation = out.conversation;
  auto messages = objects_of(chat.messages, "messages");
  if (!messages.ok()) return messages.error();
  out.has_messages = messages.value().has_value();
  if (messages.value()) conversation.messages = std::move(messages.value()->as_array());
  auto tools = objects_of(chat.tools, "tools");
  if (!tools.ok()) return tools.error();
  conversation.tools = std::move(tools).value();
  auto documents = objects_of(chat.documents, "documents");
  if (!documents.ok()) return documents.error();
  conversation.documents = std::move(documents).value();
  auto kwargs = kwargs_of(chat.kwargs);
  if (!kwargs.ok()) return kwargs.error();
  conversation.kwargs = std::move(kwargs).value();
  if (!chat.continue_field.empty()) conversation.continue_final_message = chat.continue_field;
  // A continued prompt ends inside its last message, so it opens no new turn.
  conversation.add_generation_prompt = chat.add_generation_prompt && chat.continue_field.empty();
  if (!chat.now.empty()) {
    out.now = core::parse_time(chat.now);
    if (!out.now)
      return Error(ErrorCode::kInvalidArgument,
                   "`now` must be a time like \"2026-03-14T15:09:26\", found \"" + chat.now + "\"");
  }
  return out;
}

Result<core::Call> prompt_call_of(const Chat& chat) {
  auto call = call_of(chat);
  if (call.ok() && !call.value().has_messages) return missing("messages");
  return call;
}

Result<json::Array> messages_of(const std::string& text, const char* field, chat::RoleCheck roles) {
  auto value = value_of(text, field);
  if (!value.ok()) return value.error();
  if (!value.value() || value.value()->is_null()) return missing(field);
  if (Status shape = chat::check_messages(*value.value(), field, roles); !shape.ok()) return shape.error();
  return std::move(value.value()->as_array());
}

Parsed parsed_of(const chat::AssistantMessage& message) {
  Parsed out;
  out.content = message.content;
  out.reasoning = message.reasoning;
  out.complete = message.complete;
  out.behind_stop = message.behind_stop;
  for (const chat::ToolCall& call : message.tool_calls) {
    ParsedCall& said =
        out.tool_calls.emplace_back(call.id, call.name, call.arguments, std::string(chat::to_string(call.status)));
    for (const chat::CallProblem& problem : call.problems)
      said.problems.push_back({std::string(chat::to_string(problem.kind)), problem.parameter, problem.sentence});
  }
  return out;
}

}  // namespace rondo::facade
