// The items of conversations and responses as a service keeps, shows and refuses them.
#include <doctest/doctest.h>

#include <string>

#include "json/print.h"
#include "tests/support/scripted_gateway.h"

using namespace rondo;

namespace {

using testing::Answer;
using Gateway = testing::ScriptedGateway;

std::string id_of(const Answer& made) { return std::string(made.json().find_string("id").value_or("")); }

// "status param" of an answer.
std::string told(const Answer& answer) {
  const json::Value body = answer.json();
  const json::Value* error = body.find("error");
  const std::string param = error == nullptr ? "" : std::string(error->find_string("param").value_or(""));
  return std::to_string(answer.status) + (param.empty() ? "" : " " + param);
}

std::size_t count_of(Gateway& gateway, const std::string& conversation) {
  return gateway.ask("GET", "/v1/conversations/" + conversation + "/items?limit=100")
      .json()
      .find("data")
      ->as_array()
      .size();
}

std::string said(const std::string& id, const std::string& text) {
  return R"({"type": "message", "role": "user", "id": ")" + id + R"(", "content": ")" + text + R"("})";
}

}  // namespace

TEST_CASE("bug: a conversation with a malformed item could not be used any more") {
  Gateway gateway;
  for (const auto& [item, param] :
       {std::pair(R"({"type": "message", "role": "user", "content": 5})", "items[0].content"),
        std::pair(R"({"type": "function_call", "name": "f"})", "items[0].call_id"),
        std::pair(R"({"type": "item_reference", "id": "msg_x"})", "items[0].id")}) {
    const std::string body = R"({"items": [)" + std::string(item) + "]}";
    const std::string status = std::string(item).find("reference") == std::string::npos ? "400 " : "404 ";
    CHECK(told(gateway.post("/v1/conversations", body)) == status + param);
    const std::string made = id_of(gateway.post("/v1/conversations", "{}"));
    CHECK(told(gateway.post("/v1/conversations/" + made + "/items", body)) == status + param);
  }
}

TEST_CASE("bug: an item of a conversation vanished when another one had its id") {
  Gateway gateway;
  CHECK(told(gateway.post("/v1/conversations", R"({"items": [)" + said("a", "1") + "," + said("a", "2") + "]}")) ==
        "400 items[1].id");
  const std::string id = id_of(gateway.post("/v1/conversations", R"({"items": [)" + said("a", "1") + "]}"));
  const std::string items = "/v1/conversations/" + id + "/items";
  CHECK(told(gateway.post(items, R"({"items": [)" + said("b", "2") + "," + said("a", "3") + "]}")) ==
        "400 items[1].id");
  CHECK(told(gateway.post(items, R"({"items": [)" + said("b", "2") + "]}")) == "200");
  const auto answered = [&](const std::string& input) {
    return told(gateway.post("/v1/responses", R"({"conversation": ")" + id + R"(", "input": [)" + input + "]}"));
  };
  CHECK(answered(said("c", "3") + "," + said("b", "4")) == "400 input[1].id");
  CHECK(count_of(gateway, id) == 2);
  CHECK(answered(said("c", "3")) == "200");
  CHECK(answered(said("", "4")) == "200");
  CHECK(count_of(gateway, id) == 6);
}

TEST_CASE("bug: content behind a response that a request goes on from was named as the request's own") {
  Gateway gateway;
  const std::string first = id_of(gateway.post("/v1/responses", R"({"input": "hello"})"));
  const std::string image = R"({"role": "user", "content": [{"type": "input_image", "image_url": "u"}]})";
  CHECK(told(gateway.post("/v1/responses", R"({"previous_response_id": ")" + first + R"(", "input": [)" + image +
                                               "]}")) == "400 input[0].content[0]");
  const std::string id = id_of(gateway.post("/v1/conversations", R"({"items": [)" + image + "]}"));
  const Answer refused = gateway.post("/v1/responses", R"({"conversation": ")" + id + R"(", "input": "hello"})");
  CHECK(told(refused) == "400 conversation");
  CHECK(refused.error().starts_with("what `conversation` names is not text"));
  const std::string fresh = id_of(gateway.post("/v1/conversations", R"({"items": [)" + said("", "x") + "]}"));
  CHECK(told(gateway.post("/v1/responses",
                          R"({"conversation": ")" + fresh + R"(", "input": [{"role": "user", "content": 5}]})")) ==
        "400 input[0].content");
}
