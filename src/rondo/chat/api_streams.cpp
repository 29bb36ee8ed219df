// Joins recorded streams of replies into the replies that they were.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chat/api_parts.h"
#include "json/parse.h"

namespace rondo::chat {
namespace {

// More calls or blocks than any reply has.  Larger numbers mean damage.
constexpr std::int64_t kMostParts = 4096;

void append_text(json::Object& object, std::string_view key, const json::Value* piece) {
  if (piece == nullptr || !piece->is_string()) return;
  json::Value* text = object.find(key);
  if (text == nullptr || !text->is_string()) {
    object.set(key, *piece);
    return;
  }
  object.set(key, text->as_string() + piece->as_string());
}

// The element with number `index`, created if it is missing; nullptr for an impossible number.
json::Object* element(json::Array& array, std::optional<std::int64_t> index) {
  if (!index || *index < 0 || *index >= kMostParts) return nullptr;
  const auto at = static_cast<std::size_t>(*index);
  while (array.size() <= at) array.emplace_back(json::Object());
  return &array[at].as_object();
}

// Chat Completions: each event is {"choices": [{"delta": {...}}]}.
class ChatStream {
 public:
  void add(const json::Value& event) {
    if (id_.empty()) id_ = first_text(event, {"id"});
    if (const json::Value* usage = event.find("usage"); usage != nullptr && usage->is_object()) usage_ = *usage;
    const json::Value* choices = event.find("choices");
    if (!choices->is_array() || choices->as_array().empty()) return;
    const json::Value* delta = choices->as_array()[0].find("delta");
    if (delta == nullptr || !delta->is_object()) return;
    for (const std::string_view key : {"content", "reasoning_content", "reasoning"})
      append_text(message_, key, delta->find(key));
    if (const json::Value* call = delta->find("function_call"); call != nullptr && call->is_object()) {
      json::Value* found = message_.find("function_call");
      json::Object& joined = (found == nullptr ? message_.set("function_call", json::Object()) : *found).as_object();
      for (const std::string_view key : {"name", "arguments"}) append_text(joined, key, call->find(key));
    }
    const json::Value* calls = delta->find("tool_calls");
    if (calls == nullptr || !calls->is_array()) return;
    for (const json::Value& piece : calls->as_array()) add_call(piece);
  }

  json::Value take() {
    if (!calls_.empty()) message_.set("tool_calls", std::move(calls_));
    json::Object body{{"id", id_}, {"choices", json::Array{json::Object{{"message", std::move(message_)}}}}};
    if (usage_) body.set("usage", *std::move(usage_));
    return body;
  }

 private:
  void add_call(const json::Value& piece) {
    json::Object* call = element(calls_, whole(&piece, "index"));
    if (call == nullptr) return;
    if (const auto id = piece.find_string("id"); id && !id->empty()) call->set("id", *id);
    call->set("type", "function");
    json::Value* found = call->find("function");
    json::Object& function = (found == nullptr ? call->set("function", json::Object()) : *found).as_object();
    const json::Value* said = piece.find("function");
    if (said == nullptr) return;
    append_text(function, "name", said->find("name"));
    append_text(function, "arguments", said->find("arguments"));
  }

  std::string id_;
  json::Object message_;
  json::Array calls_;
  std::optional<json::Value> usage_;
};

// Messages: message_start, content_block_start, content_block_delta, message_delta.
class MessagesStream {
 public:
  void add(const json::Value& event) {
    const std::string type = first_text(event, {"type"});
    if (type == "message_start") {
      const json::Value* message = event.find("message");
      if (message != nullptr && message->is_object()) body_ = message->as_object();
    } else if (type == "content_block_start") {
      const json::Value* block = event.find("content_block");
      json::Object* slot = element(blocks_, whole(&event, "index"));
      if (slot != nullptr && block != nullptr && block->is_object()) *slot = block->as_object();
    } else if (type == "content_block_delta") {
      const json::Value* delta = event.find("delta");
      json::Object* slot = element(blocks_, whole(&event, "index"));
      if (slot == nullptr || delta == nullptr) return;
      append_text(*slot, "text", delta->find("text"));
      append_text(*slot, "thinking", delta->find("thinking"));
      append_text(*slot, "input_text", delta->find("partial_json"));
    }
  }

  json::Value take() {
    for (json::Value& block : blocks_) {
      json::Object& fields = block.as_object();
      const json::Value* text = fields.find("input_text");
      if (text == nullptr || !text->is_string()) continue;
      auto input = json::parse(text->as_string());
      if (input.ok()) fields.set("input", std::move(input).value());
      fields.erase("input_text");
    }
    body_.set("content", std::move(blocks_));
    return std::move(body_);
  }

 private:
  json::Object body_;
  json::Array blocks_;
};

}  // namespace

json::Array read_event_stream(std::string_view text) {
  json::Array out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with("data:")) continue;
    line.remove_prefix(5);
    if (auto value = json::parse(line); value.ok()) out.push_back(std::move(value).value());
  }
  return out;
}

std::optional<json::Value> join_stream(const json::Array& events) {
  ChatStream chat;
  MessagesStream messages;
  bool is_chat = false;
  bool is_messages = false;
  for (const json::Value& event : events) {
    const json::Value* response = event.find("response");
    if (response != nullptr && first_text(event, {"type"}) == "response.completed") return *response;
    if (event.find("choices") != nullptr) {
      is_chat = true;
      chat.add(event);
    } else if (event.find("type") != nullptr) {
      is_messages = is_messages || first_text(event, {"type"}) == "message_start";
      messages.add(event);
    }
  }
  if (is_chat) return chat.take();
  return is_messages ? std::optional(messages.take()) : std::nullopt;
}

}  // namespace rondo::chat
