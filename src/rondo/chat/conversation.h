// Conversations in the message JSON of the public chat APIs, and the message that a parser produces.
//
// Templates get messages as they were sent, so messages stay JSON.  This folder checks their shape and knows the field
// names (role, content, reasoning_content, tool_calls, ...).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/members.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::chat {

// The input of one render.
struct Conversation {
  json::Array messages;              // objects
  std::optional<json::Value> tools;  // an array, if given
  std::optional<json::Value> documents;
  bool add_generation_prompt = false;
  // The field of the last message that the model continues ("content", ...).
  std::optional<std::string> continue_final_message;
  json::Object kwargs;  // further template variables; they override all others
  std::optional<std::string> bos_token;
  std::optional<std::string> eos_token;
};

// What happens to a message whose `role` is missing or not a string: it is refused, or left to the template.
enum class RoleCheck : std::uint8_t { kRequired, kAsGiven };

// Checks that `messages` is an array of objects, each with a string `role` (unless kAsGiven).  `what` names the array
// in the error: "messages[2].role must be a string, found an integer".  Fails with kInvalidArgument.
[[nodiscard]] Status check_messages(const json::Value& messages, const std::string& what,
                                    RoleCheck roles = RoleCheck::kRequired);
[[nodiscard]] Status check_messages(const json::Array& messages, const std::string& what,
                                    RoleCheck roles = RoleCheck::kRequired);

// Checks that `value` is an array of objects.  Fails with kInvalidArgument, as above.
[[nodiscard]] Status check_objects(const json::Value& value, const std::string& what);

// Returns true for the roles of the public chat APIs: system, developer, user, assistant, tool, function.
[[nodiscard]] bool is_api_role(std::string_view role);

// Returns true for the names that public APIs give to a call's arguments.  Models confuse these names.
[[nodiscard]] bool is_arguments_key(std::string_view key);
// The key with which an object says that it is a call, and the key of the object with its name and arguments.
inline constexpr std::string_view kCallTypeKey = "type";
inline constexpr std::string_view kCallFunctionKey = "function";
inline constexpr std::string_view kCallIdKey = "id";
inline constexpr std::string_view kCallIndexKey = "index";
// Returns whether calls of the public APIs have a member `key` beside the name and the arguments.
[[nodiscard]] bool is_usual_call_key(std::string_view key);

// Returns {"type": "text", "text": `text`}.
[[nodiscard]] json::Value text_part(std::string_view text);

// Returns the object with a call's name and arguments: its `function`, or the call itself.
[[nodiscard]] const json::Value& function_of(const json::Value& call);
[[nodiscard]] json::Value& function_of(json::Value& call);

// Returns true for a text or list that is not empty; false for anything else, and for nullptr.
[[nodiscard]] bool is_filled(const json::Value* value);

// Returns the text of a message: its content, or the text of its text parts.
[[nodiscard]] std::string content_text(const json::Value& message);

// Returns true if a message has something that a prompt should show: text, content parts, reasoning or tool calls.
[[nodiscard]] bool has_content(const json::Value& message);

// The state of a tool call.
enum class CallStatus { kOk, kInvalidJson, kUnclosed, kMalformed, kUnknownTool };
[[nodiscard]] std::string_view to_string(CallStatus status);

// A problem with one argument of a readable call.  Such a call is kMalformed, unless its status is worse.
struct CallProblem {
  enum class Kind : std::uint8_t {
    kSwallowedTag,      // its value contains the tag of another parameter: the closing tag was forgotten
    kUnknownAttribute,  // its tag has more or less than the format writes there
    kWrongType,         // the tool's schema requires another type
    kUnknownParameter,  // the tool has no such parameter
    kUnclosedValue,     // the call ends without having closed the value
    kUnreadable,        // a parameter could not be read; its text is only in the call's range
  };
  Kind kind = Kind::kSwallowedTag;
  std::string parameter;  // "" if the problem concerns all arguments
  std::string sentence;
};
inline constexpr json::Names<CallProblem::Kind, 6> kProblemNames{{
    {CallProblem::Kind::kSwallowedTag, "swallowed_tag"},
    {CallProblem::Kind::kUnknownAttribute, "unknown_attribute"},
    {CallProblem::Kind::kWrongType, "wrong_type"},
    {CallProblem::Kind::kUnknownParameter, "unknown_parameter"},
    {CallProblem::Kind::kUnclosedValue, "unclosed_value"},
    {CallProblem::Kind::kUnreadable, "unreadable_parameter"},
}};
[[nodiscard]] std::string_view to_string(CallProblem::Kind kind);

struct ToolCall {
  std::optional<std::string> id;  // absent unless the model wrote one
  std::string name;
  std::string arguments;  // JSON text; in the model's own characters if the format writes arguments as JSON
  CallStatus status = CallStatus::kOk;
  std::vector<CallProblem> problems;
  std::size_t raw_begin = 0;  // range of the parsed text
  std::size_t raw_end = 0;
};

// The content of a completion.
struct AssistantMessage {
  std::string content;
  std::optional<std::string> reasoning;  // nullopt: there was no reasoning block
  std::string reasoning_field;  // the field in which only this template reads it; "" if an API has a name for it
  std::vector<ToolCall> tool_calls;
  bool complete = false;    // false if the text ended inside something that it had opened
  std::string behind_stop;  // text after the stop, which is not part of the turn; markup alone is left out
};

// The beginning of an id that to_history() makes for a call without one; the call's number follows.
inline constexpr std::string_view kHandedOutId = "call_";

// Returns the message in OpenAI's form, for use as history: role, content, reasoning_content (repeated under
// reasoning_field) and tool_calls.  A call without an id gets "call_<index>", counted from `first_call_index`.
[[nodiscard]] json::Value to_history(const AssistantMessage& message, std::size_t first_call_index);

// The name and the JSON schema of the parameters in a tool definition.  Accepts {"type":"function","function":{...}}
// and the bare function object.
struct ToolDefinition {
  std::string name;
  json::Value parameters;  // null when absent
};
[[nodiscard]] std::vector<ToolDefinition> tool_definitions(const json::Value& tools);

}  // namespace rondo::chat
