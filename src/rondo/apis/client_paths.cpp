// Names fields of translated messages as the client sent them.
#include <algorithm>
#include <charconv>

#include "apis/request.h"

namespace rondo::apis {
namespace {

constexpr std::string_view kMessages = "messages[";
constexpr std::string_view kContent = ".content";
constexpr std::string_view kCalls = ".tool_calls[";
constexpr std::string_view kReasoningPath = ".reasoning_content";

// Reads the number of "NUMBER]rest", and leaves the rest; nullopt if there is none.
std::optional<std::size_t> take_index(std::string_view& text) {
  std::size_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end == text.data() + text.size() || *end != ']') return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return out;
}

using Field = chat::PartPlace::Field;

class Paths {
 public:
  Paths(const GenerateRequest& request, std::size_t message, std::optional<std::size_t> byte)
      : request_(request), message_(message), byte_(byte) {}

  [[nodiscard]] std::string of(std::string_view rest) const {
    if (rest == kContent) return content();
    if (rest == kReasoningPath) return of_part(find(Field::kReasoning, 0), "");
    if (!rest.starts_with(kCalls)) return place_of(request_, message_);
    std::string_view tail = rest.substr(kCalls.size());
    const auto call = take_index(tail);
    if (!call) return place_of(request_, message_);
    const bool is_responses = request_.api == chat::Api::kResponses;
    if (tail == ".function.name") return of_part(find(Field::kCall, *call), "name");
    if (tail == ".id") return of_part(find(Field::kCall, *call), is_responses ? "call_id" : "id");
    return of_part(find(Field::kCall, *call), "");
  }

  // A text in the Chat API may be in parts too.
  [[nodiscard]] std::string in_chat(std::string_view path) const {
    const json::Value* content = message_ < request_.messages.size() && path.ends_with(kContent)
                                     ? request_.messages[message_].find("content")
                                     : nullptr;
    if (content == nullptr || !content->is_array() || !byte_) return std::string(path);
    std::size_t end = 0;
    for (std::size_t i = 0; i < content->as_array().size(); ++i) {
      end += content->as_array()[i].find_string("text").value_or("").size();
      if (*byte_ < end) return std::string(path) + "[" + std::to_string(i) + "].text";
    }
    return std::string(path);
  }

 private:
  [[nodiscard]] const chat::PartPlace* find(Field field, std::size_t index) const {
    const auto found = std::ranges::find_if(request_.places, [&](const chat::PartPlace& part) {
      return part.message == message_ && part.field == field && part.index >= index;
    });
    return found == request_.places.end() ? nullptr : &*found;
  }

  // The part that has the byte; the last one, if it is behind all of them.
  [[nodiscard]] std::string content() const {
    const chat::PartPlace* found = nullptr;
    for (const chat::PartPlace& part : request_.places) {
      if (part.message != message_ || part.field != Field::kContent) continue;
      if (found != nullptr && !byte_) return place_of(request_, message_, "content");
      found = &part;
      if (byte_ && *byte_ < part.index) break;
    }
    return of_part(found, "");
  }

  [[nodiscard]] std::string of_part(const chat::PartPlace* part, std::string_view member) const {
    if (part == nullptr) return place_of(request_, message_);
    std::string out = place_of_entry(request_, part->entry);
    if (part->entry < 0 ? part->part < 0 : is_of_earlier(out)) return out;
    if (!part->list.empty()) out += "." + std::string(part->list);
    if (part->part >= 0) out += "[" + std::to_string(part->part) + "]";
    const std::string_view last = member.empty() ? part->member : member;
    return last.empty() ? out : out + "." + std::string(last);
  }

  [[nodiscard]] bool is_of_earlier(const std::string& place) const { return !place.ends_with(']'); }

  const GenerateRequest& request_;
  std::size_t message_;
  std::optional<std::size_t> byte_;
};

}  // namespace

std::string client_path(const GenerateRequest& request, std::string_view path, std::optional<std::size_t> byte) {
  if (!path.starts_with(kMessages)) return std::string(path);
  std::string_view rest = path.substr(kMessages.size());
  const auto message = take_index(rest);
  if (!message) return std::string(path);
  const Paths paths(request, *message, byte);
  return request.api == chat::Api::kChat ? paths.in_chat(path) : paths.of(rest);
}

}  // namespace rondo::apis
