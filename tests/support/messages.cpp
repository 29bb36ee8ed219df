#include "tests/support/messages.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "json/parse.h"
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

std::vector<ArgumentCase> argument_cases() {
  std::vector<ArgumentCase> cases;
  const std::string text = files::read(RONDO_SOURCE_DIR "/tests/golden/format/kinds.jsonl").value();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const json::Value row = json::parse(text.substr(begin, end - begin)).value();
    begin = end + 1;
    for (const json::Value& value : row.find("values")->as_array()) {
      const std::string kind(*row.find_string("kind"));
      cases.push_back({kind, {"", "", {json::Object{{"k", value}}}}});
      cases.push_back({kind, {"", "", {json::Object{{"a", "x"}, {"k", value}, {"z", 1}}}}});
      cases.push_back({kind, {"", "", {json::Object{{"q", "x"}}, json::Object{{"a", 1}, {"k", value}}}}});
    }
  }
  return cases;
}

json::Value schema_of(const json::Value& value, bool is_closed) {
  json::Object schema{{"type", type_name(value)}, {"description", "d"}};
  if (value.is_object()) {
    json::Object properties;
    json::Array required;
    for (const json::Member& member : value.as_object()) {
      properties.set(member.key, schema_of(member.value, is_closed));
      required.emplace_back(member.key);
    }
    schema.set("properties", std::move(properties));
    if (is_closed) {
      schema.set("required", std::move(required));
      schema.set("additionalProperties", false);
    }
  }
  if (value.is_array()) {
    json::Array items;
    for (const json::Value& item : value.as_array()) {
      json::Value of_item = schema_of(item, is_closed);
      if (std::find(items.begin(), items.end(), of_item) == items.end()) items.push_back(std::move(of_item));
    }
    if (items.size() == 1) schema.set("items", items[0]);
    if (items.size() > 1) schema.set("items", json::Object{{"anyOf", std::move(items)}});
  }
  return json::Value(std::move(schema));
}

json::Value tool_of(const std::string& name, json::Object properties, bool is_closed) {
  json::Object parameters{{"type", "object"}, {"properties", std::move(properties)}, {"required", json::Array{}}};
  if (is_closed) parameters.set("additionalProperties", false);
  return json::Object{
      {"type", "function"},
      {"function", json::Object{{"name", name}, {"description", "d"}, {"parameters", std::move(parameters)}}}};
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
