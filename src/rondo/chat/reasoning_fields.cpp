#include "chat/reasoning_fields.h"

#include <algorithm>

namespace rondo::chat {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Takes one pair of tags and what is between them from the beginning; nullopt if none is there.
std::optional<std::string_view> take_tagged(std::string_view& text) {
  const std::string_view from = text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
  if (from.empty() || from.front() != '<') return std::nullopt;
  for (const std::string_view tag : kReasoningTags) {
    const std::string opener = "<" + std::string(tag) + ">";
    const std::string closer = "</" + std::string(tag) + ">";
    const std::size_t end = from.starts_with(opener) ? from.find(closer, opener.size()) : std::string_view::npos;
    if (end == std::string_view::npos) continue;
    text = from.substr(end + closer.size());
    return from.substr(opener.size(), end - opener.size());
  }
  return std::nullopt;
}

}  // namespace

TaggedText split_tagged(std::string_view text) {
  TaggedText out{.reasoning = "", .rest = text};
  while (const auto reasoning = take_tagged(out.rest)) out.reasoning += *reasoning;
  return out;
}

void untag_reasoning(json::Value& message) {
  const std::string text(message.find_string("content").value_or(""));
  const TaggedText split = split_tagged(text);
  if (split.reasoning.empty()) return;
  message.as_object().set("content", std::string(split.rest));
  message.as_object().set(kReasoningFields.front(), split.reasoning);
}

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
