// What the APIs and HTTP say of cases at the edge: heads without bodies, replies without words.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "gateway/held_submission.h"
#include "gateway/reasoning_limit.h"
#include "json/print.h"
#include "tests/support/scripted_engine.h"
#include "tests/support/scripted_gateway.h"

using namespace rondo;

namespace {

using testing::Answer;
using testing::Scripted;
using Gateway = testing::ScriptedGateway;

// The answer to a HEAD, as it comes over the wire; what follows it on the connection is another answer.
std::string head_of(Gateway& gateway, const std::string& path) {
  const std::string all = gateway.raw("HEAD " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" +
                                      "GET /version HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  const std::size_t end = all.find("\r\n\r\n");
  REQUIRE_MESSAGE(end != std::string::npos, all);
  CHECK_MESSAGE(all.substr(end + 4).starts_with("HTTP/1.1 200 OK\r\n"), all);
  return all.substr(0, end + 2);
}

using Ids = std::vector<engine::TokenId>;

// What an engine is asked, and what comes of it, where reasoning has to end behind three ids with 50 51.
struct Held final : engine::Listener {
  explicit Held(std::function<testing::Script(const engine::Request&)> says)
      : engine(loop, [this, says = std::move(says)](const engine::Request& request) {
          asked.push_back(request.prompt);
          return says(request);
        }) {}

  void run(std::size_t choices, std::size_t max_tokens) {
    said.resize(choices);
    engine::Request request{.prompt = {10}, .max_tokens = max_tokens, .choices = choices, .stop_ids = {9}};
    request.constraint = [](std::size_t) {
      return gateway::limit_of_reasoning({.open = {}, .close = {51}, .ending = {50, 51}, .most = 3, .is_open = true});
    };
    running = gateway::submit_held(engine, std::move(request), *this);
    loop.run();
  }
  void on_start(const engine::Start&) override { ++starts; }
  void on_tokens(std::size_t choice, std::span<const engine::SampledToken> tokens) override {
    for (const engine::SampledToken& token : tokens) said.at(choice).push_back(token.id);
    if (said.at(choice).size() >= cancel_at) running->cancel();
  }
  void on_end(const engine::Outcome& ended) override {
    outcome = ended;
    loop.stop();
  }

  net::Loop loop;
  testing::ScriptedEngine engine;
  std::vector<Ids> asked;
  std::vector<Ids> said;
  std::size_t starts = 0;
  std::size_t cancel_at = 1000;
  engine::Outcome outcome;
  std::unique_ptr<engine::Submission> running;
};

}  // namespace

TEST_CASE("gateway: an engine that takes no constraint is stopped where reasoning has to end, and goes on behind it") {
  using engine::StopReason;
  for (const std::size_t piece : {1U, 2U, 10U}) {
    const auto says = [piece](const engine::Request& request) {
      return testing::Script{.ids = request.prompt.size() == 1 ? Ids{1, 2, 3, 4, 5, 6} : Ids{7, 8, 9}, .piece = piece};
    };
    const Ids whole = {1, 2, 3, 50, 51, 7, 8, 9};
    Held one(says);
    one.run(1, 100);
    CHECK(one.said == std::vector<Ids>{whole});
    CHECK(one.asked == std::vector<Ids>{{10}, {10, 1, 2, 3, 50, 51}});
    CHECK(one.starts == 1);
    CHECK(one.outcome.choices.at(0).stop == StopReason::kStopToken);
    CHECK(one.outcome.usage.completion_tokens == whole.size());
    Held two(says);
    two.run(2, 100);
    CHECK(two.said == std::vector<Ids>{whole, whole});
    // The end of the reasoning counts among the ids that there is room for.
    for (std::size_t most = 3; most < whole.size(); ++most) {
      Held cut(says);
      cut.run(1, most);
      CHECK(cut.said.at(0) == Ids(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(most)));
      CHECK(cut.outcome.choices.at(0).stop == StopReason::kLength);
    }
    Held gone(says);
    gone.cancel_at = 5;
    gone.run(1, 100);
    CHECK(gone.outcome.choices.at(0).stop == StopReason::kCancelled);
    CHECK(gone.asked.size() == 1);
  }
  Held shorter([](const engine::Request&) { return testing::Script{.ids = {1, 2, 50, 51, 7, 9}}; });
  shorter.run(1, 100);
  CHECK(shorter.said == std::vector<Ids>{{1, 2, 50, 51, 7, 9}});
  CHECK(shorter.asked.size() == 1);
  Held broken([](const engine::Request& request) {
    const bool is_first = request.prompt.size() == 1;
    return testing::Script{.ids = {1, 2, 3, 4, 5},
                           .end = is_first ? testing::Script::End::kDone : testing::Script::End::kFails};
  });
  broken.run(2, 100);
  CHECK(broken.outcome.error.has_value());
  CHECK(broken.said == std::vector<Ids>{{1, 2, 3, 50, 51}, {1, 2, 3, 50, 51}});
}

TEST_CASE("gateway: a HEAD is answered as its GET, without the body") {
  Gateway gateway;
  const std::string stored = std::string(
      gateway.post("/v1/responses", R"({"input": "hello", "background": true})").json().find_string("id").value_or(""));
  const std::string conversation =
      std::string(gateway.post("/v1/conversations", "{}").json().find_string("id").value_or(""));
  (void)gateway.post("/s/one/v1/chat/completions", R"({"messages": [{"role": "user", "content": "hello"}]})");
  while (gateway.service->running() > 0) {
    const net::Timer timer = gateway.loop.after(net::Milliseconds(1), [&] { gateway.loop.stop(); });
    gateway.loop.run();
  }
  const std::vector<std::string> paths = {"/",
                                          "/health",
                                          "/ready",
                                          "/v1/models",
                                          "/v1/models/small",
                                          "/v1/responses/" + stored + "/input_items",
                                          "/v1/conversations/" + conversation,
                                          "/v1/conversations/" + conversation + "/items",
                                          "/rondo/v1/sessions",
                                          "/rondo/v1/sessions/one/training"};
  for (const std::string& path : paths) {
    const Answer whole = gateway.ask("GET", path);
    CHECK_MESSAGE(whole.status == 200, path);
    const std::string head = head_of(gateway, path);
    CHECK_MESSAGE(head.starts_with("HTTP/1.1 200 OK\r\n"), head);
    CHECK_MESSAGE(head.find("content-type: " + whole.header("content-type") + "\r\n") != std::string::npos, head);
    CHECK_MESSAGE(head.find("Content-Length: " + std::to_string(whole.body.size()) + "\r\n") != std::string::npos,
                  head);
  }
  const std::string events = head_of(gateway, "/v1/responses/" + stored + "?stream=true");
  CHECK(events.find("text/event-stream") != std::string::npos);
  CHECK(head_of(gateway, "/v1/models/none").starts_with("HTTP/1.1 404"));
}

TEST_CASE("gateway: who asks an address in another way than it knows is told the ways") {
  Gateway gateway;
  const std::vector<std::pair<std::string, std::string>> addresses = {
      {"/", "GET, HEAD"},
      {"/health", "GET, HEAD"},
      {"/ready", "GET, HEAD"},
      {"/version", "GET, HEAD"},
      {"/metrics", "GET, HEAD"},
      {"/tokenize", "POST"},
      {"/detokenize", "POST"},
      {"/v1/models", "GET, HEAD"},
      {"/v1/models/small", "GET, HEAD"},
      {"/v1/models/an/other", "GET, HEAD"},
      {"/v1/chat/completions", "POST"},
      {"/v1/chat/completions/render", "POST"},
      {"/v1/completions", "POST"},
      {"/v1/messages", "POST"},
      {"/v1/messages/count_tokens", "POST"},
      {"/v1/messages/render", "POST"},
      {"/v1/responses", "POST, GET, HEAD"},
      {"/v1/responses/compact", "POST"},
      {"/v1/responses/input_tokens", "POST"},
      {"/v1/responses/render", "POST"},
      {"/v1/responses/resp_1", "GET, HEAD, DELETE"},
      {"/v1/responses/resp_1/input_items", "GET, HEAD"},
      {"/v1/responses/resp_1/cancel", "POST"},
      {"/v1/conversations", "POST"},
      {"/v1/conversations/conv_1", "GET, HEAD, POST, DELETE"},
      {"/v1/conversations/conv_1/items", "GET, HEAD, POST"},
      {"/v1/conversations/conv_1/items/msg_1", "GET, HEAD, DELETE"},
      {"/rondo/v1/log", "GET, HEAD"},
      {"/rondo/v1/sessions", "GET, HEAD"},
      {"/rondo/v1/sessions/one", "GET, HEAD, DELETE"},
      {"/rondo/v1/sessions/one/tokens", "GET, HEAD"},
      {"/rondo/v1/sessions/one/training", "GET, HEAD"},
      {"/s/one/v1/messages", "POST"},
  };
  for (const auto& [path, allowed] : addresses) {
    for (const std::string method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
      CAPTURE(method);
      CAPTURE(path);
      const Answer answer = gateway.ask(method, path);
      const bool is_allowed = (", " + allowed + ",").find(", " + method + ",") != std::string::npos;
      CHECK((answer.status != 405) == is_allowed);
      CHECK(answer.header("allow") == (is_allowed ? "" : allowed));
      const std::string asked = path.starts_with("/s/one") ? path.substr(6) : path;
      if (!is_allowed && method != "HEAD") CHECK(answer.error() == method + " is not for " + asked);
    }
  }
  for (const char* path :
       {"/v1", "/v1/", "//", "/v1/chat", "/v1/responses/resp_1/output", "/v1/conversations/conv_1/items/msg_1/text",
        "/rondo/v1/sessions/one/texts", "/api/tags", "/props"}) {
    for (const char* method : {"GET", "POST", "DELETE"})
      CHECK_MESSAGE(gateway.ask(method, path).error() == "there is no such address: " + std::string(path), path);
  }
}

TEST_CASE("gateway: a model's name may come in percents, a server's name in capitals") {
  gateway::ServiceOptions options;
  options.hosts = {"127.0.0.1", "box.local"};
  Gateway gateway(options);
  CHECK(gateway.ask("GET", "/v1/models/sm%61ll").json().find_string("id") == "small");
  CHECK(gateway.ask("GET", "/v1/models/an%2Fother").error() == "the model `an/other` does not exist");
  CHECK(gateway.ask("GET", "/v1/models/100%").error() == "the model `100%` does not exist");
  const auto called = [&](const std::string& host) {
    return gateway.raw("GET /health HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
  };
  CHECK(called("BOX.Local:8080").starts_with("HTTP/1.1 200"));
  CHECK(called("box.locale").find("this server is not called box.locale (--server-name adds a name)") !=
        std::string::npos);
}

TEST_CASE("gateway: a session's name may come in percents") {
  Gateway gateway;
  const std::string chat = R"({"messages": [{"role": "user", "content": "hello"}]})";
  CHECK(gateway.post("/s/my%20agent%2F1/v1/chat/completions", chat).status == 200);
  CHECK(gateway.post("/s/two%0Alines/v1/chat/completions", chat).status == 200);
  CHECK(gateway.post("/s/100%/v1/chat/completions", chat).status == 200);
  for (const char* path : {"my%20agent%2f1", "my%20%61gent%2F1", "two%0Alines", "100%"})
    CHECK_MESSAGE(gateway.ask("GET", "/rondo/v1/sessions/" + std::string(path)).status == 200, path);
  CHECK(gateway.ask("GET", "/rondo/v1/sessions/my%2520agent%252F1").status == 404);
  const auto named = gateway.post("/v1/chat/completions", chat, {{"x-rondo-session", "my agent/1"}});
  CHECK(named.status == 200);
  CHECK(gateway.ask("GET", "/rondo/v1/sessions/my%20agent%2F1").json().find("turns")->as_array().size() == 2);
}

TEST_CASE("gateway: a base address without the version is served") {
  Gateway gateway;
  const std::string chat = R"({"messages": [{"role": "user", "content": "hello"}]})";
  CHECK(gateway.post("/chat/completions", chat).status == 200);
  CHECK(gateway.post("/s/one/chat/completions", chat).status == 200);
  CHECK(gateway.ask("GET", "/rondo/v1/sessions/one").status == 200);
  CHECK(gateway.ask("GET", "/models").status == 200);
  CHECK(gateway.post("/responses", R"({"input": "hello"})").status == 200);
  CHECK(gateway.ask("DELETE", "/chat/completions").status == 405);
  CHECK(gateway.post("/sessions", "{}").status == 404);
}

TEST_CASE("gateway: a wrong base address is told which address was meant") {
  Gateway gateway;
  for (const auto& [path, meant] :
       {std::pair<std::string, std::string>{"/v1/v1/chat/completions", "/v1/chat/completions"},
        {"/v1/chat/completions/chat/completions", "/v1/chat/completions"},
        {"/v1/chat/completions/", "/v1/chat/completions"},
        {"/api/v1/messages", "/v1/messages"},
        {"/api/messages/count_tokens", "/v1/messages/count_tokens"},
        {"/v1/v1/models/some/name", "/v1/models/some/name"},
        {"/v1/responses/resp_1/", "/v1/responses/resp_1"},
        {"/rondo/v1/sessions/", "/rondo/v1/sessions"},
        {"/v1/health", "/health"}}) {
    const Answer answer = gateway.post(path, "{}");
    CHECK(answer.status == 404);
    CHECK(answer.error() == "there is no such address: " + path + ", but there is " + meant +
                                " (what base address does the client have?)");
  }
  const std::string longest = "/v1/" + std::string(300, 'v') + "/v1/models";
  CHECK(gateway.ask("GET", longest).error() == "there is no such address: " + longest);
}

TEST_CASE("gateway: an engine that tells nothing of prompts is not asked to") {
  Gateway gateway;
  for (const auto& [field, wish] : {std::pair<std::string, std::string>{"logprobs", R"("echo": true, "logprobs": 1)"},
                                    {"prompt_logprobs", R"("prompt_logprobs": 0)"}}) {
    const Answer refused = gateway.post("/v1/completions", R"({"prompt": "a", )" + wish + "}");
    CHECK(refused.status == 400);
    CHECK(refused.error() == "the engine tells no log probabilities of prompts");
    CHECK(refused.json().find("error")->find_string("param") == field);
  }
  CHECK(gateway.post("/v1/completions", R"({"prompt": "a", "echo": true})").status == 200);
}

TEST_CASE("gateway: a request without messages, and one that is packed, are told so") {
  Gateway gateway;
  for (const auto& [path, body, sentence] :
       {std::array<std::string, 3>{"/v1/chat/completions", R"({"messages": []})", "`messages` must not be empty"},
        {"/v1/messages", R"({"messages": [], "max_tokens": 4})",
         "`messages` must not be empty: at least one message is required"},
        {"/v1/responses", R"({"input": []})", "`input` must not be empty"},
        {"/v1/responses", R"({"input": null})", "`input` is missing"},
        {"/v1/responses", "{}", "`input` is missing"}}) {
    const Answer refused = gateway.post(path, body);
    CHECK(refused.status == 400);
    CHECK(refused.error() == sentence);
  }
  CHECK(gateway.post("/v1/responses", R"({"input": null, "instructions": "be brief"})").status == 200);
  const std::string body = R"({"messages": [{"role": "user", "content": "hello"}]})";
  const Answer packed = gateway.post("/v1/chat/completions", body, {{"content-encoding", "gzip"}});
  CHECK(packed.status == 415);
  CHECK(packed.error() == "a body in `gzip` is not read: it has to come as it is");
  CHECK(packed.header("accept-encoding") == "identity");
  CHECK(gateway.post("/v1/chat/completions", body, {{"content-encoding", "identity"}}).status == 200);
}

TEST_CASE("gateway: a message of which the template writes nothing, for it does not know the role, is refused") {
  Gateway gateway;
  gateway.parts.models.front().model =
      core::Model::load({.path = testing::kSmallFolder,
                         .chat_template = "{%- for m in messages %}{%- if m.role in ['system', 'user', 'assistant'] %}"
                                          "{{ '<' ~ m.role ~ '>' ~ m.content ~ '</s>' }}{%- endif %}{%- endfor %}"
                                          "{%- if add_generation_prompt %}{{ '<assistant>' }}{%- endif %}"})
          .value();
  gateway.service = std::make_unique<gateway::Service>(gateway.loop, gateway.parts);
  const auto refused = [&](const std::string& path, const std::string& body) {
    const Answer answer = gateway.post(path, body);
    CHECK_MESSAGE(answer.status == 400, body);
    const json::Value reply = answer.json();
    const json::Value* fault = reply.find("error");
    return answer.error() + " | " + std::string(fault == nullptr ? "" : fault->find_string("param").value_or(""));
  };
  const std::string robot = R"([{"role": "user", "content": "hello"}, {"role": "robot", "content": "hello"}])";
  for (const char* path : {"/v1/chat/completions", "/tokenize", "/v1/chat/completions/render"})
    CHECK(refused(path, R"({"messages": )" + robot + "}") ==
          "`messages[1].role`: the template writes nothing for the role `robot` | messages[1].role");
  for (const char* path : {"/v1/responses", "/v1/responses/input_tokens"})
    CHECK(refused(path, R"({"instructions": "be brief", "input": )" + robot + "}") ==
          "`input[1].role`: the template writes nothing for the role `robot` | input[1].role");
  CHECK(refused("/v1/chat/completions", R"({"messages": [{"role": "function", "name": "f", "content": "1"},
                                                         {"role": "user", "content": "hello"}]})") ==
        "`messages[0].role`: the template writes nothing for the role `tool` | messages[0].role");
  for (const char* role : {"user", "assistant", "system", "developer"})
    CHECK_MESSAGE(
        gateway.post("/v1/chat/completions", R"({"messages": [{"role": ")" + std::string(role) +
                                                 R"(", "content": "hello"}, {"role": "user", "content": "a"}]})")
                .status == 200,
        role);
  // A template that prints any role prints one of the client's own.
  gateway.parts.models.front().model =
      core::Model::load({.path = testing::kSmallFolder,
                         .chat_template =
                             "{%- for m in messages %}{{ '<' ~ m.role ~ '>' ~ m.content ~ '</s>' }}"
                             "{%- endfor %}{%- if add_generation_prompt %}{{ '<assistant>' }}{%- endif %}"})
          .value();
  gateway.service = std::make_unique<gateway::Service>(gateway.loop, gateway.parts);
  CHECK(gateway.post("/v1/chat/completions", R"({"messages": )" + robot + "}").status == 200);
}

TEST_CASE("gateway: what older clients of the Chat API send stands in the prompt") {
  Gateway gateway;
  const auto text_of = [&](const std::string& messages) {
    const json::Value ids = gateway.post("/tokenize", R"({"messages": )" + messages + "}").json();
    REQUIRE_MESSAGE(ids.find("tokens") != nullptr, json::to_compact(ids));
    const json::Object asked{{"tokens", *ids.find("tokens")}};
    const json::Value text = gateway.post("/detokenize", json::to_compact(json::Value(asked))).json();
    return std::string(text.find_string("prompt").value_or(""));
  };
  CHECK(text_of(R"([{"role": "user", "content": "a"},
                    {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{\"x\": 1}"}},
                    {"role": "function", "name": "f", "content": "42"}])") ==
        text_of(R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "q", "type": "function", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]},
                    {"role": "tool", "tool_call_id": "q", "content": "42"}])"));
  const std::string refused =
      text_of(R"([{"role": "user", "content": "a"}, {"role": "assistant", "refusal": "I cannot"}])");
  CHECK_MESSAGE(refused.find("I cannot") != std::string::npos, refused);
  CHECK(gateway.post("/v1/responses", R"({"input": "a", "prompt": {"id": "pmpt_1"}})").error() ==
        "`prompt` names a stored prompt, and none are kept here");
  const Answer spoken = gateway.post("/v1/chat/completions", R"({"messages": [{"role": "user", "content": "a"}],
      "audio": {"voice": "x"}})");
  CHECK(spoken.status == 200);
  CHECK(spoken.header("warning").find("`audio` was left out: replies are text") != std::string::npos);
}

TEST_CASE("gateway: what token ids can't carry is named by the request's own field") {
  Gateway gateway;
  const auto param = [&](const std::string& path, const std::string& body) {
    const Answer answer = gateway.post(path, body);
    CHECK_MESSAGE(answer.status == 400, body);
    const json::Value reply = answer.json();
    const auto named = reply.find("error")->find_string("param");
    return std::string(named ? *named : answer.error());
  };
  const std::string image = R"({"type": "input_image", "image_url": "data:image/png;base64,AA=="})";
  CHECK(param("/v1/responses", R"({"instructions": "be brief", "input": [{"role": "assistant", "content": "a"},
      {"role": "user", "content": "b"}, {"role": "user", "content": [{"type": "input_text", "text": "c"}, )" +
                                   image + "]}]}") == "input[2].content[1]");
  CHECK(param("/v1/responses", R"({"input": [{"type": "function_call", "call_id": "q", "name": "f", "arguments": "{}"},
      {"type": "function_call_output", "call_id": "q", "output": [)" +
                                   image + "]}]}") == "input[1].output[0]");
  const std::string block = R"({"type": "image", "source": {"type": "url", "url": "http://a"}})";
  CHECK(param("/v1/messages", R"({"max_tokens": 4, "system": "be brief", "messages": [{"role": "user", "content": [
      {"type": "text", "text": "c"}, )" +
                                  block + "]}]}") == "`messages[0].content[1]` is not text: token ids carry only text");
  CHECK(param("/v1/chat/completions", R"({"messages": [{"role": "user", "content": [
      {"type": "image_url", "image_url": {"url": "http://a"}}]}]})") == "messages[0].content[0]");
}

TEST_CASE("gateway: who goes on from a response that the store has lost is told which, and begins anew") {
  Gateway gateway;
  const auto say = [&](const std::string& previous, const std::string& field = "previous_response_id") {
    const std::string more = previous.empty() ? "" : ", \"" + field + "\": \"" + previous + "\"";
    return gateway.post("/v1/responses", R"({"input": "hello")" + more + "}");
  };
  const auto id_of = [](const Answer& answer) { return std::string(answer.json().find_string("id").value_or("")); };
  const auto code_of = [](const Answer& answer) {
    return std::string(answer.json().find("error")->find_string("code").value_or(""));
  };
  const std::string first = id_of(say(""));
  const std::string second = id_of(say(first));
  // Both are gone, as with a store that has lost what it said it had.
  CHECK(gateway.store.expire(4'000'000'000'000, {.ttl_ms = 1}).value() > 0);
  for (const std::string& id : {first, second}) {
    const Answer lost = say(id);
    CHECK(lost.status == 400);
    CHECK(lost.error() == "previous response with id `" + id + "` not found");
    CHECK(code_of(lost) == "previous_response_not_found");
    const Answer shown = gateway.ask("GET", "/v1/responses/" + id);
    CHECK(shown.status == 404);
    CHECK(shown.error() == "response with id `" + id + "` not found");
  }
  CHECK(say("").status == 200);
}

TEST_CASE("gateway: a response in which nothing was said has a message without text") {
  for (const bool streams : {false, true}) {
    Gateway gateway;
    gateway.engine.reply.clear();
    const std::string body = std::string(R"({"input": "hello", "stream": )") + (streams ? "true}" : "false}");
    const Answer answer = gateway.post("/v1/responses", body);
    REQUIRE(answer.status == 200);
    json::Value response;
    if (streams) {
      for (const char* event : {"response.output_item.added", "response.content_part.added",
                                "response.output_text.done", "response.content_part.done", "response.output_item.done"})
        CHECK_MESSAGE(answer.body.find(std::string("event: ") + event) != std::string::npos, event);
      const std::size_t last = answer.body.rfind("data: {") + 6;
      response = *json::parse(answer.body.substr(last, answer.body.find('\n', last) - last)).value().find("response");
    } else {
      response = answer.json();
    }
    const json::Array& output = response.find("output")->as_array();
    REQUIRE(output.size() == 1);
    CHECK(output[0].find_string("type") == "message");
    CHECK(output[0].find("content")->as_array().at(0).find_string("text") == "");
    // It is gone on from, by its id and by its item.
    const std::string id(response.find_string("id").value_or(""));
    CHECK(gateway.post("/v1/responses", R"({"input": "go on", "previous_response_id": ")" + id + "\"}")
              .header("x-rondo-prefix")
              .starts_with("how=bridge"));
    json::Array input = {json::Object{{"role", "user"}, {"content", "hello"}}, output[0],
                         json::Object{{"role", "user"}, {"content", "go on"}}};
    CHECK(gateway.post("/v1/responses", json::to_compact(json::Value(json::Object{{"input", std::move(input)}})))
              .header("x-rondo-prefix")
              .starts_with("how=bridge"));
  }
}

TEST_CASE("gateway: an engine is asked for log probabilities where somebody wants them") {
  const auto kept = [](Gateway& gateway) {
    const Answer rows = gateway.ask("GET", "/rondo/v1/sessions/one/training");
    const json::Value row = json::parse(rows.body.substr(0, rows.body.find('\n'))).value();
    return json::to_compact(row.find("logprobs")->as_array().back());
  };
  const std::string chat = R"({"messages": [{"role": "user", "content": "hello"}]})";
  for (const bool keeps : {false, true}) {
    for (const char* path : {"/s/one/v1/chat/completions", "/s/one/v1/completions"}) {
      Gateway gateway({.keep_logprobs = keeps});
      const bool is_chat = std::string_view(path).find("chat") != std::string_view::npos;
      const Answer answer = gateway.post(path, is_chat ? chat : R"({"prompt": "hello"})");
      CHECK(answer.status == 200);
      CHECK(gateway.engine.logprobs.has_value() == keeps);
      CHECK(answer.json().find("choices")->as_array()[0].find("logprobs")->is_null());
      CHECK(kept(gateway) == (keeps ? "-0.5" : "null"));
    }
  }
}
