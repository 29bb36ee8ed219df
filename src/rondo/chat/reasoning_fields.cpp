#include "chat/reasoning_fields.h"

namespace rondo::chat {

std::optional<std::string> reasoning_in(const json::Value& block) {
  for (const std::string_view key : {"thinking", "reasoning", "text", "summary"}) {
    const json::Value* found = block.find(key);
    if (found != nullptr && found->is_string()) return std::string(found->as_string());
    if (found == nullptr || !found->is_array()) continue;
    std::string text;
    for (const json::Value& part : found->as_array()) text += part.find_string("text").value_or("");
    return text;
  }
  return std::nullopt;
}

std::string take_reasoning_parts(json::Array& content) {
  std::string out;
  std::erase_if(content, [&](const json::Value& part) {
    const std::string_view type = part.find_string("type").value_or("");
    const auto said = type == "thinking" || type == "reasoning" ? reasoning_in(part) : std::nullopt;
    out += said.value_or("");
    return said.has_value();
  });
  return out;
}

}  // namespace rondo::chat
