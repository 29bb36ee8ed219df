#include "chat/conversation.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rondo::chat {
namespace {

constexpr std::array<std::string_view, 6> kApiRoles = {"system", "developer", "user", "assistant", "tool", "function"};

Error wrong_type(const std::string& what, std::string_view expected, json::Kind found) {
  return {ErrorCode::kInvalidArgument,
          what + " must be " + std::string(expected) + ", found " + std::string(json::describe(found))};
}

std::string element(const std::string& what, std::size_t index) { return what + "[" + std::to_string(index) + "]"; }

json::Value call_to_history(const ToolCall& call, std::size_t number) {
  json::Object function{{"name", call.name}, {"arguments", call.arguments}};
  // Templates and clients expect an id even if the model wrote none.  The form of a handed-out id shows that (results.h).
  return json::Object{{"id", call.id ? *call.id : std::string(kHandedOutId) + std::to_string(number)},
                      {"type", "function"},
                      {"function", std::move(function)}};
}

Status check_elements(const json::Array& elements, const std::string& what) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (!elements[i].is_object()) return wrong_type(element(what, i), "an object", elements[i].kind());
  }
  return Done{};
}

}  // namespace

Status check_objects(const json::Value& value, const std::string& what) {
  if (!value.is_array()) return wrong_type(what, "an array of objects", value.kind());
  return check_elements(value.as_array(), what);
}

Status check_messages(const json::Value& messages, const std::string& what, RoleCheck roles) {
  if (!messages.is_array()) return wrong_type(what, "an array of objects", messages.kind());
  return check_messages(messages.as_array(), what, roles);
}

Status check_messages(const json::Array& messages, const std::string& what, RoleCheck roles) {
  if (Status objects = check_elements(messages, what); !objects.ok()) return objects;
  if (roles == RoleCheck::kAsGiven) return Done{};
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const json::Value* role = messages[i].find("role");
    if (role == nullptr) return Error(ErrorCode::kInvalidArgument, element(what, i) + " has no `role`");
    if (!role->is_string()) return wrong_type(element(what, i) + ".role", "a string", role->kind());
  }
  return Done{};
}

bool is_api_role(std::string_view role) {
  return std::find(kApiRoles.begin(), kApiRoles.end(), role) != kApiRoles.end();
}

bool is_arguments_key(std::string_view key) { return key == "arguments" || key == "parameters"; }

bool is_usual_call_key(std::string_view key) {
  return key == kCallTypeKey || key == kCallFunctionKey || key == kCallIdKey || key == kCallIndexKey;
}

json::Value text_part(std::string_view text) { return json::Object{{"type", "text"}, {"text", text}}; }

const json::Value& function_of(const json::Value& call) {
  const json::Value* function = call.find(kCallFunctionKey);
  return function != nullptr && function->is_object() ? *function : call;
}

json::Value& function_of(json::Value& call) { return const_cast<json::Value&>(function_of(std::as_const(call))); }

bool is_filled(const json::Value* value) {
  if (value == nullptr) return false;
  if (value->is_string()) return !value->as_string().empty();
  if (value->is_array()) return !value->as_array().empty();
  return false;
}

std::string content_text(const json::Value& message) {
  const json::Value* content = message.find("content");
  if (content == nullptr) return "";
  if (content->is_string()) return content->as_string();
  if (!content->is_array()) return "";
  std::string out;
  for (const json::Value& part : content->as_array()) out += part.find_string("text").value_or("");
  return out;
}

bool has_content(const json::Value& message) {
  for (const std::string_view field : {"content", "reasoning_content", "tool_calls"}) {
    if (is_filled(message.find(field))) return true;
  }
  return false;
}

std::string_view to_string(CallStatus status) {
  switch (status) {
    case CallStatus::kOk: return "ok";
    case CallStatus::kInvalidJson: return "invalid_json";
    case CallStatus::kUnclosed: return "unclosed";
    case CallStatus::kMalformed: return "malformed";
    case CallStatus::kUnknownTool: return "unknown_tool";
  }
  return "ok";
}

std::string_view to_string(CallProblem::Kind kind) { return json::name_in(kProblemNames, kind); }

json::Value to_history(const AssistantMessage& message, std::size_t first_call_index) {
  json::Object out{{"role", "assistant"}, {"content", message.content}};
  if (message.reasoning) out.set("reasoning_content", *message.reasoning);
  // The template may read reasoning under a name of its own; clients read the usual one.
  if (message.reasoning && !message.reasoning_field.empty()) out.set(message.reasoning_field, *message.reasoning);
  if (message.tool_calls.empty()) return out;
  json::Array calls;
  for (const ToolCall& call : message.tool_calls)
    calls.push_back(call_to_history(call, first_call_index + calls.size()));
  out.set("tool_calls", std::move(calls));
  return out;
}

std::vector<ToolDefinition> tool_definitions(const json::Value& tools) {
  std::vector<ToolDefinition> definitions;
  if (!tools.is_array()) return definitions;
  for (const json::Value& tool : tools.as_array()) {
    const json::Value* nested = tool.find("function");
    const json::Value& function = nested != nullptr && nested->is_object() ? *nested : tool;
    const auto name = function.find_string("name");
    if (!name) continue;
    const json::Value* parameters = function.find("parameters");
    definitions.push_back({std::string(*name), parameters != nullptr ? *parameters : json::Value()});
  }
  return definitions;
}

}  // namespace rondo::chat
