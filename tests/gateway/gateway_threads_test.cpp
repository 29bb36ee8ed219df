// Message threads: the store holds a conversation of the Messages API, and a request has only what is new.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/scripted_gateway.h"

using namespace rondo;

namespace {

using testing::Answer;
using Gateway = testing::ScriptedGateway;

constexpr const char* kCreate = R"({"type": "create"})";

std::string going_on(const std::string& id) {
  return R"({"type": "continue", "previous_message_id": ")" + id + R"("})";
}

std::string by_user(const std::string& text) { return R"({"role": "user", "content": ")" + text + R"("})"; }

Answer ask(Gateway& gateway, const std::string& thread, const std::string& messages, const std::string& more = "",
           net::Headers headers = {}) {
  return gateway.ask("POST", "/v1/messages",
                     R"({"max_tokens": 9, "thread": )" + thread + R"(, "messages": [)" + messages + "]" + more + "}",
                     std::move(headers));
}

std::string id_of(const Answer& reply) { return std::string(reply.json().find_string("id").value_or("")); }

std::string code_of(const Answer& answer) {
  const json::Value body = answer.json();
  const json::Value* error = body.find("error");
  const json::Value* details = error == nullptr ? nullptr : error->find("details");
  const auto code = details == nullptr ? std::nullopt : details->find_string("error_code");
  return std::to_string(answer.status) + " " + std::string(code.value_or("-"));
}

std::string prompt_of(const Gateway& gateway) {
  return gateway.model->detokenize(gateway.engine.prompts.back(), false).value();
}

}  // namespace

TEST_CASE("bug: a message thread was not known, and what continued it was read as the whole conversation") {
  Gateway gateway;
  const std::string tools = R"(, "system": "KEPT", "tools": [{"name": "look", "input_schema": {"type": "object"}}])";
  const Answer first = ask(gateway, kCreate, by_user("one"), tools);
  REQUIRE(first.status == 200);
  std::vector<spans::TokenId> before = gateway.engine.prompts.back();
  before.insert(before.end(), gateway.engine.reply.begin(), gateway.engine.reply.end());
  const Answer second = ask(gateway, going_on(id_of(first)), by_user("two"));
  REQUIRE(second.status == 200);
  CHECK(second.header("x-rondo-prefix").starts_with("how=bridge"));
  const auto& prompt = gateway.engine.prompts.back();
  REQUIRE(prompt.size() > before.size());
  CHECK(std::vector(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(before.size())) == before);
  CHECK(ask(gateway, going_on(id_of(second)), by_user("three")).status == 200);
  for (const char* said : {"KEPT", "look", "one", "two", "three"})
    CHECK(prompt_of(gateway).find(said) != std::string::npos);
  // A second continuation of the same reply is a branch.
  CHECK(ask(gateway, going_on(id_of(first)), by_user("other")).status == 200);
  CHECK(prompt_of(gateway).find("two") == std::string::npos);
}

TEST_CASE("a streamed turn of a thread is continued, and one that failed is not") {
  Gateway gateway;
  const std::string streamed = R"(, "stream": true)";
  const Answer first = ask(gateway, kCreate, by_user("one"), streamed);
  CHECK(first.body.find("event: message_stop") != std::string::npos);
  const auto id_in = [](const std::string& text) {
    const std::size_t at = text.find("msg_");
    return at == std::string::npos ? std::string() : text.substr(at, text.find('"', at) - at);
  };
  CHECK(ask(gateway, going_on(id_in(first.body)), by_user("two")).status == 200);
  gateway.engine.on_begin = [](testing::Scripted::Run& run) {
    run.say({70});
    run.fail();
  };
  const Answer failed = ask(gateway, kCreate, by_user("one"), streamed);
  CHECK(failed.body.find("event: error") != std::string::npos);
  CHECK(code_of(ask(gateway, going_on(id_in(failed.body)), by_user("two"))) == "404 thread_not_found");
}

TEST_CASE("a thread that is not there, or that cannot hold a request, is told with the API's codes") {
  Gateway gateway;
  CHECK(code_of(ask(gateway, going_on("msg_none"), by_user("one"))) == "404 thread_not_found");
  const std::string plain =
      id_of(gateway.post("/v1/messages", R"({"max_tokens": 9, "messages": [)" + by_user("one") + "]}"));
  CHECK(code_of(ask(gateway, going_on(plain), by_user("two"))) == "404 thread_not_found");
  const std::string id = id_of(ask(gateway, kCreate, by_user("one")));
  CHECK(ask(gateway, going_on(id), by_user("two"), R"(, "system": "x")").error().starts_with("`system` is kept"));
  CHECK(ask(gateway, going_on(id), by_user("two"), R"(, "tools": [])").error().starts_with("`tools` is kept"));
  CHECK(ask(gateway, going_on(id), "").error().starts_with("`messages` must not be empty"));
  for (const auto& [thread, why] :
       {std::pair("5", "`thread` must be an object"), std::pair("{}", "`thread.type` is missing"),
        std::pair(R"({"type": "x"})", "`thread.type` must be one of"),
        std::pair(R"({"type": "continue"})", "`thread.previous_message_id` is missing")}) {
    const Answer refused = ask(gateway, thread, by_user("one"));
    CHECK(refused.status == 400);
    CHECK(refused.error().starts_with(why));
  }
  CHECK(ask(gateway, "null", by_user("one")).status == 200);
}

TEST_CASE("a thread of one tenant is unknown to another") {
  Gateway gateway({}, true);
  const net::Headers ann{{"x-api-key", "secret-of-ann"}};
  const net::Headers bob{{"x-api-key", "secret-of-bob"}};
  const std::string id = id_of(ask(gateway, kCreate, by_user("one"), "", ann));
  CHECK(code_of(ask(gateway, going_on(id), by_user("two"), "", bob)) == "404 thread_not_found");
  CHECK(ask(gateway, going_on(id), by_user("two"), "", ann).status == 200);
}
