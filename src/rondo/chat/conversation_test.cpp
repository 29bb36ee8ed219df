#include "chat/conversation.h"

#include <doctest/doctest.h>

#include "json/print.h"
#include "tests/support/json.h"

namespace rondo::chat {
namespace {

using testing::parsed;

std::string complaint(std::string_view messages, RoleCheck roles = RoleCheck::kRequired) {
  const Status status = check_messages(parsed(messages), "messages", roles);
  return status.ok() ? "fine" : status.error().message;
}

}  // namespace

TEST_CASE("the shape of messages") {
  CHECK(complaint(R"([])") == "fine");
  CHECK(complaint(R"([{"role": "user", "content": 7}])") == "fine");
  CHECK(complaint(R"({"role": "user"})") == "messages must be an array of objects, found an object");
  CHECK(complaint(R"([{"role": "user"}, "hi"])") == "messages[1] must be an object, found a string");
  CHECK(complaint(R"([{"content": "hi"}])") == "messages[0] has no `role`");
  CHECK(complaint(R"([{"role": 3}])") == "messages[0].role must be a string, found an integer");
  CHECK(complaint(R"([{"role": 3}, {}])", RoleCheck::kAsGiven) == "fine");
  CHECK(complaint(R"([null])", RoleCheck::kAsGiven) == "messages[0] must be an object, found null");
}

TEST_CASE("000:15-17: a parsed message becomes history") {
  AssistantMessage message;
  message.content = "Let me look.";
  message.reasoning = "hm";
  ToolCall look;
  look.name = "look";
  look.arguments = R"({"at": 1.0})";
  ToolCall go;
  go.id = "x9";
  go.name = "go";
  go.arguments = "{}";
  message.tool_calls = {look, go};
  CHECK(json::to_compact(to_history(message, 4)) ==
        R"({"role":"assistant","content":"Let me look.","reasoning_content":"hm","tool_calls":[)"
        R"({"id":"call_4","type":"function","function":{"name":"look","arguments":"{\"at\": 1.0}"}},)"
        R"({"id":"x9","type":"function","function":{"name":"go","arguments":"{}"}}]})");
  CHECK(json::to_compact(to_history({}, 0)) == R"({"role":"assistant","content":""})");
}

TEST_CASE("tool definitions, wrapped and bare") {
  const auto tools = tool_definitions(
      parsed(R"([{"type":"function","function":{"name":"a","parameters":{"type":"object"}}},{"name":"b"},{"x":1},3])"));
  REQUIRE(tools.size() == 2);
  CHECK(tools[0].name == "a");
  CHECK(tools[0].parameters.find_string("type") == "object");
  CHECK(tools[1].name == "b");
  CHECK(tools[1].parameters.is_null());
  CHECK(tool_definitions(parsed("null")).empty());
}

TEST_CASE("which messages a prompt should show") {
  CHECK(has_content(parsed(R"({"content": "x"})")));
  CHECK(has_content(parsed(R"({"content": null, "tool_calls": [{}]})")));
  CHECK_FALSE(has_content(parsed(R"({"content": "", "tool_calls": []})")));
  CHECK_FALSE(has_content(parsed(R"({"role": "user"})")));
  CHECK(has_content(parsed(R"({"content": [{}]})")));
  CHECK(has_content(parsed(R"({"reasoning_content": "r"})")));
  CHECK_FALSE(has_content(parsed(R"({"content": 7, "name": "x"})")));
}

TEST_CASE("roles and keys of the public APIs") {
  for (const char* role : {"system", "developer", "user", "assistant", "tool", "function"}) CHECK(is_api_role(role));
  for (const char* role : {"", "User", "ipython", "tools"}) CHECK_FALSE(is_api_role(role));
  CHECK(is_arguments_key("arguments"));
  CHECK(is_arguments_key("parameters"));
  CHECK_FALSE(is_arguments_key("name"));
}

TEST_CASE("what became of a call is told by name") {
  CHECK(to_string(CallStatus::kOk) == "ok");
  CHECK(to_string(CallStatus::kInvalidJson) == "invalid_json");
  CHECK(to_string(CallStatus::kUnclosed) == "unclosed");
  CHECK(to_string(CallStatus::kMalformed) == "malformed");
  CHECK(to_string(CallStatus::kUnknownTool) == "unknown_tool");
}

}  // namespace rondo::chat
