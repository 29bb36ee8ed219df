#include "apis/truncation.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "chat/api_parts.h"
#include "tests/support/json.h"

namespace rondo::apis {
namespace {

GenerateRequest read_items(const std::string& items) {
  auto read = apis::read(chat::Api::kResponses, testing::parsed(R"({"instructions": "i", "input": [)" + items + "]}"));
  REQUIRE_MESSAGE(read.ok(), read.fault().message);
  return std::move(read.value());
}

std::string left(const GenerateRequest& request) {
  std::string out;
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    const json::Value& message = request.messages[i];
    out += chat::first_text(message, {"tool_call_id", "content"});
    if (message.find("tool_calls") != nullptr) out += "()";
    out += "@" + place_of(request, i) + " ";
  }
  return out;
}

std::string user(const std::string& text) { return R"({"role": "user", "content": ")" + text + R"("})"; }
std::string call(const std::string& id) {
  return R"({"type": "function_call", "id": "fc_)" + id + R"(", "call_id": ")" + id + R"(", "name": "f"})";
}
std::string result(const std::string& id) {
  return R"({"type": "function_call_output", "call_id": ")" + id + R"(", "output": "x"})";
}

// What is left after dropping that many tokens, where each message has ten.
std::string dropping(const std::string& items, std::size_t tokens, std::size_t* count = nullptr) {
  GenerateRequest request = read_items(items);
  const std::size_t dropped = drop_oldest(request, std::vector<std::size_t>(request.messages.size(), 10), tokens);
  if (count != nullptr) *count = dropped;
  return left(request);
}

TEST_CASE("the oldest messages are dropped, but no system text and not the last message") {
  const std::string items = user("a") + R"(, {"role": "developer", "content": "d"}, )" + user("b") + ", " + user("c");
  CHECK(dropping(items, 1) == "i@instructions d@input[1] b@input[2] c@input[3] ");
  CHECK(dropping(items, 11) == "i@instructions d@input[1] c@input[3] ");
  std::size_t count = 0;
  CHECK(dropping(items, 1000, &count) == "i@instructions d@input[1] c@input[3] ");
  CHECK(count == 2);
  CHECK(dropping(user("a"), 1000, &count) == "i@instructions a@input[0] ");
  CHECK(count == 0);
}

TEST_CASE("a call and its results are dropped together") {
  const std::string items =
      user("a") + ", " + call("1") + ", " + call("2") + ", " + result("2") + ", " + result("1") + ", " + user("b");
  CHECK(dropping(items, 10) == "i@instructions ()@input[2] 2@input[3] 1@input[4] b@input[5] ");
  CHECK(dropping(items, 11) == "i@instructions b@input[5] ");
  // Neither is dropped where the last message is a result.
  const std::string open = user("a") + ", " + call("1") + ", " + result("1");
  CHECK(dropping(open, 1000) == "i@instructions ()@input[1] 1@input[2] ");
}

TEST_CASE("what the client echoes stays with its message") {
  GenerateRequest request =
      read_items(user("a") + ", " + call("1") + ", " + result("1") + ", " + call("2") + ", " + result("2"));
  REQUIRE(request.echoed.size() == 2);
  CHECK(drop_oldest(request, std::vector<std::size_t>(request.messages.size(), 10), 11) == 3);
  REQUIRE(request.echoed.size() == 1);
  CHECK(request.echoed[0].key == "fc_2");
  CHECK(request.messages[request.echoed[0].message].find("tool_calls") != nullptr);
}

}  // namespace
}  // namespace rondo::apis
