// The gateway as its clients see it: over HTTP, with the embedded engine behind it.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "engine/embedded.h"
#include "gateway/service.h"
#include "json/parse.h"
#include "json/print.h"
#include "net/client.h"
#include "net/sse.h"
#include "spans/memory_store.h"
#include "tests/support/gateway_client.h"
#include "tests/support/http.h"
#include "tests/support/small_model.h"

using namespace rondo;
using testing::Answer;

namespace {

// An engine that fails whatever it is asked.
class Broken final : public engine::Serving {
 public:
  explicit Broken(net::Loop& loop) : loop_(loop) {}
  [[nodiscard]] const engine::Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] std::unique_ptr<engine::Submission> submit(engine::Request request,
                                                           engine::Listener& listener) override {
    loop_.post([&listener, choices = request.choices] {
      engine::Outcome outcome;
      outcome.choices.resize(choices);
      outcome.error = Error(ErrorCode::kEngine, "the engine is on fire");
      listener.on_end(outcome);
    });
    struct Running final : engine::Submission {
      void cancel() override {}
    };
    return std::make_unique<Running>();
  }

 private:
  net::Loop& loop_;
  engine::Capabilities capabilities_{.name = "broken", .context_tokens = 100, .grammars = {}};
};

// A store that says no while it is told to.
class Failing final : public spans::MemoryStore {
 public:
  void put(spans::StoredTurn turn, Kept kept) override {
    if (!fails_to_put) return MemoryStore::put(std::move(turn), std::move(kept));
    kept(Error(ErrorCode::kIo, "the store of turns cannot be used: no space is left"));
  }
  [[nodiscard]] Result<std::vector<spans::Hit>> find(const spans::Digest& scope,
                                                     std::span<const spans::Digest> hashes) override {
    if (!fails_to_find) return MemoryStore::find(scope, hashes);
    return Error(ErrorCode::kIo, "the store of turns cannot be reached");
  }
  bool fails_to_put = false;
  bool fails_to_find = false;
};

class Gateway {
 public:
  explicit Gateway(bool is_broken = false) : folder_("gateway"), kept_(store_, spans::HashKey{1, 2, 3}) {
    const std::string path = testing::small_model(folder_, "model.gguf", testing::small_template());
    auto model = core::Model::load({.path = path});
    REQUIRE_MESSAGE(model.ok(), (model.ok() ? "" : model.error().to_string()));
    model_ = std::move(model).value();
    auto loaded = engine::Embedded::load(path, {.llama = {.context_tokens = 1024}, .parallel = 2});
    REQUIRE(loaded.ok());
    embedded_ = std::move(loaded).value();
    if (is_broken) {
      serving_ = std::make_unique<Broken>(loop_);
    } else {
      serving_ = embedded_->serve(loop_);
    }
    gateway::ServiceParts parts;
    parts.models = {{.name = "small", .model = model_, .serving = serving_.get()}};
    parts.spans = &kept_;
    parts.workers = &workers_;
    parts.options.hosts = {"127.0.0.1"};
    parts.page = [](std::string_view nonce) { return "page " + std::string(nonce); };
    testing::make_repeatable(parts);
    service_ = std::make_unique<gateway::Service>(loop_, std::move(parts));
    auto server = net::Server::make(loop_, {.explain = gateway::Service::explain},
                                    [this](net::Exchange exchange) { service_->handle(std::move(exchange)); });
    REQUIRE(server.ok());
    server_ = std::move(server).value();
    client_ = net::Client::make(loop_, {}).value();
  }
  ~Gateway() {
    client_.reset();
    server_.reset();
    service_.reset();
  }

  Answer ask(const std::string& method, const std::string& path, const std::string& body = "",
             net::Headers headers = {}) {
    return testing::ask(*client_, loop_,
                        {.method = method, .url = server_->url() + path, .headers = std::move(headers), .body = body});
  }
  Answer post(const std::string& path, const std::string& body, net::Headers headers = {}) {
    return ask("POST", path, body, std::move(headers));
  }
  // Begins a stream and goes away with its first bytes.
  void leave(const std::string& path, const std::string& body) {
    struct Leaving final : net::StreamHandler {
      void on_head(int, const net::Headers&) override {}
      void on_data(std::string_view) override { loop->stop(); }
      void on_end(const net::Ending&) override { loop->stop(); }
      net::Loop* loop = nullptr;
    } leaving;
    leaving.loop = &loop_;
    auto call = client_->stream({.method = "POST", .url = server_->url() + path, .body = body}, leaving);
    loop_.run();
    call.reset();
  }
  std::string raw(const std::string& bytes, const std::string& until) {
    return testing::raw_exchange(loop_, server_->port(), {bytes}, until);
  }
  [[nodiscard]] std::string url() const { return server_->url(); }
  Failing& store() { return store_; }

 private:
  testing::OwnFolder folder_;
  net::Loop loop_;
  Failing store_;
  spans::Spans kept_;
  Workers workers_{2};
  std::shared_ptr<const core::Model> model_;
  std::unique_ptr<engine::Embedded> embedded_;
  std::unique_ptr<engine::Serving> serving_;
  std::unique_ptr<gateway::Service> service_;
  std::unique_ptr<net::Server> server_;
  std::unique_ptr<net::Client> client_;
};

std::string chat_body(const json::Array& messages, const std::string& more = "") {
  return "{\"model\": \"small\", \"max_tokens\": 12, \"temperature\": 0" + more +
         ", \"messages\": " + json::to_compact(messages) + "}";
}

json::Object user(const std::string& text) { return {{"role", "user"}, {"content", text}}; }

// The events of a stream.
std::vector<net::SseEvent> events_of(const std::string& body) {
  net::SseReader reader;
  std::vector<net::SseEvent> events;
  REQUIRE(reader.read(body, [&](const net::SseEvent& event) { events.push_back(event); }).ok());
  return events;
}

std::string text_at(const json::Value& value, std::initializer_list<const char*> path) {
  const json::Value* at = &value;
  for (const char* name : path) {
    at = at->is_array() ? &at->as_array().front() : at->find(name);
    REQUIRE(at != nullptr);
  }
  return std::string(at->as_string());
}

}  // namespace

TEST_CASE("a conversation goes on from the ids that were sampled, in each of the three APIs") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  json::Array messages = {user("hello")};
  for (int turn = 0; turn < 4; ++turn) {
    const Answer answer = gateway.post("/v1/chat/completions", chat_body(messages));
    REQUIRE_MESSAGE(answer.status == 200, answer.body);
    const std::string how = turn == 0 ? "how=render expected=0" : "how=bridge expected=";
    CHECK(answer.header("x-rondo-prefix").starts_with(how));
    CHECK(answer.header("x-rondo-prefix").ends_with(turn == 0 ? "" : "rendered=0"));
    messages.push_back(answer.json().find("choices")->as_array()[0].find("message")->as_object());
    messages.push_back(user("go on"));
  }
  std::string previous;
  for (int turn = 0; turn < 3; ++turn) {
    const Answer answer =
        gateway.post("/v1/responses", "{\"input\": \"hello\", \"max_output_tokens\": 8" + previous + "}");
    REQUIRE_MESSAGE(answer.status == 200, answer.body);
    CHECK(answer.header("x-rondo-prefix").starts_with(turn == 0 ? "how=render" : "how=bridge"));
    previous = ", \"previous_response_id\": \"" + text_at(answer.json(), {"id"}) + "\"";
  }
  json::Array blocks = {user("hello there")};
  for (int turn = 0; turn < 3; ++turn) {
    const Answer answer =
        gateway.post("/v1/messages", "{\"max_tokens\": 8, \"messages\": " + json::to_compact(blocks) + "}");
    REQUIRE_MESSAGE(answer.status == 200, answer.body);
    CHECK(answer.header("x-rondo-prefix").starts_with(turn == 0 ? "how=render" : "how=bridge"));
    blocks.push_back(json::Object{{"role", "assistant"}, {"content", *answer.json().find("content")}});
    blocks.push_back(user("more"));
  }
}

TEST_CASE("the deltas of a stream add up to the reply, and it ends as its API's does") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const json::Array messages = {user("tell me")};
  const Answer whole = gateway.post("/v1/chat/completions", chat_body(messages));
  const std::string content = text_at(*whole.json().find("choices"), {"", "message", "content"});
  const Answer stream = gateway.post("/v1/chat/completions", chat_body(messages, ", \"stream\": true"));
  CHECK(stream.header("content-type") == "text/event-stream; charset=utf-8");
  std::string sum;
  const auto events = events_of(stream.body);
  for (const net::SseEvent& event : events) {
    if (event.data == "[DONE]") continue;
    const json::Value chunk = json::parse(event.data).value();
    for (const json::Value& choice : chunk.find("choices")->as_array())
      sum += std::string(choice.find("delta")->find_string("content").value_or(""));
  }
  CHECK(sum == content);
  CHECK(events.back().data == "[DONE]");
  const auto last_of = [&](const std::string& path, const std::string& body) {
    return events_of(gateway.post(path, body).body).back().name;
  };
  CHECK(last_of("/v1/messages", "{\"max_tokens\": 4, \"stream\": true, \"messages\": " + json::to_compact(messages) +
                                    "}") == "message_stop");
}

TEST_CASE("what a request does wrong is said in its API's shape") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const auto message = [&](const Answer& answer, int status) {
    CHECK(answer.status == status);
    return text_at(answer.json(), {"error", "message"});
  };
  CHECK(message(gateway.post("/v1/chat/completions", "{"), 400) != "");
  CHECK(message(gateway.post("/v1/chat/completions", "{\"messages\": 3}"), 400).find("messages") != std::string::npos);
  CHECK(message(gateway.post("/v1/nowhere", "{}"), 404) == "there is no such address: /v1/nowhere");
  CHECK(message(gateway.ask("GET", "/v1/chat/completions"), 405) == "GET is not for /v1/chat/completions");
  CHECK(gateway.post("/v1/messages", "{\"max_tokens\": 1, \"messages\": 3}").json().find_string("type") == "error");
  const Answer lost = gateway.post("/v1/responses", "{\"input\": \"x\", \"previous_response_id\": \"resp_none\"}");
  CHECK(lost.status == 400);
  CHECK(text_at(lost.json(), {"error", "code"}) == "previous_response_not_found");
  const Answer large = gateway.post("/v1/chat/completions", chat_body({user(std::string(9000, 'q'))}));
  CHECK(large.status == 400);
  CHECK(text_at(large.json(), {"error", "code"}) == "context_length_exceeded");
  CHECK(gateway.ask("GET", "/v1/models/other").status == 404);
  CHECK(gateway.ask("GET", "/v1/models/small").status == 200);
  CHECK(gateway.ask("GET", "/health").status == 200);
  CHECK(gateway.ask("GET", "/metrics").body.find("rondo_failed_total 0") != std::string::npos);
}

TEST_CASE("pages of other origins, and names that lead here from elsewhere, are refused") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  CHECK(gateway.ask("GET", "/v1/models", "", {{"Origin", "http://evil.example"}}).status == 403);
  CHECK(gateway.ask("GET", "/v1/models", "", {{"Origin", "null"}}).status == 403);
  CHECK(gateway.ask("GET", "/v1/models", "", {{"Origin", gateway.url()}}).status == 200);
  CHECK(gateway.ask("GET", "/v1/models").status == 200);
  CHECK(gateway.raw("GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n", "}}").starts_with("HTTP/1.1 403"));
}

TEST_CASE("an engine that fails is a fault of the gateway, not of the client") {
  if (!testing::has_engine()) return;
  Gateway gateway(true);
  const Answer answer = gateway.post("/v1/chat/completions", chat_body({user("x")}));
  CHECK(answer.status == 502);
  CHECK(text_at(answer.json(), {"error", "message"}) == "the engine is on fire");
}

TEST_CASE("a stop text ends the reply in front of it") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const json::Array messages = {user("tell me")};
  const std::string content = text_at(*gateway.post("/v1/chat/completions", chat_body(messages)).json().find("choices"),
                                      {"", "message", "content"});
  REQUIRE(content.size() > 8);
  const std::string stop = content.substr(4, 2);
  const std::string more = ", \"stop\": " + json::to_compact(json::Value(stop));
  if (!json::parse(json::to_compact(json::Value(stop))).ok()) return;
  const json::Value reply = gateway.post("/v1/chat/completions", chat_body(messages, more)).json();
  CHECK(text_at(*reply.find("choices"), {"", "message", "content"}) == content.substr(0, content.find(stop)));
  CHECK(text_at(*reply.find("choices"), {"", "finish_reason"}) == "stop");
}

TEST_CASE("a client that goes away leaves a turn that was cut off, and the engine free") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  for (int i = 0; i < 5; ++i) {
    gateway.leave("/v1/chat/completions",
                  "{\"stream\": true, \"max_tokens\": 900, \"messages\": [{\"role\": \"user\", \"content\": \"go\"}]}");
  }
  CHECK(gateway.post("/v1/chat/completions", chat_body({user("still there?")})).status == 200);
  const json::Value sessions = gateway.ask("GET", "/rondo/v1/sessions").json();
  CHECK(sessions.find("sessions")->as_array().size() >= 1);
}

TEST_CASE("a session's ids are what the engine saw, and what a trainer takes") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  json::Array messages = {user("hello")};
  std::vector<json::Value> replies;
  for (int turn = 0; turn < 3; ++turn) {
    const Answer answer =
        gateway.post("/s/run-7/v1/chat/completions", chat_body(messages, ", \"return_token_ids\": true"));
    REQUIRE_MESSAGE(answer.status == 200, answer.body);
    replies.push_back(answer.json());
    messages.push_back(replies.back().find("choices")->as_array()[0].find("message")->as_object());
    messages.push_back(user("go on"));
  }
  const json::Value session = gateway.ask("GET", "/rondo/v1/sessions/run-7").json();
  REQUIRE(session.find("turns")->as_array().size() == 3);
  const Answer training = gateway.ask("GET", "/rondo/v1/sessions/run-7/training");
  CHECK(std::count(training.body.begin(), training.body.end(), '\n') == 1);
  const json::Value row = training.json();
  const json::Array& ids = row.find("ids")->as_array();
  const json::Array& mask = row.find("loss_mask")->as_array();
  REQUIRE(ids.size() == mask.size());
  json::Array expected = replies.back().find("prompt_token_ids")->as_array();
  const json::Array& completion = replies.back().find("choices")->as_array()[0].find("token_ids")->as_array();
  expected.insert(expected.end(), completion.begin(), completion.end());
  CHECK(json::to_compact(*row.find("ids")) == json::to_compact(expected));
  std::int64_t sampled = 0;
  for (const json::Value& one : mask) sampled += one.to_int64().value_or(0);
  std::int64_t asked = 0;
  for (const json::Value& reply : replies) asked += *reply.find("usage")->find("completion_tokens")->to_int64();
  CHECK(sampled == asked);
  const json::Value tokens = gateway.ask("GET", "/rondo/v1/sessions/run-7/tokens?turn=0").json();
  CHECK(tokens.find("owners")->as_array().size() == tokens.find("ids")->as_array().size());
  CHECK(tokens.find("texts") == nullptr);
  const json::Value texts = gateway.ask("GET", "/rondo/v1/sessions/run-7/tokens?turn=0&texts=1").json();
  REQUIRE(texts.find("texts")->as_array().size() == texts.find("ids")->as_array().size());
  std::string joined;
  for (const json::Value& text : texts.find("texts")->as_array()) joined += text.as_string();
  CHECK(joined.find("hello") != std::string::npos);
  CHECK(*texts.find("roles") == json::Value(json::Array{json::Value("user"), json::Value("assistant")}));
  CHECK(gateway.ask("DELETE", "/rondo/v1/sessions/run-7").status == 200);
  CHECK(gateway.ask("GET", "/rondo/v1/sessions/run-7").status == 404);
}

TEST_CASE("sessions are listed as they grow, and the page runs nothing but its own script") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  json::Array messages = {user("hello")};
  for (std::int64_t turn = 1; turn < 4; ++turn) {
    const Answer answer = gateway.post("/s/run-7/v1/chat/completions", chat_body(messages));
    messages.push_back(answer.json().find("choices")->as_array()[0].find("message")->as_object());
    messages.push_back(user("go on"));
    const json::Value list = gateway.ask("GET", "/rondo/v1/sessions").json();
    REQUIRE(list.find("sessions")->as_array().size() == 1);
    const json::Value& row = list.find("sessions")->as_array()[0];
    CHECK(row.find("turns")->to_int64() == turn);
    CHECK(row.find_string("name") == "run-7");
    for (const char* field : {"id", "model", "branches", "prompt_tokens", "cached_tokens", "breaks", "first", "last"})
      CHECK_MESSAGE(row.find(field) != nullptr, field);
  }
  const Answer page = gateway.ask("GET", "/");
  CHECK(page.status == 200);
  CHECK(page.header("content-type") == "text/html; charset=utf-8");
  REQUIRE(page.body.starts_with("page page_"));
  const std::string nonce = page.body.substr(5);
  CHECK(page.header("content-security-policy").find("script-src 'nonce-" + nonce + "';") != std::string::npos);
  CHECK(page.header("content-security-policy").find("unsafe") == std::string::npos);
  CHECK(gateway.ask("GET", "/").body != page.body);
}

TEST_CASE("ids of texts and prompts can be asked for without generating") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const json::Value ids = gateway.post("/tokenize", "{\"prompt\": \"hello city\"}").json();
  const Answer back = gateway.post("/detokenize", "{\"tokens\": " + json::to_compact(*ids.find("tokens")) + "}");
  CHECK(text_at(back.json(), {"prompt"}) == "hello city");
  const json::Array messages = {user("hello")};
  const json::Value rendered = gateway.post("/v1/chat/completions/render", chat_body(messages)).json();
  const json::Value counted =
      gateway.post("/v1/messages/count_tokens", "{\"messages\": " + json::to_compact(messages) + "}").json();
  const json::Value* prompt = rendered.find("token_ids");
  REQUIRE(prompt != nullptr);
  CHECK(static_cast<std::int64_t>(prompt->as_array().size()) == counted.find("input_tokens")->to_int64());
}

TEST_CASE(
    "a turn that cannot be kept is not told to be complete, and nothing is rendered anew while the store is away") {
  if (!testing::has_engine()) return;
  Gateway gateway;
  const json::Array messages = {user("hello")};
  gateway.store().fails_to_put = true;
  const Answer whole = gateway.post("/v1/chat/completions", chat_body(messages));
  CHECK(whole.status == 503);
  CHECK(whole.header("retry-after") == "1");
  CHECK(text_at(whole.json(), {"error", "message"}).find("no space") != std::string::npos);
  const Answer stream = gateway.post("/v1/chat/completions", chat_body(messages, ", \"stream\": true"));
  CHECK(stream.body.find("no space") != std::string::npos);
  const std::string body = "{\"max_tokens\": 4, \"stream\": true, \"messages\": " + json::to_compact(messages) + "}";
  CHECK(events_of(gateway.post("/v1/messages", body).body).back().name == "error");
  gateway.store().fails_to_put = false;
  gateway.store().fails_to_find = true;
  CHECK(gateway.post("/v1/chat/completions", chat_body(messages)).status == 503);
  gateway.store().fails_to_find = false;
  CHECK(gateway.post("/v1/chat/completions", chat_body(messages)).status == 200);
}
