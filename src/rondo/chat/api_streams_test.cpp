// Recorded streams: damaged events are skipped, and the rest is joined.
#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "chat/api_request.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::chat {
namespace {

std::optional<ApiReply> reply(std::string_view events) {
  auto value = json::parse(events);
  REQUIRE_MESSAGE(value.ok(), events);
  return read_reply(value.value());
}

std::string messages(const std::optional<ApiReply>& reply) {
  return reply ? json::to_compact(json::Value(reply->messages)) : "none";
}

std::string said(std::string_view content) {
  return R"([{"role":"assistant","content":")" + std::string(content) + "\"}]";
}

}  // namespace

TEST_CASE("a chat stream without a message, with one that is none, and with choices that are none") {
  CHECK(messages(reply(R"([{"choices": []}])")) == said(""));
  CHECK(messages(reply(R"([{"choices": 1}, {"choices": [{}]}, {"choices": [{"delta": 3}]},
      {"choices": [{"delta": {"content": 7}}]}, {"choices": [{"delta": {"content": "a", "tool_calls": {}}}]},
      {"choices": [{"delta": {"content": null}}]}, {"choices": [{"delta": {"content": "b"}}]}])")) == said("ab"));
}

TEST_CASE("a call in the form of before there were tools is joined") {
  CHECK(messages(reply(R"([{"choices": [{"delta": {"content": "", "function_call": {"name": "f", "arguments": ""}}}]},
      {"choices": [{"delta": {"function_call": {"arguments": "{"}}}]},
      {"choices": [{"delta": {"function_call": {"arguments": "}"}}}]}])")) ==
        R"([{"role":"assistant","content":"","function_call":{"name":"f","arguments":"{}"}}])");
}

TEST_CASE("a chat stream has the first id, the last usage, and the reasoning under its own key") {
  const auto out = reply(R"([{"id": "", "choices": []}, {"id": "first", "usage": null, "choices": []},
      {"id": "second", "usage": {"prompt_tokens": 5}, "choices": [{"delta": {"reasoning": "r"}}]},
      {"usage": {"prompt_tokens": 7, "prompt_tokens_details": {"cached_tokens": 4}}, "choices": []}])");
  REQUIRE(out);
  CHECK(out->id == "first");
  CHECK(out->prompt_tokens == 7);
  CHECK(out->cached_tokens == 4);
  CHECK(messages(out) == R"([{"role":"assistant","reasoning":"r","content":""}])");
}

TEST_CASE("calls of a chat stream stand by their numbers") {
  CHECK(messages(reply(R"([{"choices": [{"delta": {"tool_calls": [
        {"index": 1, "id": "b", "function": {"name": "g"}}, {"index": 0, "id": "a", "function": {"name": "f"}}]}}]},
      {"choices": [{"delta": {"tool_calls": [{"index": 1, "id": "", "function": {"arguments": "{}"}}]}}]},
      {"choices": [{"delta": {"tool_calls": [{"index": 0}, {"index": -1, "id": "x"}, {"index": 4096, "id": "x"}, {"id": "x"}]}}]}])")) ==
        R"([{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f"}},)"
        R"({"id":"b","type":"function","function":{"name":"g","arguments":"{}"}}],"content":""}])");
  const auto most = reply(R"([{"choices": [{"delta": {"tool_calls": [{"index": 4095, "id": "last"}]}}]}])");
  REQUIRE(most);
  CHECK(most->messages[0].find("tool_calls")->as_array().size() == 4096);
}

TEST_CASE("blocks of a Messages stream stand by their numbers, and damage is passed over") {
  const std::string_view events = R"([{"type": "ping"},
      {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 3}}},
      {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": "b"}},
      {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
      {"type": "content_block_start", "index": 2, "content_block": 5},
      {"type": "content_block_start", "index": 2},
      {"type": "content_block_start", "index": -1, "content_block": {"type": "text", "text": "x"}},
      {"type": "content_block_delta", "index": 0, "delta": {"thinking": "t"}},
      {"type": "content_block_delta", "index": 1, "delta": {"text": "c"}},
      {"type": "content_block_delta", "index": 1},
      {"type": "content_block_delta", "delta": {"text": "x"}},
      {"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "u", "name": "f", "input": {}}},
      {"type": "content_block_delta", "index": 2, "delta": {"partial_json": "{\"a\": "}},
      {"type": "message_delta", "delta": {"text": "x"}}, 3])";
  const auto out = reply(events);
  REQUIRE(out);
  CHECK(out->id == "m");
  CHECK(out->prompt_tokens == 3);
  // The arguments were cut off, so those of the start remain.
  CHECK(messages(out) ==
        R"([{"role":"assistant","content":"bc","reasoning_content":"t","tool_calls":[{"id":"u","type":"function",)"
        R"("function":{"name":"f","arguments":"{}"}}]}])");
}

TEST_CASE("only what begins as a message is a Messages stream") {
  const std::string block =
      R"({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a"}})";
  CHECK(messages(reply("[" + block + "]")) == "none");
  CHECK(messages(reply(R"([{"type": "message_start"}, )" + block + "]")) == said("a"));
  CHECK(messages(reply(R"([{"type": "message_start", "message": 4}, )" + block + "]")) == said("a"));
  CHECK(messages(reply(R"([{"type": "message_start", "message": {"id": "m"}}, )" + block +
                       R"(, {"type": "message_stop"}])")) == said("a"));
  CHECK(messages(reply("[]")) == "none");
  CHECK(messages(reply("[1, {}]")) == "none");
}

TEST_CASE("a Responses stream is what its end says") {
  CHECK(messages(reply(R"([{"type": "response.completed"}])")) == "none");
  CHECK(messages(
            reply(R"([{"type": "response.in_progress", "response": {"output": [{"type": "message", "role": "assistant",
      "content": "early"}]}}])")) == "none");
}

TEST_CASE("lines of an event stream that are no data are passed over") {
  const auto text_reply = [](const std::string& text) { return messages(read_reply(json::Value(text))); };
  const std::string data = R"(data:{"choices": [{"delta": {"content": "a"}}]})";
  CHECK(text_reply(data) == said("a"));
  CHECK(text_reply(data + "\n") == said("a"));
  CHECK(text_reply("\n\n: comment\nevent: x\n" + data + "\r\n\r\n" + data) == said("aa"));
  CHECK(text_reply("xdata: {}\ndat\ndata:\n") == "none");
  CHECK(text_reply("") == "none");
}

TEST_CASE("a block that brings the field of unfinished arguments itself") {
  const auto out = reply(R"([{"type": "message_start"},
      {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "a", "input_text": 3}}])");
  CHECK(messages(out) == said("a"));
}

}  // namespace rondo::chat
