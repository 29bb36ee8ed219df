// What clients are told where an engine hangs, a store is away, or a request is too much.
#include <doctest/doctest.h>

#include <algorithm>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "json/print.h"
#include "tests/support/scripted_gateway.h"

using namespace rondo;

namespace {

using testing::Answer;
using testing::Scripted;
using Gateway = testing::ScriptedGateway;

const std::string kMessages = R"("messages": [{"role": "user", "content": "hello"}])";
const std::string kChat = "{" + kMessages + "}";

json::Array turns_of(Gateway& gateway, const std::string& session) {
  const Answer answer = gateway.ask("GET", "/rondo/v1/sessions/" + session);
  return answer.status == 200 ? answer.json().find("turns")->as_array() : json::Array();
}

std::string text_in(const json::Value& value, std::string_view key) {
  return std::string(value.find_string(key).value_or(""));
}

// A store that does not answer while it is away.
class Away final : public spans::MemoryStore {
 public:
  void put(spans::StoredTurn turn, Kept kept) override {
    is_away ? kept(gone()) : MemoryStore::put(std::move(turn), std::move(kept));
  }
  Result<std::vector<std::string>> lineage(const spans::Digest& scope, const spans::Digest& turn) override {
    if (is_away) return gone();
    return MemoryStore::lineage(scope, turn);
  }
  Result<std::vector<spans::Hit>> find(const spans::Digest& scope, std::span<const spans::Digest> hashes) override {
    if (is_away) return gone();
    return MemoryStore::find(scope, hashes);
  }
  Result<std::vector<spans::Got>> get(const spans::Digest& scope, std::span<const spans::Digest> turns) override {
    if (is_away) return gone();
    return MemoryStore::get(scope, turns);
  }
  Result<std::vector<spans::SessionInfo>> sessions(const spans::Digest& scope, std::size_t limit,
                                                   std::uint64_t after) override {
    if (is_away) return gone();
    return MemoryStore::sessions(scope, limit, after);
  }
  Result<std::vector<std::string>> turns(const spans::Digest& scope, const spans::Digest& session) override {
    if (is_away) return gone();
    return MemoryStore::turns(scope, session);
  }
  Result<bool> erase(const spans::Digest& scope, const spans::Digest& session) override {
    if (is_away) return gone();
    return MemoryStore::erase(scope, session);
  }
  void put_objects(std::vector<spans::StoredObject> objects, Kept kept) override {
    is_away ? kept(gone()) : MemoryStore::put_objects(std::move(objects), std::move(kept));
  }
  Result<std::vector<std::optional<std::string>>> objects(const spans::Digest& scope,
                                                          std::span<const spans::Digest> objects) override {
    if (is_away) return gone();
    return MemoryStore::objects(scope, objects);
  }
  Result<std::vector<std::string>> group(const spans::Digest& scope, const spans::Digest& group) override {
    if (is_away) return gone();
    return MemoryStore::group(scope, group);
  }
  Result<std::size_t> erase_objects(const spans::Digest& scope, std::span<const spans::Digest> objects) override {
    if (is_away) return gone();
    return MemoryStore::erase_objects(scope, objects);
  }
  bool is_away = false;

 private:
  static Error gone() { return {ErrorCode::kIo, "the store is away"}; }
};

struct OnAway {
  OnAway() : kept(store, spans::HashKey{1, 2, 3}) {
    gateway.parts.spans = &kept;
    gateway.service = std::make_unique<gateway::Service>(gateway.loop, gateway.parts);
  }
  Away store;
  spans::Spans kept;
  Gateway gateway;
};

gateway::ServiceOptions limited_to(net::Milliseconds time) {
  gateway::ServiceOptions options;
  options.request_time = time;
  return options;
}

std::string handshake() {
  return "GET /v1/responses HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
}

// A client's message with a zero mask.
std::string frame(const std::string& text) {
  REQUIRE(text.size() < 126);
  return std::string("\x81") + static_cast<char>(0x80U | text.size()) + std::string(4, '\0') + text;
}

}  // namespace

TEST_CASE("bug: a completion of an engine that hangs never ended") {
  // Long enough to read the request on a slow machine: what it says before the end is kept.
  Gateway gateway(limited_to(net::Milliseconds(400)));
  gateway.engine.on_begin = [](Scripted::Run& run) { run.say({70, 71}); };
  const std::string prompt = R"({"prompt": ["one", "two"])";
  const Answer answer = gateway.post("/s/late/v1/completions", prompt + "}");
  CHECK(answer.status == 504);
  CHECK(answer.error() == "the reply took longer than it may");
  const Answer stream = gateway.post("/s/late/v1/completions", prompt + R"(, "stream": true})");
  CHECK(stream.status == 200);
  CHECK_MESSAGE(stream.body.find("took longer than it may") != std::string::npos, stream.body);
  CHECK(stream.body.ends_with("data: [DONE]\n\n"));
  const json::Array turns = turns_of(gateway, "late");
  REQUIRE(turns.size() == 4);
  CHECK(turns[0].find("completion_tokens")->to_int64() == 2);
  CHECK(text_in(turns[0], "finish") == "cancelled");
  CHECK(gateway.service->running() == 0);
}

TEST_CASE("bug: the time of a reply did not count while its request was read and planned") {
  Gateway gateway(limited_to(net::Milliseconds(30)));
  const std::vector<std::pair<std::string, std::string>> requests = {{"/v1/chat/completions", kChat},
                                                                     {"/v1/completions", R"({"prompt": "one"})"},
                                                                     {"/v1/responses", R"({"input": "a"})"}};
  for (const auto& [path, body] : requests) {
    const auto release = std::make_shared<std::latch>(1);  // a worker may still wake from it when the round is over
    for (int i = 0; i < 2; ++i) gateway.workers->run(Workers::Size::kSmall, [release] { release->wait(); });
    const Answer answer = gateway.post(path, body);
    CHECK_MESSAGE(answer.status == 504, path);
    CHECK(gateway.service->running() == 1);  // until a worker has done with it
    release->count_down();
    while (gateway.service->running() > 0) testing::settle(gateway.loop);
  }
  CHECK(gateway.engine.prompts.empty());
}

TEST_CASE("bug: while the store was away, what it keeps was said not to be there") {
  OnAway test;
  Gateway& gateway = test.gateway;
  CHECK(gateway.post("/s/one/v1/chat/completions", kChat).status == 200);
  const json::Value stored = gateway.post("/v1/responses", R"({"input": "hello"})").json();
  const std::string response = text_in(stored, "id");
  const std::string item = text_in(stored.find("output")->as_array().front(), "id");
  const std::string talk = text_in(gateway.post("/v1/conversations", "{}").json(), "id");
  test.store.is_away = true;
  const std::string session = "/rondo/v1/sessions/one";
  const std::string conversation = "/v1/conversations/" + talk;
  const std::string reference = R"([{"type": "item_reference", "id": ")" + item + "\"}]";
  for (const auto& [method, path, body] : std::vector<std::array<std::string, 3>>{
           {"POST", "/v1/chat/completions", kChat},
           {"GET", session, ""},
           {"DELETE", session, ""},
           {"GET", session + "/tokens", ""},
           {"GET", session + "/training", ""},
           {"GET", "/rondo/v1/sessions", ""},
           {"GET", "/rondo/v1/sessions?after=" + std::string(32, '0'), ""},
           {"GET", "/v1/responses/" + response, ""},
           {"DELETE", "/v1/responses/" + response, ""},
           {"GET", "/v1/responses/" + response + "/input_items", ""},
           {"POST", "/v1/responses/" + response + "/cancel", ""},
           {"POST", "/v1/responses", R"({"input": )" + reference + "}"},
           {"POST", "/v1/responses", R"({"input": "a", "previous_response_id": ")" + response + "\"}"},
           {"POST", "/v1/responses", R"({"input": "a", "conversation": ")" + talk + "\"}"},
           {"POST", "/v1/responses/input_tokens", R"({"input": "a"})"},
           {"POST", "/v1/responses/render", R"({"input": "a"})"},
           {"POST", "/v1/messages/count_tokens", kChat},
           {"POST", "/v1/conversations", "{}"},
           {"POST", "/v1/conversations", R"({"items": )" + reference + "}"},
           {"GET", conversation, ""},
           {"POST", conversation, "{}"},
           {"DELETE", conversation, ""},
           {"GET", conversation + "/items", ""},
           {"GET", conversation + "/items/" + item, ""}}) {
    const Answer answer = gateway.ask(method, path, body);
    CAPTURE(method + " " + path + " " + body);
    CHECK(answer.status == 503);
    CHECK(answer.header("retry-after") == "1");
    CHECK(answer.error().find("the store is away") != std::string::npos);
  }
  test.store.is_away = false;
  CHECK(gateway.ask("GET", session).status == 200);
}

TEST_CASE("bug: images were counted and rendered as text where no token ids carry them") {
  Gateway gateway;
  gateway.parts.models.front().upstream = {
      .client = gateway.client.get(), .url = [] { return std::string("http://127.0.0.1:9"); }, .model = ""};
  gateway.service = std::make_unique<gateway::Service>(gateway.loop, gateway.parts);
  const std::string url = R"({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}})";
  const std::string chat = R"({"messages": [{"role": "user", "content": [)" + url + "]}]}";
  const std::string source = R"({"type": "base64", "media_type": "image/png", "data": "AA=="})";
  const std::string block =
      R"({"messages": [{"role": "user", "content": [{"type": "image", "source": )" + source + "}]}]}";
  const std::string item =
      R"({"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,AA=="}]}]})";
  for (const auto& [path, body, place] :
       {std::array<std::string, 3>{"/v1/chat/completions/render", chat, "messages[0].content[0]"},
        {"/tokenize", chat, "messages[0].content[0]"},
        {"/v1/messages/render", block, "messages[0].content[0]"},
        {"/v1/messages/count_tokens", block, "messages[0].content[0]"},
        {"/v1/responses/render", item, "input[0].content[0]"},
        {"/v1/responses/input_tokens", item, "input[0].content[0]"}}) {
    const Answer answer = gateway.post(path, body);
    CHECK_MESSAGE(answer.status == 400, path);
    CHECK(answer.error() == "`" + place + "` is not text: token ids carry only text");
  }
}

TEST_CASE("bug: a turn's request id was its reply's") {
  Gateway gateway;
  const net::Headers named = {{"x-request-id", "mine"}};
  CHECK(gateway.post("/s/one/v1/chat/completions", kChat, named).status == 200);
  CHECK(gateway.post("/s/one/v1/completions", R"({"prompt": "a"})", named).status == 200);
  const json::Array turns = turns_of(gateway, "one");
  REQUIRE(turns.size() == 2);
  for (const json::Value& turn : turns) CHECK(text_in(turn, "request_id") == "mine");
}

TEST_CASE("bug: a socket refused requests before as many ran and waited as may") {
  Gateway gateway;
  gateway.engine.on_begin = [](Scripted::Run&) {};  // they run on
  const auto said_to = [&](int requests) {
    std::string sent = handshake();
    for (int i = 0; i < requests; ++i)
      sent += frame(R"({"type":"response.create","input":"a","stream_id":"s)" + std::to_string(i % 20) + "\"}");
    return gateway.raw(sent,
                       "{\"stream_id\":\"s" + std::to_string((requests - 1) % 20) + R"(","type":"error","status":429)");
  };
  // 16 run and 64 wait.
  const std::string said = said_to(81);
  const std::size_t refused = said.find("too many requests wait");
  REQUIRE(refused != std::string::npos);
  CHECK(said.find("too many requests wait", refused + 1) == std::string::npos);
  CHECK(said_to(190).find("too many requests wait") != std::string::npos);
}

TEST_CASE("bug: requests that the server refuses by itself had no id, and were not counted") {
  gateway::ServiceOptions options;
  options.origins = {"https://chat.example"};
  net::ServerOptions http;
  http.body_bytes = 100;
  Gateway gateway(options, false, http);
  const std::string head =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-Id: mine\r\n"
      "Origin: https://chat.example\r\n";
  const std::string large = gateway.raw(head + "Content-Length: 101\r\n\r\n");
  const std::string twice = gateway.raw(head + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
  CHECK(large.starts_with("HTTP/1.1 413"));
  CHECK(twice.starts_with("HTTP/1.1 400"));
  for (const std::string& answer : {large, twice}) {
    CHECK(answer.find("x-request-id: mine\r\n") != std::string::npos);
    CHECK(answer.find("access-control-allow-origin: https://chat.example\r\n") != std::string::npos);
  }
  const std::string odd = gateway.raw("GET\r\n\r\n");
  CHECK(odd.starts_with("HTTP/1.1 400"));
  CHECK(odd.find("x-request-id: req_") != std::string::npos);
  const std::string numbers = gateway.ask("GET", "/metrics").body;
  CHECK(numbers.find("rondo_requests_total{api=\"chat\",status=\"413\"} 1\n") != std::string::npos);
  CHECK(numbers.find("rondo_requests_total{api=\"chat\",status=\"400\"} 1\n") != std::string::npos);
  CHECK(numbers.find("rondo_requests_total{api=\"other\",status=\"400\"} 1\n") != std::string::npos);
  CHECK(gateway.engine.prompts.empty());
}

TEST_CASE("bug: who speaks Anthropic's API was told of an unknown model in the shape of another") {
  Gateway gateway;
  const net::Headers anthropic = {{"anthropic-version", "2023-06-01"}};
  const json::Value unknown = gateway.ask("GET", "/v1/models/none", "", anthropic).json();
  CHECK(text_in(unknown, "type") == "error");
  CHECK(text_in(*unknown.find("error"), "type") == "not_found_error");
  CHECK(gateway.ask("GET", "/v1/models/none").json().find("type") == nullptr);
  CHECK(gateway.ask("POST", "/v1/chat/completions", "{", anthropic).json().find("type") == nullptr);
}

TEST_CASE("bug: who speaks Anthropic's API was told of an unknown address in the shape of another") {
  Gateway gateway;
  const net::Headers anthropic = {{"anthropic-version", "2023-06-01"}};
  for (const char* path : {"/v1/files", "/v1/skills", "/v1/messages/batches"}) {
    const json::Value unknown = gateway.ask("GET", path, "", anthropic).json();
    CHECK(text_in(unknown, "type") == "error");
    CHECK(text_in(*unknown.find("error"), "type") == "not_found_error");
  }
  CHECK(gateway.ask("GET", "/v1/files").json().find("type") == nullptr);
  CHECK(gateway.ask("GET", "/v1/chat/completions/x", "", anthropic).json().find("type") == nullptr);
}

TEST_CASE("bug: the list of sessions began anew on each page, and took any number") {
  Gateway gateway;
  gateway.parts.models.push_back(gateway.parts.models.front());
  gateway.parts.models.back().name = "other";
  gateway.service = std::make_unique<gateway::Service>(gateway.loop, gateway.parts);
  std::vector<std::string> names;
  for (int i = 0; i < 7; ++i) {
    names.insert(names.begin(), "s" + std::to_string(i));
    const std::string model = i % 3 == 0 ? "other" : "small";
    CHECK(gateway
              .post("/s/" + names.front() + "/v1/chat/completions", R"({"model": ")" + model + "\", " + kMessages + "}")
              .status == 200);
  }
  std::vector<std::string> listed;
  for (std::string after; listed.size() <= names.size();) {
    const json::Value page = gateway.ask("GET", "/rondo/v1/sessions?limit=2" + after).json();
    const json::Array& rows = page.find("sessions")->as_array();
    for (const json::Value& row : rows) listed.push_back(text_in(row, "name"));
    if (rows.empty()) break;
    CHECK(rows.size() <= 2);
    after = "&after=" + text_in(rows.back(), "id");
  }
  CHECK(listed == names);
  for (const char* wrong : {"?limit=x", "?limit=2x", "?after=none", "?after=00000000000000000000000000000000",
                            "/s1/tokens?turn=x", "/s1/tokens?turn=-1", "/s1/tokens?turn=99999999999999999999999"})
    CHECK_MESSAGE(gateway.ask("GET", "/rondo/v1/sessions" + std::string(wrong)).status == 400, wrong);
  CHECK(gateway.ask("GET", "/rondo/v1/sessions/s1/tokens?turn=0").status == 200);
  CHECK(gateway.ask("GET", "/rondo/v1/sessions/s1/tokens?turn=1").status == 404);
}
