// Conversations in the message JSON of the public chat APIs, and the message that a parser makes.
//
// Messages are passed to templates as they were sent, so they stay JSON; this folder checks their shape and knows the
// field names (role, content, reasoning_content, tool_calls, ...).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::chat {

// The input of one render.
struct Conversation {
  json::Array messages;              // objects
  std::optional<json::Value> tools;  // an array, when given
  std::optional<json::Value> documents;
  bool add_generation_prompt = false;
  // Name of the field of the last message that the model continues ("content", ...).
  std::optional<std::string> continue_final_message;
  json::Object kwargs;  // further template variables; they win over all others
  std::optional<std::string> bos_token;
  std::optional<std::string> eos_token;
};

// Whether a message without a `role`, or with one that is no string, is refused or left to the template.
enum class RoleCheck : std::uint8_t { kRequired, kAsGiven };

// `messages` must be an array of objects, each with a string `role` (unless kAsGiven).  `what` names the array in the
// error: "messages[2].role must be a string, found an integer".  Fails with kInvalidArgument.
[[nodiscard]] Status check_messages(const json::Value& messages, const std::string& what,
                                    RoleCheck roles = RoleCheck::kRequired);

// `value` must be an array of objects.  Fails with kInvalidArgument, as above.
[[nodiscard]] Status check_objects(const json::Value& value, const std::string& what);

// True for the roles of the public chat APIs: system, developer, user, assistant, tool, function.
[[nodiscard]] bool is_api_role(std::string_view role);

// True for the names that public APIs give a call's arguments; models take one for the other.
[[nodiscard]] bool is_arguments_key(std::string_view key);
// The key under which a call's object says that it is one, and the key that holds name and arguments there.
inline constexpr std::string_view kCallTypeKey = "type";
inline constexpr std::string_view kCallFunctionKey = "function";
inline constexpr std::string_view kCallIdKey = "id";
inline constexpr std::string_view kCallIndexKey = "index";

// {"type": "text", "text": `text`}
[[nodiscard]] json::Value text_part(std::string_view text);

// The object that holds a call's name and arguments: its `function`, or the call itself.
[[nodiscard]] const json::Value& function_of(const json::Value& call);
[[nodiscard]] json::Value& function_of(json::Value& call);

// True for a text or list that holds something; false for anything else, and for nullptr.
[[nodiscard]] bool is_filled(const json::Value* value);

// True if a message carries something that a prompt should show: text, content parts, reasoning or tool calls.
[[nodiscard]] bool has_content(const json::Value& message);

// Why a tool call is not fine.
enum class CallStatus { kOk, kInvalidJson, kUnclosed, kMalformed, kUnknownTool };
[[nodiscard]] std::string_view to_string(CallStatus status);

// What is the matter with one argument of a call that can be read; such a call is kMalformed at best.
struct CallProblem {
  enum class Kind : std::uint8_t {
    kSwallowedTag,      // its value holds the tag of another parameter: what closes it was forgotten
    kUnknownAttribute,  // its tag has more, or less, than the format writes there
    kWrongType,         // the tool's schema wants another type
    kUnknownParameter,  // the tool has no such parameter
  };
  Kind kind = Kind::kSwallowedTag;
  std::string parameter;  // "" where it is about all arguments
  std::string sentence;
};
[[nodiscard]] std::string_view to_string(CallProblem::Kind kind);

struct ToolCall {
  std::optional<std::string> id;  // only if the model wrote one
  std::string name;
  std::string arguments;  // JSON text: the model's own characters where the format carries JSON
  CallStatus status = CallStatus::kOk;
  std::vector<CallProblem> problems;
  std::size_t raw_begin = 0;  // bytes of the parsed text
  std::size_t raw_end = 0;
};

// What a completion says.
struct AssistantMessage {
  std::string content;
  std::optional<std::string> reasoning;  // nullopt: there was no reasoning block
  std::string reasoning_field;           // under which only this template reads it; "" where it has a name of the APIs
  std::vector<ToolCall> tool_calls;
  bool complete = false;  // false if something that was opened is still open
};

// What an id of to_history() begins with, where the model wrote none; the call's number follows.
inline constexpr std::string_view kHandedOutId = "call_";

// The message in OpenAI's shape, for use as history: role, content, reasoning_content (and the same under reasoning_field),
// tool_calls with ids handed out as "call_<index>" (from `first_call_index` on) where the model wrote none.
[[nodiscard]] json::Value to_history(const AssistantMessage& message, std::size_t first_call_index);

// A tool definition's function name and JSON schema of its parameters; accepts {"type":"function","function":{...}}
// and the bare function object.
struct ToolDefinition {
  std::string name;
  json::Value parameters;  // null when absent
};
[[nodiscard]] std::vector<ToolDefinition> tool_definitions(const json::Value& tools);

}  // namespace rondo::chat
