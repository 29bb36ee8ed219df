#include "tests/support/messages.h"

#include <algorithm>
#include <utility>

#include "json/print.h"

namespace rondo::test {

json::Value message_of(const format::Format& format, const MessageParts& wanted) {
  json::Object out{{"role", "assistant"}};
  if (!format.input.reasoning_part.empty() && !wanted.reasoning.empty()) {
    json::Array parts{
        json::Object{{"type", format.input.reasoning_part}, {format.input.reasoning_part, wanted.reasoning}}};
    if (!wanted.content.empty()) parts.push_back(json::Object{{"type", "text"}, {"text", wanted.content}});
    out.set("content", std::move(parts));
  } else if (!wanted.content.empty()) {
    out.set("content", wanted.content);
  } else if (format.input.no_content != format::NoContent::kAbsent) {
    out.set("content", format.input.no_content == format::NoContent::kNull ? json::Value() : json::Value(""));
  }
  if (!wanted.reasoning.empty() && !format.input.reasoning_field.empty())
    out.set(format.input.reasoning_field, wanted.reasoning);
  const auto& pieces = format.calls.pieces;
  const bool is_named = std::any_of(pieces.begin(), pieces.end(),
                                    [](const auto& piece) { return piece.kind == format::CallPiece::Kind::kNameInId; });
  json::Array list;
  for (std::size_t i = 0; i < wanted.calls.size(); ++i) {
    json::Object function{{"name", wanted.names[i]}, {"arguments", wanted.calls[i]}};
    if (format.input.arguments_as_text) function.set("arguments", json::to_python(json::Value(wanted.calls[i]), {}));
    // Where the id carries the name it must do so here too.
    const std::string id =
        is_named ? "functions." + wanted.names[i] + ":" + std::to_string(i) : "abcdef00" + std::to_string(i);
    list.push_back(json::Object{{"id", id}, {"type", "function"}, {"function", function}});
  }
  if (!list.empty()) out.set("tool_calls", std::move(list));
  return json::Value(std::move(out));
}

const char* type_name(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull: return "null";
    case json::Kind::kBool: return "boolean";
    case json::Kind::kInteger: return "integer";
    case json::Kind::kFloat: return "number";
    case json::Kind::kString: return "string";
    case json::Kind::kArray: return "array";
    case json::Kind::kObject: return "object";
  }
  return "";
}

}  // namespace rondo::test
