// The items of conversations and responses as a service keeps, shows and refuses them.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

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

TEST_CASE("bug: a result in a conversation was taken although no call there has its id") {
  Gateway gateway;
  const std::string result = R"({"type": "custom_tool_call_output", "call_id": "call_x", "output": "1"})";
  const std::string id =
      id_of(gateway.post("/v1/conversations", R"({"items": [)" + said("a", "1") + "," + result + "]}"));
  const auto refused = [&](const std::string& body) { return gateway.post("/v1/responses", body).error(); };
  const std::string why = "No tool call found for custom tool call output with call_id call_x.";
  CHECK(refused(R"({"conversation": ")" + id + R"(", "input": "b"})") == why);
  CHECK(refused(R"({"input": [)" + result + "]}") == why);
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

TEST_CASE("bug: `truncation: auto` was echoed and had no effect") {
  Gateway gateway;
  gateway.engine.capable.context_tokens = 210;
  const auto ask = [&](const std::string& items, const std::string& more = "") {
    return gateway.post("/v1/responses", R"({"instructions": "KEPT", "input": [)" + items + "]" + more + "}");
  };
  const auto prompt = [&] { return gateway.model->detokenize(gateway.engine.prompts.back(), false).value(); };
  const std::string auto_ = R"(, "truncation": "auto")";
  std::string items;
  for (const char* text : {"one", "two", "three", "four"}) items += said("", std::string(50, '.') + text) + ", ";
  items += said("", "last");
  CHECK(told(ask(items)) == "400 input");
  const Answer cut = ask(items, auto_);
  CHECK(told(cut) == "200");
  CHECK(cut.json().find_string("truncation") == "auto");
  CHECK(cut.header("warning") ==
        "299 rondo \"`truncation`: the oldest 2 messages were left out, because the prompt was too long\"");
  CHECK(prompt().find("KEPT") != std::string::npos);
  CHECK(prompt().find("two") == std::string::npos);
  CHECK(prompt().find("four") != std::string::npos);
  CHECK(prompt().find("last") != std::string::npos);
  // Without the room for a long reply, more of it fits.
  CHECK(told(ask(items, auto_ + R"(, "max_output_tokens": 1)")) == "200");
  CHECK(prompt().find("two") != std::string::npos);
  CHECK(told(ask(said("", "short"), auto_)) == "200");
  CHECK(told(ask(said("", std::string(300, '.')), auto_)) == "400 input");
  // The count is that of the shortened prompt.
  const Answer counted =
      gateway.post("/v1/responses/input_tokens", R"({"instructions": "KEPT", "input": [)" + items + "]" + auto_ + "}");
  CHECK(counted.json().find("input_tokens")->to_int64().value_or(1000) < 210);
  // Nothing of it is lost where it is kept.
  const std::string id = id_of(ask(items, auto_));
  CHECK(gateway.ask("GET", "/v1/responses/" + id + "/input_items").json().find("data")->as_array().size() == 5);
  CHECK(told(gateway.post("/v1/responses",
                          R"({"input": "again", "previous_response_id": ")" + id + "\"" + auto_ + "}")) == "200");
}

TEST_CASE("bug: a template that raises for a role told no field") {
  Gateway gateway;
  const Answer raised = gateway.post("/v1/chat/completions", R"({"messages": [{"role": "user", "content": "a"},
      {"role": "robot", "content": "b"}]})");
  CHECK(told(raised) == "400 messages[1].role");
  CHECK_MESSAGE(raised.error().starts_with("`messages[1].role`: "), raised.error());
  CHECK(told(gateway.post("/v1/responses", R"({"input": [{"role": "robot", "content": "b"}]})")) ==
        "400 input[0].role");
}

TEST_CASE("bug: `stop_token_ids` had no effect") {
  Gateway gateway;
  const std::string messages = R"({"messages": [{"role": "user", "content": "a"}])";
  CHECK(told(gateway.post("/v1/chat/completions", messages + "}")) == "200");
  std::vector<engine::TokenId> expected = gateway.engine.stop_ids;
  expected.push_back(71);
  CHECK(told(gateway.post("/v1/chat/completions", messages + R"(, "stop_token_ids": [71]})")) == "200");
  CHECK(gateway.engine.stop_ids == expected);
  CHECK(told(gateway.post("/v1/chat/completions", messages + R"(, "stop_token_ids": [-1]})")) ==
        "400 stop_token_ids[0]");
}

TEST_CASE("bug: `allowed_token_ids` and `bad_words` had no effect") {
  using Rows = std::vector<std::vector<engine::TokenId>>;
  Gateway gateway;
  const auto ids = [&](const std::string& text) { return gateway.model->tokenize(text, true).value(); };
  // The tokenizer knows `w` with a space before it; `user` takes an id more there.
  REQUIRE(ids(" w").size() == 1);
  REQUIRE(ids(" user").size() == 2);
  REQUIRE(ids("[[").size() == 1);  // a token that is no text of its own
  const std::string wish = R"(, "allowed_token_ids": [7, 5], "bad_words": [" w", "user", "ww", "[["]})";
  const Rows expected = {ids("w"), ids(" w"), ids("user"), ids("ww"), ids(" ww"), ids("[[")};
  for (const auto& [path, prompt] : {std::pair<std::string, std::string>{
                                         "/v1/chat/completions", R"("messages": [{"role": "user", "content": "a"}])"},
                                     {"/v1/completions", R"("prompt": "a")"},
                                     {"/v1/responses", R"("input": "a")"}}) {
    gateway.engine.bad_ids.clear();
    CHECK(told(gateway.post(path, "{" + prompt + wish)) == "200");
    CHECK(gateway.engine.allowed_ids == std::vector<engine::TokenId>{7, 5});
    CHECK(gateway.engine.bad_ids == expected);
    CHECK(told(gateway.post(path, "{" + prompt + R"(, "bad_words": ["a", ""]})")) == "400 bad_words[1]");
  }
}

TEST_CASE("bug: a compaction of nothing was made") {
  Gateway gateway;
  const std::string first = id_of(gateway.post("/v1/responses", R"({"input": "hello"})"));
  CHECK(told(gateway.post("/v1/responses/compact", R"({"previous_response_id": ")" + first + R"(", "input": [
      {"role": "user", "content": [{"type": "input_image", "image_url": "u"}]}]})")) == "400 input[0].content[0]");
  CHECK(told(gateway.post("/v1/responses/compact", "{}")) == "400 input");
  CHECK(told(gateway.post("/v1/responses/compact", R"({"input": "hello"})")) == "200");
}

TEST_CASE("bug: a schema that nothing satisfies told no field") {
  Gateway gateway;
  gateway.engine.capable.grammars = {engine::Grammar::Dialect::kGbnf};
  const std::string messages = R"("messages": [{"role": "user", "content": "a"}]})";
  CHECK(told(gateway.post("/v1/chat/completions", R"({"response_format": {"type": "json_schema", "json_schema":
      {"name": "x", "schema": false}}, )" + messages)) == "400 response_format");
  CHECK(told(gateway.post("/v1/chat/completions", R"({"guided_json": {"anyOf": []}, )" + messages)) ==
        "400 guided_json");
  CHECK(told(gateway.post("/v1/responses", R"({"input": "a", "text": {"format": {"type": "json_schema", "name": "x",
      "schema": false}}})")) == "400 text.format");
}
