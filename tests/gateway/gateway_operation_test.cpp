// The gateway as its operators see it: tenants, limits, logs, numbers, and what hostile clients send.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <latch>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "engine/relay.h"
#include "json/print.h"
#include "tests/support/scripted_gateway.h"

using namespace rondo;

namespace {

using testing::Answer;
using testing::Scripted;
using Gateway = testing::ScriptedGateway;

const std::string kChat = "/v1/chat/completions";

std::string chat_body(const json::Array& messages, const std::string& more = "") {
  return "{\"max_tokens\": 900" + more + ", \"messages\": " + json::to_compact(messages) + "}";
}
json::Object user(const std::string& text) { return {{"role", "user"}, {"content", text}}; }
json::Object reply_in(const Answer& answer) {
  return answer.json().find("choices")->as_array()[0].find("message")->as_object();
}
const net::Headers kAnn = {{"authorization", "Bearer secret-of-ann"}};
const net::Headers kBob = {{"x-api-key", "secret-of-bob"}};

json::Array turns_of(Gateway& gateway, const std::string& session, const net::Headers& headers = {}) {
  const Answer answer = gateway.ask("GET", "/rondo/v1/sessions/" + session, "", headers);
  if (answer.status != 200) return {};
  return answer.json().find("turns")->as_array();
}

// Fails the test where the text is not what Prometheus reads (the text format, version 0.0.4).
std::map<std::string, double> numbers_in(const std::string& text) {
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> types;
  std::istringstream lines(text);
  CHECK(text.ends_with('\n'));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "#") {
      std::string kind;
      std::string name;
      std::string type;
      words >> kind >> name >> type;
      CHECK_MESSAGE((kind == "HELP" || kind == "TYPE"), line);
      if (kind == "TYPE") CHECK_MESSAGE(types.emplace(name, type).second, line);
      continue;
    }
    const std::size_t blank = line.rfind(' ');
    REQUIRE_MESSAGE(blank != std::string::npos, line);
    const std::string series = line.substr(0, blank);
    const std::string name = series.substr(0, series.find('{'));
    std::string base = name;
    for (const std::string end : {"_bucket", "_sum", "_count"}) {
      if (name.ends_with(end) && types.contains(name.substr(0, name.size() - end.size())))
        base = name.substr(0, name.size() - end.size());
    }
    CHECK_MESSAGE(types.contains(base), line);
    CHECK_MESSAGE((series.find('{') == std::string::npos || series.ends_with("\"}")), line);
    std::size_t used = 0;
    const double value = std::stod(line.substr(blank + 1), &used);
    CHECK_MESSAGE(used == line.size() - blank - 1, line);
    CHECK_MESSAGE(numbers.emplace(series, value).second, line);
  }
  return numbers;
}

}  // namespace

TEST_CASE("gateway: without a key nothing is answered but whether the server lives") {
  Gateway gateway({}, true);
  const Answer chat = gateway.post(kChat, chat_body({user("hello")}));
  CHECK(chat.status == 401);
  CHECK(chat.header("www-authenticate") == "Bearer");
  CHECK(chat.json().find("error")->find_string("code") == "invalid_api_key");
  const Answer messages = gateway.post("/v1/messages", "{}", {{"x-api-key", "wrong"}});
  CHECK(messages.status == 401);
  CHECK(messages.json().find("error")->find_string("type") == "authentication_error");
  for (const char* path :
       {"/v1/models", "/metrics", "/version", "/rondo/v1/sessions", "/s/x/v1/models", "/tokenize", "/none"})
    CHECK_MESSAGE(gateway.ask("GET", path).status == 401, path);
  CHECK(gateway.ask("GET", "/health").status == 200);
  CHECK(gateway.ask("GET", "/ready").status == 200);
  const Answer page = gateway.ask("GET", "/");  // it knows nothing by itself
  CHECK(page.status == 200);
  CHECK(page.body.starts_with("page "));
  CHECK(gateway.post(kChat, chat_body({user("hello")}), kAnn).status == 200);
  CHECK(gateway.post(kChat, chat_body({user("hello")}), kBob).status == 200);
  CHECK(
      gateway.post(kChat, chat_body({user("hello")}), {{"x-api-key", "no"}, {"Authorization", "bearer secret-of-ann"}})
          .status == 200);
  CHECK(gateway.post(kChat, chat_body({user("hello")}), {{"api-key", "secret-of-bob"}}).status == 200);
  CHECK(gateway.engine.tenants == std::vector<std::string>{"ann", "bob", "ann", "bob"});
  CHECK(gateway.log.find("secret-of") == std::string::npos);
  CHECK(gateway.log.find("\"tenant\":\"bob\"") != std::string::npos);
}

TEST_CASE("gateway: a key is looked at before the body comes") {
  Gateway gateway({}, true);
  const std::string answer = gateway.raw(
      "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 50000000\r\nExpect: 100-continue\r\n\r\n");
  CHECK(answer.starts_with("HTTP/1.1 401"));
  CHECK(answer.find("authentication_error") != std::string::npos);
}

TEST_CASE("gateway: what a tenant has is unknown to another") {
  Gateway gateway({}, true);
  json::Array messages = {user("hello")};
  const Answer first = gateway.post("/s/run/v1/chat/completions", chat_body(messages), kAnn);
  messages.push_back(reply_in(first));
  messages.push_back(user("go on"));
  const Answer other = gateway.post("/s/run/v1/chat/completions", chat_body(messages), kBob);
  CHECK(other.header("x-rondo-prefix").starts_with("how=render expected=0"));
  const Answer own = gateway.post("/s/run/v1/chat/completions", chat_body(messages), kAnn);
  CHECK(own.header("x-rondo-prefix").starts_with("how=bridge"));
  // Sessions of the same name are two.
  CHECK(turns_of(gateway, "run", kAnn).size() == 2);
  CHECK(turns_of(gateway, "run", kBob).size() == 1);
  const json::Value sessions = gateway.ask("GET", "/rondo/v1/sessions", "", kAnn).json();
  const std::string id(sessions.find("sessions")->as_array()[0].find_string("id").value_or(""));
  CHECK(turns_of(gateway, id, kAnn).size() == 2);
  for (const char* below : {"", "/tokens", "/training"})
    CHECK(gateway.ask("GET", "/rondo/v1/sessions/" + id + below, "", kBob).status == 404);
  CHECK(gateway.ask("DELETE", "/rondo/v1/sessions/" + id, "", kBob).status == 404);
  CHECK(turns_of(gateway, "run", kAnn).size() == 2);
}

TEST_CASE("gateway: a stored response is its tenant's") {
  Gateway gateway({}, true);
  const Answer stored = gateway.post("/v1/responses", "{\"input\": \"hello\"}", kAnn);
  const std::string id(stored.json().find_string("id").value_or(""));
  const std::string next = "{\"input\": \"more\", \"previous_response_id\": \"" + id + "\"}";
  const Answer missing =
      gateway.post("/v1/responses", "{\"input\": \"x\", \"previous_response_id\": \"resp_none\"}", kBob);
  const Answer others = gateway.post("/v1/responses", next, kBob);
  CHECK(others.status == 400);
  CHECK(others.error().find("not found") != std::string::npos);
  CHECK(missing.status == others.status);
  CHECK(gateway.ask("GET", "/v1/responses/" + id, "", kBob).status == 404);
  CHECK(gateway.ask("DELETE", "/v1/responses/" + id, "", kBob).status == 404);
  CHECK(gateway.ask("GET", "/v1/responses/" + id, "", kAnn).status == 200);
  CHECK(gateway.post("/v1/responses", next, kAnn).status == 200);
}

TEST_CASE("gateway: a request that is being read stalls nobody") {
  std::latch release(1);
  std::latch busy(2);
  Gateway gateway;
  for (int i = 0; i < 2; ++i) {
    gateway.workers->run(Workers::Size::kSmall, [&] {
      busy.count_down();
      release.wait();
    });
  }
  busy.wait();
  std::optional<Answer> chat;
  const auto call = gateway.begin("POST", kChat, chat_body({user("hello")}), chat);
  CHECK(gateway.ask("GET", "/health").status == 200);
  CHECK(numbers_in(gateway.ask("GET", "/metrics").body).at("rondo_waiting_tasks") == 1);
  CHECK(!chat);
  release.count_down();
  CHECK(gateway.wait(chat).status == 200);
}

TEST_CASE("gateway: a service that ends lets go of what is being read") {
  std::latch release(1);
  std::optional<Answer> none;
  {
    Gateway gateway;
    gateway.workers->run(Workers::Size::kSmall, [&] { release.wait(); });
    const auto call = gateway.begin("POST", kChat, chat_body({user(std::string(100'000, 'x'))}), none);
    CHECK(gateway.ask("GET", "/health").status == 200);
    release.count_down();
  }
  CHECK(!none);
}

TEST_CASE("gateway: more requests at once than allowed get 429, as do those of one tenant") {
  gateway::ServiceOptions options;
  options.streams = 2;
  options.streams_of_tenant = 1;
  Gateway gateway(options, true);
  gateway.engine.on_begin = [&](Scripted::Run&) { gateway.loop.stop(); };
  std::optional<Answer> of_ann;
  const auto held = gateway.begin("POST", kChat, chat_body({user("one")}), of_ann, kAnn);
  gateway.loop.run();
  Scripted::Run* const run_of_ann = gateway.engine.last;
  const Answer second = gateway.post(kChat, chat_body({user("two")}), kAnn);
  CHECK(second.status == 429);
  CHECK(second.header("retry-after") == "1");
  CHECK(second.json().find("error")->find_string("type") == "rate_limit_error");
  std::optional<Answer> of_bob;
  const auto other = gateway.begin("POST", "/v1/messages", chat_body({user("one")}), of_bob, kBob);
  gateway.loop.run();
  CHECK(gateway.post("/v1/messages", chat_body({user("one")}), kBob).status == 429);
  CHECK(numbers_in(gateway.ask("GET", "/metrics", "", kAnn).body).at("rondo_running") == 2);
  // Counting ids is not generating.
  CHECK(gateway.post("/v1/messages/count_tokens", chat_body({user("one")}), kBob).status == 200);
  run_of_ann->end(engine::StopReason::kLength);
  CHECK(gateway.wait(of_ann).status == 200);
  gateway.engine.on_begin = nullptr;
  CHECK(gateway.post(kChat, chat_body({user("three")}), kAnn).status == 200);
}

TEST_CASE("gateway: a reply that takes too long is 504, and what there was is kept") {
  gateway::ServiceOptions options;
  options.request_time = net::Milliseconds(30);
  Gateway gateway(options);
  gateway.engine.on_begin = [](Scripted::Run& run) { run.say({70, 71}); };
  const Answer answer = gateway.post("/s/late/v1/chat/completions", chat_body({user("hello")}));
  CHECK(answer.status == 504);
  CHECK(answer.error() == "the reply took longer than it may");
  CHECK(gateway.post("/s/late/v1/messages", chat_body({user("hello")})).json().find("error")->find_string("type") ==
        "timeout_error");
  const Answer stream = gateway.post("/s/late/v1/chat/completions", chat_body({user("hello")}, ", \"stream\": true"));
  CHECK(stream.status == 200);
  CHECK(stream.body.find("took longer than it may") != std::string::npos);
  const json::Array turns = turns_of(gateway, "late");
  REQUIRE(turns.size() == 3);
  CHECK(turns[0].find("completion_tokens")->to_int64() == 2);
  CHECK(gateway.service->running() == 0);
}

TEST_CASE("gateway: a client that does not read is cut off, the engine stopped, and its turn kept") {
  net::ServerOptions http;
  http.buffered_bytes = 1000;
  Gateway gateway({}, false, http);
  bool was_cancelled = false;
  std::function<void(Scripted::Run&)> talk = [&](Scripted::Run& run) {
    run.say(std::vector<engine::TokenId>(100, 70));
    was_cancelled = run.was_cancelled;
    if (!run.has_ended) run.later([&] { talk(run); });
  };
  gateway.engine.on_begin = talk;
  struct Deaf final : net::StreamHandler {
    void on_head(int, const net::Headers&) override { call->pause(); }
    void on_data(std::string_view) override {}
    void on_end(const net::Ending&) override {}
    std::unique_ptr<net::Call> call;
  } deaf;
  const std::string url = gateway.server->url() + "/s/deaf/v1/chat/completions";
  deaf.call = gateway.client->stream(
      {.method = "POST", .url = url, .body = chat_body({user("talk")}, ", \"stream\": true")}, deaf);
  while (turns_of(gateway, "deaf").empty()) {}
  CHECK(turns_of(gateway, "deaf")[0].find_string("finish") == "cancelled");
  CHECK(gateway.service->running() == 0);
  CHECK(gateway.log.find("\"status\":499") != std::string::npos);
}

TEST_CASE("gateway: while it drains, what runs goes on, and nothing new begins") {
  Gateway gateway;
  gateway.engine.on_begin = [&](Scripted::Run&) { gateway.loop.stop(); };
  std::optional<Answer> running;
  const auto call = gateway.begin("POST", kChat, chat_body({user("one")}), running);
  gateway.loop.run();
  CHECK(gateway.service->running() == 1);
  gateway.service->drain();
  const Answer refused = gateway.post(kChat, chat_body({user("two")}));
  CHECK(refused.status == 503);
  CHECK(refused.header("retry-after") == "1");
  CHECK(gateway.ask("GET", "/ready").status == 503);
  CHECK(gateway.ask("GET", "/health").status == 200);
  gateway.engine.last->say({70});
  gateway.engine.last->end(engine::StopReason::kLength);
  CHECK(gateway.wait(running).status == 200);
  CHECK(gateway.service->running() == 0);
}

TEST_CASE("gateway: without an engine it is not ready") {
  Gateway gateway;
  gateway.engine_is_up = false;
  const Answer answer = gateway.ask("GET", "/ready");
  CHECK(answer.status == 503);
  CHECK(answer.json().find_string("reason") == "no engine answers");
  CHECK(gateway.ask("GET", "/health").status == 200);
}

TEST_CASE("gateway: services on several loops are one gateway") {
  gateway::ServiceOptions options;
  options.kept_request_bytes = 1 << 20;
  Gateway gateway(options);
  net::Loop other;
  engine::Relay relay(gateway.engine, gateway.loop, other);
  gateway::ServiceParts parts = gateway.parts;
  parts.models.front().serving = &relay;
  parts.models.front().is_up = nullptr;
  std::optional<gateway::Service> service(std::in_place, other, std::move(parts));
  net::ServerOptions http;
  http.admit = [&](net::ServerRequest& request) { return service->admit(request); };
  http.answered = [&](const auto& request, const auto& answered) { service->answered(request, answered); };
  auto server = net::Server::make(other, std::move(http), [&](net::Exchange exchange) {
                  service->handle(std::move(exchange));
                }).value();
  const std::array<std::string, 2> urls = {gateway.server->url(), server->url()};
  std::thread thread([&] { other.run(); });
  // Several conversations at once, each of whose turns goes to the other loop than the last one.
  constexpr std::size_t kTalks = 8;
  std::vector<json::Array> talks(kTalks);
  for (int turn = 0; turn < 4; ++turn) {
    std::size_t open = kTalks;
    std::vector<std::unique_ptr<net::Call>> calls;
    for (std::size_t i = 0; i < kTalks; ++i) {
      talks[i].push_back(user("talk " + std::to_string(i) + ", turn " + std::to_string(turn)));
      net::Request request{.method = "POST",
                           .url = urls.at((i + static_cast<std::size_t>(turn)) % 2) + kChat,
                           .body = chat_body(talks[i])};
      calls.push_back(gateway.client->fetch(std::move(request), [&, i, turn](Result<net::Response> response) {
        REQUIRE(response.ok());
        const Answer answer{response.value().status, response.value().headers, response.value().body};
        REQUIRE_MESSAGE(answer.status == 200, answer.body);
        CHECK(answer.header("x-rondo-prefix").starts_with(turn == 0 ? "how=render" : "how=bridge"));
        talks[i].push_back(reply_in(answer));
        if (--open == 0) gateway.loop.stop();
      }));
    }
    while (open > 0) gateway.loop.run();
  }
  CHECK(numbers_in(gateway.ask("GET", "/metrics").body).at("rondo_requests_total{api=\"chat\",status=\"200\"}") == 32);
  const std::string kept = gateway.ask("GET", "/rondo/v1/log").body;
  CHECK(std::count(kept.begin(), kept.end(), '\n') == 32);
  service->drain();
  CHECK(gateway.post(kChat, chat_body({user("new")})).status == 503);
  gateway.client.reset();
  other.stop();
  thread.join();
  server.reset();
  service.reset();
}

TEST_CASE("gateway: pages of named origins may use it, those of others not") {
  gateway::ServiceOptions options;
  options.origins = {"https://chat.example"};
  Gateway gateway(options, true);
  const net::Headers asked = {{"Origin", "https://chat.example"},
                              {"Access-Control-Request-Method", "POST"},
                              {"Access-Control-Request-Headers", "content-type,x-api-key"}};
  const Answer preflight = gateway.ask("OPTIONS", kChat, "", asked);
  CHECK(preflight.status == 204);
  CHECK(preflight.header("access-control-allow-origin") == "https://chat.example");
  CHECK(preflight.header("access-control-allow-headers") == "content-type,x-api-key");
  net::Headers headers = kAnn;
  headers.add("Origin", "https://chat.example");
  const Answer answer = gateway.post(kChat, chat_body({user("hello")}), headers);
  CHECK(answer.status == 200);
  CHECK(answer.header("access-control-allow-origin") == "https://chat.example");
  CHECK(answer.header("vary") == "origin");
  headers.set("Origin", "https://evil.example");
  const Answer evil = gateway.post(kChat, chat_body({user("hello")}), headers);
  CHECK(evil.status == 403);
  CHECK(evil.header("access-control-allow-origin").empty());
  const net::Headers others = {{"Origin", "https://evil.example"}, {"Access-Control-Request-Method", "POST"}};
  CHECK(gateway.ask("OPTIONS", kChat, "", others).status == 403);
  // Its own key does not make a page of a named origin somebody.
  CHECK(gateway.post(kChat, chat_body({user("hello")}), {{"Origin", "https://chat.example"}}).status == 401);
}

TEST_CASE("gateway: paths mean what they say, and nothing else") {
  Gateway gateway({}, true);
  const auto status = [&](const std::string& target, const std::string& more = "") {
    const std::string answer =
        gateway.raw("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" + more + "\r\n");
    return answer.substr(9, 3);
  };
  // What is open is open by its very name alone.
  CHECK(status("/health") == "200");
  for (const char* target :
       {"/health/../v1/models", "/health/", "//health", "/./health", "/%68ealth", "/health%00", "/HEALTH",
        "/health;x=1", "/v1/../health", "/health%2f..%2fv1%2fmodels", "/s/health", "/s//health"})
    CHECK_MESSAGE(status(target) == "401", target);
  const std::string ann = "X-Api-Key: secret-of-ann\r\n";
  for (const char* target :
       {"/v1/../v1/models", "/v1//models", "//v1/models", "/v1%2fmodels", "/v1/models/../../metrics",
        "/v1/models/%2e%2e", "/rondo/v1/sessions/..%2f..%2fmetrics", "/rondo/v1/sessions/../../../metrics",
        "/v1/responses/../models", "/v1/models%00", "/s/x/../v1/models", "/s/", "/s/x"})
    CHECK_MESSAGE(status(target, ann) == "404", target);
  CHECK(status("http://127.0.0.1/health") == "200");  // an absolute target is its path, and its name is the server's
  CHECK(status("http://127.0.0.1/v1/models") == "401");
  CHECK(status("http://evil.example/v1/models") == "403");
  CHECK(status("*") == "401");
  for (const char* target : {"/a b", "/\x01", "/\xc3\xa4", "v1/models", "/v1/models#x", ""})
    CHECK_MESSAGE(status(target, ann) == "400", target);
  CHECK(gateway.raw("GET /v1" + std::string(1, '\0') + "/models HTTP/1.1\r\nHost: x\r\n\r\n")
            .starts_with("HTTP/1.1 400"));
  CHECK(gateway.raw("CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").starts_with("HTTP/1.1 400"));
}

TEST_CASE("gateway: a smuggled request is never a request") {
  Gateway gateway({}, true);
  const std::string inner = "GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: secret-of-ann\r\n\r\n";
  const std::string head = "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Api-Key: secret-of-ann\r\n";
  for (const std::string& framing :
       {std::string("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        std::string("Content-Length: 3\r\nContent-Length: 9\r\n\r\nabc"),
        std::string("Content-Length: 3, 3\r\n\r\nabc"), std::string("Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
        std::string("Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"),
        std::string("A: b\r\n c\r\nContent-Length: 0\r\n\r\n"), std::string("A: b\nContent-Length: 0\r\n\r\n")}) {
    const std::string answer = gateway.raw(head + framing + inner);
    CHECK_MESSAGE(answer.starts_with("HTTP/1.1 400"), framing);
    CHECK_MESSAGE(answer.find("\"small\"") == std::string::npos, framing);
    CHECK_MESSAGE(answer.find("HTTP/1.1", 8) == std::string::npos, framing);
  }
  CHECK(gateway.engine.tenants.empty());
}

TEST_CASE("gateway: a request has an id, its client's where that can be one") {
  Gateway gateway;
  CHECK(gateway.ask("GET", "/health", "", {{"X-Request-Id", "trace-7:a.b_c"}}).header("x-request-id") ==
        "trace-7:a.b_c");
  const std::string made = gateway.ask("GET", "/health").header("x-request-id");
  CHECK(made.starts_with("req_"));
  for (const std::string& odd : {std::string("a b"), std::string("a\"b"), std::string(200, 'a')})
    CHECK(gateway.ask("GET", "/health", "", {{"X-Request-Id", odd}}).header("x-request-id").starts_with("req_"));
  CHECK(gateway.post("/v1/messages", "{").header("request-id").starts_with("req_"));
}

TEST_CASE("gateway: the log says what a request cost, and nothing of what it says") {
  Gateway gateway({}, true);
  net::Headers headers = kAnn;
  headers.add("x-request-id", "one");
  CHECK(gateway.post(kChat + "?key=in-the-query", chat_body({user("a-private-matter")}), headers).status == 200);
  const auto line = json::parse(gateway.log);
  REQUIRE_MESSAGE(line.ok(), gateway.log);
  for (const char* name : {"time", "status", "api", "method", "path", "request_id", "tenant", "model", "how",
                           "prompt_tokens", "completion_tokens", "first_token_ms", "total_ms"})
    CHECK_MESSAGE(line.value().find(name) != nullptr, name);
  CHECK(line.value().find_string("time") == "2027-01-15T08:00:00.000Z");
  CHECK(line.value().find("completion_tokens")->to_int64() == 3);
  CHECK(gateway.log.find("a-private-matter") == std::string::npos);
  CHECK(gateway.log.find("secret-of-ann") == std::string::npos);
  CHECK(gateway.log.find("in-the-query") == std::string::npos);
  gateway::ServiceOptions text;
  text.log = gateway::ServiceOptions::Log::kText;
  Gateway plain(text);
  CHECK(plain.ask("GET", "/health").status == 200);
  CHECK(plain.log.starts_with("2027-01-15T08:00:00.000Z 200 other GET /health request_id=req_"));
  CHECK(std::count(plain.log.begin(), plain.log.end(), '\n') == 1);
}

TEST_CASE("gateway: docs/operating.md names each metric") {
  const std::string page = files::read(std::string(RONDO_SOURCE_DIR) + "/docs/operating.md").value();
  Gateway gateway;
  std::istringstream lines(gateway.ask("GET", "/metrics").body);
  std::size_t metrics = 0;
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kType = "# TYPE ";
    if (!line.starts_with(kType)) continue;
    const std::string name = line.substr(kType.size(), line.rfind(' ') - kType.size());
    CHECK_MESSAGE(page.find("`" + name + "`") != std::string::npos, name);
    ++metrics;
  }
  CHECK(metrics > 10);
}

TEST_CASE("gateway: its numbers are what Prometheus reads, and add up") {
  Gateway gateway;
  json::Array messages = {user("hello")};
  for (int turn = 0; turn < 3; ++turn) {
    const Answer answer = gateway.post(kChat, chat_body(messages));
    messages.push_back(reply_in(answer));
    messages.push_back(user("go on"));
  }
  CHECK(gateway.post("/v1/messages", "{").status == 400);
  const Answer answer = gateway.ask("GET", "/metrics");
  CHECK(answer.header("content-type").starts_with("text/plain; version=0.0.4"));
  const auto numbers = numbers_in(answer.body);
  CHECK(numbers.at("rondo_requests_total{api=\"chat\",status=\"200\"}") == 3);
  CHECK(numbers.at("rondo_requests_total{api=\"messages\",status=\"400\"}") == 1);
  CHECK(numbers.at("rondo_prompts_total{how=\"bridge\"}") == 2);
  CHECK(numbers.at("rondo_completion_tokens_total") == 9);
  CHECK(numbers.at("rondo_running") == 0);
  CHECK(numbers.at("rondo_ready") == 1);
  for (const std::string name : {"rondo_request_seconds", "rondo_first_token_seconds", "rondo_planning_seconds"}) {
    double last = 0;
    for (const auto& [series, value] : numbers) {
      if (!series.starts_with(name + "_bucket")) continue;
      CHECK(value <= numbers.at(name + "_count"));
    }
    for (const char* bound : {"0.001", "0.01", "0.1", "1", "10", "600", "+Inf"}) {
      const double value = numbers.at(name + "_bucket{le=\"" + bound + "\"}");
      CHECK(value >= last);
      last = value;
    }
    CHECK(last == numbers.at(name + "_count"));
  }
  CHECK(numbers.at("rondo_first_token_seconds_count") == 3);
}

TEST_CASE("gateway: requests are kept only where that is asked for, each for its tenant") {
  CHECK(Gateway().ask("GET", "/rondo/v1/log").status == 404);
  gateway::ServiceOptions options;
  options.kept_request_bytes = 1000;
  Gateway gateway(options, true);
  CHECK(gateway.post("/s/run/v1/chat/completions", "{\n \"messages\": [" + json::to_compact(user("hello")) + "]}", kAnn)
            .status == 200);
  CHECK(gateway.post(kChat, "{\"messages\": 3}", kAnn).status == 400);
  const Answer kept = gateway.ask("GET", "/rondo/v1/log", "", kAnn);
  CHECK(std::count(kept.body.begin(), kept.body.end(), '\n') == 1);
  const json::Value line = kept.json();
  CHECK(line.find_string("session_id") == "run");
  CHECK(line.find("request")->find("messages") != nullptr);
  CHECK(gateway.ask("GET", "/rondo/v1/log", "", kBob).body.empty());
  CHECK(gateway.ask("GET", "/rondo/v1/log?since=1800000000000", "", kAnn).body.empty());
  for (int i = 0; i < 20; ++i) (void)gateway.post(kChat, chat_body({user("number " + std::to_string(i))}), kAnn);
  const std::string last = gateway.ask("GET", "/rondo/v1/log", "", kAnn).body;
  CHECK(last.size() <= 1000);
  CHECK(last.find("number 19") != std::string::npos);
  CHECK(last.find("number 1\"") == std::string::npos);
}
