#include "probe/messages.h"

#include <algorithm>
#include <utility>

#include "json/parse.h"
#include "json/print.h"
#include "probe/words.h"

namespace rondo::probe {
namespace {

// nullopt if the shape has no content beside reasoning or calls.
std::optional<json::Value> content_of(const format::InputShape& shape, const Saying& saying) {
  if (!shape.reasoning_part.empty() && !saying.reasoning.empty()) {
    json::Array parts{json::Object{{"type", shape.reasoning_part}, {shape.reasoning_part, saying.reasoning}}};
    if (!saying.content.empty()) parts.push_back(text_part(saying.content));
    return parts;
  }
  if (!saying.content.empty() || shape.no_content == format::NoContent::kEmpty) return saying.content;
  if (shape.no_content == format::NoContent::kNull) return json::Value();
  return std::nullopt;
}

}  // namespace

json::Value plain_message(std::string_view role, json::Value content) {
  return json::Object{{"role", role}, {"content", std::move(content)}};
}

json::Value tool_message(std::string_view id, std::string_view name, json::Value content) {
  return json::Object{{"role", "tool"}, {"tool_call_id", id}, {"name", name}, {"content", std::move(content)}};
}

json::Value assistant_message(const format::InputShape& shape, const Saying& saying) {
  json::Object out{{"role", "assistant"}};
  if (auto content = content_of(shape, saying)) out.set("content", *std::move(content));
  if (!saying.reasoning.empty() && !shape.reasoning_field.empty()) out.set(shape.reasoning_field, saying.reasoning);
  json::Array calls;
  for (const SaidCall& call : saying.calls) {
    json::Value arguments = call.arguments;
    if (shape.arguments_as_text) arguments = json::to_python(arguments, {});
    calls.push_back(tool_call(call.id, call.name, std::move(arguments)));
  }
  if (!calls.empty()) out.set("tool_calls", std::move(calls));
  return out;
}

json::Value tool_call(std::optional<std::string_view> id, std::string_view name, json::Value arguments) {
  json::Object function{{"name", name}};
  function.set("arguments", std::move(arguments));
  json::Object call;
  if (id) call.set("id", *id);
  call.set("type", "function");
  call.set("function", std::move(function));
  return call;
}

void give_parts(json::Value& message) {
  json::Value* content = message.as_object().find("content");
  if (content != nullptr && content->is_string()) *content = json::Array{text_part(content->as_string())};
}

json::Array with_parts(json::Array messages) {
  for (json::Value& message : messages) {
    give_parts(message);
    json::Value* content = message.as_object().find("content");
    if (content != nullptr && content->is_null()) *content = json::Array{};
  }
  return messages;
}

std::string call_id(std::size_t index) { return "abcdef00" + std::to_string(index); }

std::string made_up_id(std::size_t index) {
  const std::string digits = std::to_string(index % 1000);
  return "rondo0" + std::string(3 - digits.size(), '0') + digits;
}

std::string id_of(const format::Format& format, std::string_view name, std::size_t index, std::string plain) {
  const bool is_named = std::ranges::any_of(format.calls.pieces, [](const format::CallPiece& piece) {
    return piece.kind == format::CallPiece::Kind::kNameInId;
  });
  return is_named ? "functions." + std::string(name) + ":" + std::to_string(index) : std::move(plain);
}

json::Value small_tool() {
  const json::Object text{{"type", "string"}, {"description", "d"}};
  const json::Object parameters{{"type", "object"},
                                {"properties", json::Object{{std::string(kSmallParameter), text}}},
                                {"required", json::Array{kSmallParameter}}};
  return json::Object{
      {"type", "function"},
      {"function", json::Object{{"name", kSmallTool}, {"description", "d"}, {"parameters", parameters}}}};
}

json::Value small_arguments(bool as_text) {
  if (as_text) return R"({"z": "Z"})";
  return json::Object{{"z", "Z"}};
}

json::Value parsed_tools(std::string_view tools) { return json::parse(tools).value(); }

}  // namespace rondo::probe
