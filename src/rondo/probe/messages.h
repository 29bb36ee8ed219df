// The messages and tools of probes.  The order of members matters: a template that prints a whole message shows it.
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

// The content of an assistant message.  "" leaves a part out.
struct Saying {
  std::string reasoning;
  std::string content;
  std::vector<SaidCall> calls;
};

// {role, content}
[[nodiscard]] json::Value plain_message(std::string_view role, json::Value content);
// {role, tool_call_id, name, content}
[[nodiscard]] json::Value tool_message(std::string_view id, std::string_view name, json::Value content);
// {role, content, the field of the reasoning, tool_calls}, as far as `saying` has them and `shape` has a place for
// them.
[[nodiscard]] json::Value assistant_message(const format::InputShape& shape, const Saying& saying);
// {id, type, function: {name, arguments}}; no id if there is none.
[[nodiscard]] json::Value tool_call(std::optional<std::string_view> id, std::string_view name, json::Value arguments);

using chat::text_part;
// Makes a content that is text a list of one part.
void give_parts(json::Value& message);
// Returns the messages with every text content as a list of one part, and null as an empty list.
[[nodiscard]] json::Array with_parts(json::Array messages);

// Returns the id of call `index` of a turn, "abcdef000": nine letters and digits, which satisfies the strictest check
// of any template.
[[nodiscard]] std::string call_id(std::size_t index);
// Returns an id for conversations with many calls that people may see: "rondo0000".
[[nodiscard]] std::string made_up_id(std::size_t index);
// Returns the id as a model of that format writes it: with the name in it if the format puts it there, otherwise
// `plain`.
[[nodiscard]] std::string id_of(const format::Format& format, std::string_view name, std::size_t index,
                                std::string plain);

// The tool kSmallTool, and arguments for it as an object or as text.
[[nodiscard]] json::Value small_tool();
[[nodiscard]] json::Value small_arguments(bool as_text);
// Parses kWordTools or kTextTools.
[[nodiscard]] json::Value parsed_tools(std::string_view tools);

}  // namespace rondo::probe
