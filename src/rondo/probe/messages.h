// Messages and tools of probes.  The order of their members is part of them: templates that print a message as a whole show it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"
#include "format/format.h"
#include "json/value.h"

namespace rondo::probe {

struct SaidCall {
  std::string name;
  json::Object arguments;
  std::string id = {};
};

// What an assistant message is to hold; "" for what it is not to hold.
struct Saying {
  std::string reasoning;
  std::string content;
  std::vector<SaidCall> calls;
};

// {role, content}
[[nodiscard]] json::Value plain_message(std::string_view role, json::Value content);
// {role, tool_call_id, name, content}
[[nodiscard]] json::Value tool_message(std::string_view id, std::string_view name, json::Value content);
// {role, content, the field of the reasoning, tool_calls}, as far as it says something and `shape` has a place for it.
[[nodiscard]] json::Value assistant_message(const format::InputShape& shape, const Saying& saying);
// {id, type, function: {name, arguments}}; no id if there is none.
[[nodiscard]] json::Value tool_call(std::optional<std::string_view> id, std::string_view name, json::Value arguments);

using chat::text_part;
// Every content that is text as a list of one part, and null as an empty list.
[[nodiscard]] json::Array with_parts(json::Array messages);

// The id of call number `index` of a turn, "abcdef000": nine letters and digits, the strictest rule that templates check ids by.
[[nodiscard]] std::string call_id(std::size_t index);
// The same for a conversation of many calls that people may see: "rondo0000".
[[nodiscard]] std::string made_up_id(std::size_t index);
// The id as a model of that format writes it: with the name in it where it carries the name there, else `plain`.
[[nodiscard]] std::string id_of(const format::Format& format, std::string_view name, std::size_t index,
                                std::string plain);

// The tool kSmallTool, and arguments for it: an object, or the same as text.
[[nodiscard]] json::Value small_tool();
[[nodiscard]] json::Value small_arguments(bool as_text);
// kWordTools or kTextTools.
[[nodiscard]] json::Value parsed_tools(std::string_view tools);

}  // namespace rondo::probe
