#include "audit/messages.h"

#include <algorithm>
#include <utility>

#include "json/print.h"

namespace rondo::audit {

json::Value message_of(const format::Format& format, const Saying& saying) {
  json::Object out{{"role", "assistant"}};
  const format::InputShape& shape = format.input;
  if (!shape.reasoning_part.empty() && !saying.reasoning.empty()) {
    json::Array parts{json::Object{{"type", shape.reasoning_part}, {shape.reasoning_part, saying.reasoning}}};
    if (!saying.content.empty()) parts.push_back(json::Object{{"type", "text"}, {"text", saying.content}});
    out.set("content", std::move(parts));
  } else if (!saying.content.empty() || saying.calls.empty() || shape.no_content == format::NoContent::kEmpty) {
    out.set("content", saying.content);
  } else if (shape.no_content == format::NoContent::kNull) {
    out.set("content", nullptr);
  }
  if (!saying.reasoning.empty() && shape.reasoning_part.empty()) {
    out.set(shape.reasoning_field.empty() ? "reasoning_content" : shape.reasoning_field, saying.reasoning);
  }
  json::Array calls;
  for (const SaidCall& call : saying.calls) {
    json::Object function{{"name", call.name}, {"arguments", call.arguments}};
    if (shape.arguments_as_text) function.set("arguments", json::to_python(call.arguments, {}));
    calls.push_back(json::Object{{"id", call.id}, {"type", "function"}, {"function", std::move(function)}});
  }
  if (!calls.empty()) out.set("tool_calls", std::move(calls));
  return json::Value(std::move(out));
}

std::string call_id(const format::Format& format, const std::string& name, std::size_t index) {
  const auto& pieces = format.calls.pieces;
  const bool is_named = std::ranges::any_of(
      pieces, [](const format::CallPiece& piece) { return piece.kind == format::CallPiece::Kind::kNameInId; });
  if (is_named) return "functions." + name + ":" + std::to_string(index);
  // Nine letters and digits: the strictest rule that templates check ids by.
  std::string digits = std::to_string(index % 1000);
  return "rondo0" + std::string(3 - digits.size(), '0') + digits;
}

std::string canonical(const json::Value& value) {
  json::PythonOptions options;
  options.sort_keys = true;
  return json::to_python(value, options);
}

bool is_reasoning_field(std::string_view field) {
  return field == "reasoning_content" || field == "thinking" || field == "reasoning";
}

}  // namespace rondo::audit
