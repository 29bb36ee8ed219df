#include "template/continuation.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/printing.h"
#include "base/utf8.h"
#include "chat/reasoning_fields.h"

namespace rondo::tmpl {
namespace {

// The trailing space shows whether the template trims: if it is gone, white space of the text itself may be gone too.
constexpr std::string_view kTag = "CONTINUE_FINAL_MESSAGE_TAG ";
constexpr std::string_view kTagWord = kTag.substr(0, kTag.size() - 1);

// What Python's str.strip() removes.
bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::string_view stripped_end(std::string_view text) {
  while (!text.empty()) {
    std::size_t at = text.size() - 1;
    while (at > 0 && utf8::is_continuation(text[at])) --at;
    if (!is_python_space(utf8::decode(text, at).code_point)) break;
    text = text.substr(0, at);
  }
  return text;
}

std::string_view stripped(std::string_view text) {
  text = stripped_end(text);
  while (!text.empty()) {
    const utf8::Decoded first = utf8::decode(text, 0);
    if (!is_python_space(first.code_point)) break;
    text.remove_prefix(first.size);
  }
  return text;
}

// The names under which the message holds the continued text: reasoning has several (see reasoning aliases).
std::vector<std::string> same_fields(const json::Value& message, const std::string& field, const json::Value& text) {
  if (!chat::is_reasoning_field(field)) return {field};
  std::vector<std::string> fields;
  for (const std::string_view name : chat::kReasoningFields) {
    const json::Value* other = message.find(name);
    if (other != nullptr && *other == text) fields.emplace_back(name);
  }
  return fields;
}

// The last content part that has a text, or nullptr.
json::Value* last_text_part(json::Value& parts) {
  json::Array& elements = parts.as_array();
  for (auto part = elements.rbegin(); part != elements.rend(); ++part) {
    json::Value* text = part->is_object() ? part->as_object().find("text") : nullptr;
    if (text != nullptr && text->is_string()) return text;
  }
  return nullptr;
}

// What the render reports about the message must not mention the tag.
void forget_tag(jinja::Rendered& rendered, std::size_t end) {
  rendered.text = rendered.text.slice(0, end);
  std::erase_if(rendered.generation_blocks, [end](const auto& block) { return block.first >= end; });
  for (auto& block : rendered.generation_blocks) block.second = std::min(block.second, end);
}

}  // namespace

Result<Continuation> Continuation::mark(json::Array& messages, const std::string& field,
                                        const std::string& template_source) {
  if (messages.empty()) return Error(ErrorCode::kTemplateError, "there is no final message to continue");
  const std::string place = "messages[" + std::to_string(messages.size() - 1) + "]." + printing::excerpt(field);
  json::Value& message = messages.back();
  json::Value* text = message.is_object() ? message.as_object().find(field) : nullptr;
  if (text == nullptr || text->is_null())
    return Error(ErrorCode::kTemplateError, place + ", which is to be continued, is absent");

  const std::vector<std::string> fields = same_fields(message, field, *text);
  const auto is_mentioned = [&](const std::string& name) { return template_source.find(name) != std::string::npos; };
  if (std::none_of(fields.begin(), fields.end(), is_mentioned)) {
    return Error(ErrorCode::kTemplateError,
                 place + " cannot be continued: the template never uses `" + printing::excerpt(field) + "`");
  }
  Continuation continuation;
  continuation.field_ = place;
  if (text->is_array()) {
    json::Value* part = last_text_part(*text);
    if (part == nullptr) return Error(ErrorCode::kTemplateError, place + " cannot be continued: it has no text part");
    continuation.text_ = part->as_string();
    *part = json::Value(continuation.text_ + std::string(kTag));
    return continuation;
  }
  if (!text->is_string())
    return Error(ErrorCode::kTemplateError,
                 place + " cannot be continued: it is " + std::string(describe(text->kind())));
  continuation.text_ = text->as_string();
  for (const std::string& name : fields) message.as_object().set(name, continuation.text_ + std::string(kTag));
  return continuation;
}

Status Continuation::cut(jinja::Rendered& rendered) const {
  const std::string_view bytes = rendered.text.bytes();
  const std::size_t tag = bytes.rfind(kTagWord);
  if (tag == std::string_view::npos || bytes.find(stripped(text_)) == std::string_view::npos) {
    return Error(ErrorCode::kTemplateError, "the template does not write " + field_ + ", which is to be continued");
  }
  const bool keeps_space = bytes.substr(tag, kTag.size()) == kTag;
  const std::size_t end = keeps_space ? tag : stripped_end(bytes.substr(0, tag)).size();
  for (jinja::Strip& strip : rendered.strips) {
    if (rendered.origins.paths.to_string(strip.path) != field_) continue;
    strip.begin = std::min(strip.begin, static_cast<std::uint32_t>(text_.size()));
    strip.end = std::min(strip.end, static_cast<std::uint32_t>(text_.size()));
  }
  std::erase_if(rendered.strips, [](const jinja::Strip& strip) { return strip.begin == strip.end; });
  forget_tag(rendered, end);
  return Done{};
}

}  // namespace rondo::tmpl
