// Clients that change nothing that matters of what they send back, at random.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "chat/conversation.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::test {

inline constexpr const char* kTools = R"([
  {"type": "function", "function": {"name": "get_weather", "description": "d", "parameters":
    {"type": "object", "properties": {"city": {"type": "string", "description": "d"}}, "required": ["city"]}}},
  {"type": "function", "function": {"name": "search", "description": "d", "parameters":
    {"type": "object", "properties": {"city": {"type": "string", "description": "d"}}, "required": ["city"]}}}])";

// What a client makes of a message that it was sent, without meaning to change it.
class BenignClient {
 public:
  BenignClient(std::uint32_t seed, bool keeps_ids) : random_(seed), keeps_ids_(keeps_ids) {}

  json::Array as_sent(json::Array messages) {
    for (json::Value& message : messages) {
      json::Object& object = message.as_object();
      reasoning(object);
      content(object);
      calls(object);
      if (one_in(3)) reverse(object);
    }
    return messages;
  }
  [[nodiscard]] std::size_t below(std::size_t limit) { return random_() % limit; }
  [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }
  [[nodiscard]] bool keeps_ids() const { return keeps_ids_; }

 private:
  void reasoning(json::Object& message) {
    const json::Value* there = message.find("reasoning_content");
    if (there == nullptr) return;
    if (one_in(3)) message.set("reasoning", *there);
    if (one_in(2)) message.erase("reasoning_content");
  }
  void content(json::Object& message) {
    json::Value* content = message.find("content");
    const bool is_none =
        content == nullptr || content->is_null() || (content->is_string() && content->as_string().empty());
    if (is_none && message.find("tool_calls") != nullptr) {
      if (one_in(3)) message.set("content", nullptr);
      if (one_in(3)) message.set("content", "");
      if (one_in(3)) message.erase("content");
      return;
    }
    if (content == nullptr || !content->is_string()) return;
    if (one_in(4)) *content = content->as_string() + (one_in(2) ? " " : "\n");
    if (one_in(4)) *content = json::Array{chat::text_part(std::string(content->as_string()))};
  }
  void calls(json::Object& message) {
    if (json::Value* id = message.find("tool_call_id"); id != nullptr && id->is_string() && !keeps_ids_)
      *id = "p" + id->as_string();
    json::Value* calls = message.find("tool_calls");
    if (calls == nullptr || !calls->is_array()) return;
    for (json::Value& call : calls->as_array()) {
      json::Value* id = call.as_object().find("id");
      if (id != nullptr && id->is_string() && !keeps_ids_) *id = "p" + id->as_string();
      json::Value* arguments = chat::function_of(call).as_object().find("arguments");
      if (arguments == nullptr || !arguments->is_string()) continue;
      auto value = json::parse(arguments->as_string());
      if (!value.ok() || !value.value().is_object()) continue;
      if (one_in(3)) *arguments = json::to_python(value.value(), {.ensure_ascii = one_in(2), .sort_keys = true});
      if (one_in(4)) *arguments = value.value();
    }
  }
  static void reverse(json::Object& message) {
    std::vector<json::Member> members(message.begin(), message.end());
    std::ranges::reverse(members);
    message = json::Object::from_members(std::move(members));
  }

  std::mt19937 random_;
  bool keeps_ids_;
};

}  // namespace rondo::test
