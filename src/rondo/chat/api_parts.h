// Parts of api_request.h's translations.  Internal to chat/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/api_request.h"

namespace rondo::chat {

// The first of these members that is a string with something in it; "" if none is.
[[nodiscard]] std::string first_text(const json::Value& object, std::initializer_list<std::string_view> keys);

// The integer member `key`; nullopt if there is none.
[[nodiscard]] std::optional<std::int64_t> whole(const json::Value* object, std::string_view key);

// Content from parts in the form of the Chat API: nothing is "", one text is that text, else they are a list.
[[nodiscard]] json::Value content_of(json::Array parts);
[[nodiscard]] json::Value image_part(std::string_view url);

// The tools of `body`, with their table and notes.
void set_tools(const json::Value& body, ApiRequest& out);

// {"type": "function", ...}.
[[nodiscard]] json::Value function_tool(const json::Value& tool, std::string_view schema_key);
[[nodiscard]] json::Value function_call(std::string_view id, std::string_view name, std::string arguments);

// An assistant message that grows part by part.
class AssistantParts {
 public:
  void reason(std::string_view text);
  void say(std::string_view text);
  void call(json::Value call) { calls_.push_back(std::move(call)); }
  [[nodiscard]] bool is_empty() const { return !reasoning_ && !content_ && calls_.empty(); }
  // Of the message that grows.
  void echo(EchoedKey::Kind kind, std::string key);
  // The message at the end of `out`, with what was echoed of it; empty afterwards.
  void take(ApiRequest& out);

 private:
  std::optional<std::string> reasoning_;
  std::optional<std::string> content_;
  json::Array calls_;
  std::vector<EchoedKey> echoed_;
};

[[nodiscard]] Result<ApiRequest> read_messages_request(const json::Value& body);
[[nodiscard]] Result<ApiRequest> read_responses_request(const json::Value& body);
[[nodiscard]] std::optional<ApiReply> read_messages_reply(const json::Value& body);
[[nodiscard]] std::optional<ApiReply> read_responses_reply(const json::Value& body);
[[nodiscard]] std::optional<ApiReply> read_chat_reply(const json::Value& body);

// The body that a stream of objects would have been, had it not been streamed.
[[nodiscard]] std::optional<json::Value> join_stream(const json::Array& events);
// The objects of an event stream's `data:` lines; what is no JSON is passed over.
[[nodiscard]] json::Array read_event_stream(std::string_view text);

}  // namespace rondo::chat
