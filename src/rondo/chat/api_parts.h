// Parts of the translations in api_request.h.  Internal to chat/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/api_request.h"

namespace rondo::chat {

// Returns the first of these members that is a string and not empty; "" if there is none.
[[nodiscard]] std::string first_text(const json::Value& object, std::initializer_list<std::string_view> keys);

// Returns the integer member `key`; nullopt if there is none.
[[nodiscard]] std::optional<std::int64_t> whole(const json::Value* object, std::string_view key);

// Makes content from parts in the form of the Chat API: "" for no parts, the text for a single text, otherwise a list.
[[nodiscard]] json::Value content_of(json::Array parts);
[[nodiscard]] json::Value image_part(std::string_view url);

// Translates the tools of `body`, with their table and notes.
void set_tools(const json::Value& body, ApiRequest& out);

// Returns {"type": "function", ...}.
[[nodiscard]] json::Value function_tool(const json::Value& tool, std::string_view schema_key);
[[nodiscard]] json::Value function_call(std::string_view id, std::string_view name, std::string arguments);

// An assistant message that is built part by part.
class AssistantParts {
 public:
  void reason(std::string_view text);
  void say(std::string_view text);
  void call(json::Value call) { calls_.push_back(std::move(call)); }
  [[nodiscard]] std::size_t said_bytes() const { return content_ ? content_->size() : 0; }
  [[nodiscard]] std::size_t calls() const { return calls_.size(); }
  [[nodiscard]] bool is_empty() const { return !reasoning_ && !content_ && calls_.empty(); }
  // Records an echoed key of the current message.
  void echo(EchoedKey::Kind kind, std::string key);
  // Says that a note concerns reasoning of the current message.
  void hide_reasoning(std::size_t note) { hidden_.push_back(note); }
  // Appends the current message to `out`, with its echoed keys, and starts a new one.
  void take(ApiRequest& out);

 private:
  std::optional<std::string> reasoning_;
  std::optional<std::string> content_;
  json::Array calls_;
  std::vector<EchoedKey> echoed_;
  std::vector<std::size_t> hidden_;
};

[[nodiscard]] Result<ApiRequest> read_messages_request(const json::Value& body);
[[nodiscard]] Result<ApiRequest> read_responses_request(const json::Value& body);
[[nodiscard]] std::optional<ApiReply> read_messages_reply(const json::Value& body);
[[nodiscard]] std::optional<ApiReply> read_responses_reply(const json::Value& body);
[[nodiscard]] std::optional<ApiReply> read_chat_reply(const json::Value& body);

// Joins the objects of a stream into the body that a request without streaming would have returned.
[[nodiscard]] std::optional<json::Value> join_stream(const json::Array& events);
// Returns the objects in the `data:` lines of an event stream.  Skips what is not JSON.
[[nodiscard]] json::Array read_event_stream(std::string_view text);

}  // namespace rondo::chat
