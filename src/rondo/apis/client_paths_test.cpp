// Fields are named as the client sent them, or would have to.
#include <doctest/doctest.h>

#include "apis/request.h"
#include "tests/support/json.h"

namespace rondo::apis {
namespace {

using chat::Api;
using testing::parsed;

GenerateRequest request_of(Api api, std::string_view body) {
  Outcome<GenerateRequest> out = read(api, parsed(body));
  REQUIRE_MESSAGE(out.ok(), out.fault().message);
  return std::move(out.value());
}

// The fault of a refused request: its field and its sentence.
std::string refused_with(Api api, std::string_view body) {
  const Outcome<GenerateRequest> out = read(api, parsed(body));
  return out.ok() ? "" : out.fault().param + ": " + out.fault().message;
}

TEST_CASE("bug: a field was named by its place in the translated messages") {
  const auto responses = request_of(Api::kResponses, R"({"instructions": "Be brief", "input": [
      {"role": "user", "content": [{"type": "input_text", "text": "ab"}, {"type": "input_text", "text": "cd"}]},
      {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
      {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "so"}]},
      {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
      {"type": "function_call", "call_id": "c2", "name": "g", "arguments": "{}"},
      {"type": "function_call_output", "call_id": "c1", "output": "1"},
      {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "2"}]}]})");
  CHECK(client_path(responses, "messages[0].content", 3) == "instructions");
  CHECK(client_path(responses, "messages[1].content", 1) == "input[0].content[0].text");
  CHECK(client_path(responses, "messages[1].content", 2) == "input[0].content[1].text");
  CHECK(client_path(responses, "messages[1].content") == "input[0].content");
  CHECK(client_path(responses, "messages[2].reasoning_content") == "input[1].summary[0].text");
  CHECK(client_path(responses, "messages[2].content") == "input[2].content[0].text");
  CHECK(client_path(responses, "messages[2].tool_calls[1].function.arguments") == "input[4].arguments");
  CHECK(client_path(responses, "messages[2].tool_calls[0].function.name") == "input[3].name");
  CHECK(client_path(responses, "messages[2].tool_calls[0].id") == "input[3].call_id");
  CHECK(client_path(responses, "messages[3].content", 0) == "input[5].output");
  CHECK(client_path(responses, "messages[4].content") == "input[6].output[0].text");
  CHECK(client_path(responses, "messages[1]") == "input[0]");
  CHECK(client_path(responses, "tools[0]") == "tools[0]");
  CHECK(client_path(request_of(Api::kResponses, R"({"input": "Hi"})"), "messages[0].content") == "input");
  const auto earlier = read(Api::kResponses, parsed(R"({"previous_response_id": "r", "input": [
      {"role": "user", "content": "a"}, {"role": "user", "content": [{"type": "input_text", "text": "b"}]}]})"),
                            {}, {.input_places = {-1, 0}});
  REQUIRE(earlier.ok());
  CHECK(client_path(earlier.value(), "messages[0].content") == "previous_response_id");
  CHECK(client_path(earlier.value(), "messages[1].content") == "input[0].content[0].text");

  const auto messages = request_of(Api::kMessages, R"({"max_tokens": 9, "system": [
      {"type": "text", "text": "x-anthropic-billing-header: a=1"}, {"type": "text", "text": "Be"},
      {"type": "text", "text": "brief"}], "messages": [{"role": "user", "content": "Hi"},
      {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "so"}, {"type": "tool_use", "id": "c1", "name": "f", "input": {}}]},
      {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "1"},
        {"type": "text", "text": "and"}]}]})");
  CHECK(client_path(messages, "messages[0].content", 1) == "system[1].text");
  CHECK(client_path(messages, "messages[0].content", 2) == "system[2].text");
  CHECK(client_path(messages, "messages[1].content", 0) == "messages[0].content");
  CHECK(client_path(messages, "messages[2].reasoning_content") == "messages[1].content[0].thinking");
  CHECK(client_path(messages, "messages[2].content") == "messages[1].content[1].text");
  CHECK(client_path(messages, "messages[2].tool_calls[0].function.arguments") == "messages[1].content[2].input");
  CHECK(client_path(messages, "messages[3].content") == "messages[2].content[0].content");
  CHECK(client_path(messages, "messages[4].content", 9) == "messages[2].content[1].text");

  const auto chat = request_of(Api::kChat, R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "ab"},
      {"type": "text", "text": "cd"}]}]})");
  CHECK(client_path(chat, "messages[0].content", 2) == "messages[0].content[1].text");
  CHECK(client_path(chat, "messages[0].tool_calls[0].function.arguments") ==
        "messages[0].tool_calls[0].function.arguments");
}

TEST_CASE("bug: what lacks a member was told to be unknown, or was taken") {
  const std::string tools = R"("tools": [{"type": "function", "function": {"name": "f"}}], )";
  const auto chat = [](const std::string& members) {
    return refused_with(Api::kChat, R"({"messages": [{"role": "user", "content": "a"}], )" + members + "}");
  };
  CHECK(chat(R"("tool_choice": {})") == "tool_choice.type: `tool_choice.type` is missing");
  CHECK(chat(tools + R"("tool_choice": {"type": "function"})") == "tool_choice.name: `tool_choice.name` is missing");
  CHECK(chat(tools + R"("tool_choice": {"type": "function", "function": {}})") ==
        "tool_choice.function.name: `tool_choice.function.name` is missing");
  CHECK(chat(R"("tool_choice": {"type": "file_search"})") ==
        "tool_choice: `tool_choice` of type `file_search` is not known here");
  CHECK(chat(R"("response_format": {})") == "response_format.type: `response_format.type` is missing");
  CHECK(chat(R"("stop": 5)") == "stop: `stop` must be a string or an array, found an integer");
  const auto responses = [](const std::string& body) { return refused_with(Api::kResponses, body); };
  CHECK(responses(R"({"input": "a", "text": {"format": {}}})") == "text.format.type: `text.format.type` is missing");
  CHECK(responses(R"({"input": 5})") == "input: `input` must be a string or an array, found an integer");
  CHECK(responses(R"({"input": "a", "conversation": 5})") ==
        "conversation: `conversation` must be a string or an object, found an integer");
  CHECK(responses(R"({"input": [{"role": "user"}]})") == "input[0].content: `input[0].content` is missing");
  CHECK(request_of(Api::kResponses, R"({"input": [{"role": "user", "content": "a"}, {"role": "assistant"}]})")
            .messages.size() == 2);
}

}  // namespace
}  // namespace rondo::apis
