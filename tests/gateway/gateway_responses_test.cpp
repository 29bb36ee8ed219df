// Responses as a service gives them: over WebSockets under keys and limits, and from an engine that has the API itself.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/scripted_gateway.h"

using namespace rondo;

namespace {

using testing::Answer;
using testing::Scripted;
using Gateway = testing::ScriptedGateway;

const std::string kResponses = "/v1/responses";
const net::Headers kAnn = {{"authorization", "Bearer secret-of-ann"}};
const net::Headers kBob = {{"x-api-key", "secret-of-bob"}};

std::string handshake(const std::string& fields = "") {
  return "GET /v1/responses HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" +
         fields + "\r\n";
}

// A client's message that asks for a response; the mask is zero.
std::string create(const std::string& more) {
  const std::string text = R"({"type": "response.create", )" + more + "}";
  std::string out = "\x81";
  if (text.size() < 126) {
    out += static_cast<char>(0x80U | text.size());
  } else {
    out += static_cast<char>(0x80U | 126U);
    out += static_cast<char>(text.size() >> 8U);
    out += static_cast<char>(text.size() & 0xFFU);
  }
  return out + std::string(4, '\0') + text;
}

std::string id_in(const std::string& text) {
  const std::size_t begin = text.find("resp_");
  REQUIRE_MESSAGE(begin != std::string::npos, text);
  return text.substr(begin, text.find('"', begin) - begin);
}

void settle(Gateway& gateway) {
  while (gateway.service->running() > 0) {
    const net::Timer timer = gateway.loop.after(net::Milliseconds(1), [&] { gateway.loop.stop(); });
    gateway.loop.run();
  }
}

// A response in the background, once it has ended: its last state reaches the store behind the end of its run.
Answer ended(Gateway& gateway, const std::string& id, const net::Headers& headers = {}) {
  constexpr int kMostQuestions = 2000;
  Answer shown;
  for (int i = 0; i < kMostQuestions; ++i) {
    settle(gateway);
    shown = gateway.ask("GET", kResponses + "/" + id, "", headers);
    const json::Value body = shown.json();
    const std::string_view status = body.find_string("status").value_or("");
    if (status != "queued" && status != "in_progress") break;
  }
  return shown;
}

const std::string kItem = R"({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",)"
                          R"( "content": [{"type": "output_text", "text": "a cat"}]})";
const std::string kImage =
    R"("input": [{"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,AA=="}]}])";

// A server that has the Responses API itself.
class Upstream {
 public:
  explicit Upstream(net::Loop& loop) {
    server_ =
        net::Server::make(loop, {}, [this](net::Exchange exchange) {
          bodies.push_back(exchange.request().body);
          if (status != 200) return exchange.reply(status, {}, R"({"error": {"message": "the image is broken"}})");
          const std::string response = R"("response": {"id": "resp_x", "output": [)";
          if (bodies.back().find(R"("stream":true)") == std::string::npos)
            return exchange.reply(200, {}, R"({"id": "resp_x", "status": "completed", "output": [)" + kItem + "]}");
          exchange.start(200, {{"content-type", "text/event-stream"}});
          exchange.write("event: response.created\ndata: {\"type\": \"response.created\", \"sequence_number\": 0, " +
                         response + "], \"status\": \"in_progress\"}}\n\n");
          exchange.write("data: {\"type\": \"response.output_item.done\", \"sequence_number\": 1, \"item\": " + kItem +
                         "}\n\n");
          exchange.write("data: {\"type\": \"response.completed\", \"sequence_number\": 2, " + response + kItem +
                         "], \"status\": \"completed\"}}\n\ndata: [DONE]\n\n");
          exchange.finish();
        }).value();
  }
  [[nodiscard]] std::string url() const { return server_->url(); }
  std::vector<std::string> bodies;
  int status = 200;

 private:
  std::unique_ptr<net::Server> server_;
};

struct Passing {
  Passing() : upstream(gateway.loop) {
    gateway.parts.models.front().upstream = {
        .client = gateway.client.get(), .url = [this] { return upstream.url(); }, .model = "its-own"};
    gateway.service = std::make_unique<gateway::Service>(gateway.loop, gateway.parts);
  }
  Gateway gateway;
  Upstream upstream;
};

}  // namespace

TEST_CASE("gateway: a WebSocket's requests need a key, are their tenant's, and have a line in the log each") {
  Gateway gateway({}, true);
  CHECK(gateway.raw(handshake(), "invalid_api_key").starts_with("HTTP/1.1 401"));
  const std::string ann = handshake("Authorization: Bearer secret-of-ann\r\nX-Request-Id: socket\r\n");
  const std::string said = gateway.raw(ann + create(R"("input": "hello")"), "response.incomplete");
  CHECK(said.starts_with("HTTP/1.1 101"));
  CHECK(said.find("x-request-id: socket") != std::string::npos);
  settle(gateway);
  CHECK(gateway.engine.tenants == std::vector<std::string>{"ann"});
  CHECK(gateway.log.find(R"("status":101)") != std::string::npos);
  CHECK(gateway.log.find(R"("request_id":"socket-1","tenant":"ann")") != std::string::npos);
  CHECK(gateway.log.find(R"("completion_tokens":3)") != std::string::npos);
  const std::string id = id_in(said);
  CHECK(gateway.ask("GET", kResponses + "/" + id, "", kAnn).status == 200);
  CHECK(gateway.ask("GET", kResponses + "/" + id, "", kBob).status == 404);
  const std::string next = create(R"("input": "more", "previous_response_id": ")" + id + "\"");
  const std::string bob = handshake("X-Api-Key: secret-of-bob\r\n");
  CHECK(gateway.raw(bob + next, "previous_response_not_found").find("response.created") == std::string::npos);
  CHECK(gateway.raw(ann + next, "response.incomplete").find(id) != std::string::npos);
}

TEST_CASE("gateway: a WebSocket's requests count among the tenant's, and have an end") {
  gateway::ServiceOptions options;
  options.streams_of_tenant = 1;
  options.request_time = net::Milliseconds(200);
  Gateway gateway(options, true);
  gateway.engine.on_begin = [](Scripted::Run&) {};
  const std::string two = create(R"("input": "one", "stream_id": "a")") + create(R"("input": "two", "stream_id": "b")");
  const std::string said = gateway.raw(handshake("Authorization: Bearer secret-of-ann\r\n") + two, "response.failed");
  CHECK(said.find(R"({"stream_id":"b","type":"error","status":429)") != std::string::npos);
  CHECK(said.find(R"({"stream_id":"a","type":"response.created")") != std::string::npos);
  settle(gateway);
  const Answer queued = gateway.post(kResponses, R"({"input": "one", "background": true})", kAnn);
  CHECK(queued.json().find_string("status") == "queued");
  CHECK(gateway.post(kResponses, R"({"input": "two"})", kAnn).status == 429);
  CHECK(ended(gateway, id_in(queued.body), kAnn).json().find_string("status") == "failed");
}

TEST_CASE("gateway: while it drains, a WebSocket takes no more, and ends") {
  Gateway gateway;
  gateway.service->drain();
  CHECK(gateway.raw(handshake() + create(R"("input": "hello")"), "about to end").find(R"("status":503)") !=
        std::string::npos);
}

TEST_CASE("gateway: a response that an engine's own API gives is kept, and gone on from") {
  Passing test;
  const Answer first = test.gateway.post(kResponses, "{" + kImage + "}");
  REQUIRE_MESSAGE(first.status == 200, first.body);
  CHECK(first.header("x-rondo-prefix") == "how=passthrough");
  CHECK(first.body.find("a cat") != std::string::npos);
  CHECK(test.upstream.bodies.back().find(R"("store":false)") != std::string::npos);
  CHECK(test.upstream.bodies.back().find(R"("model":"its-own")") != std::string::npos);
  const std::string id = id_in(first.body);
  CHECK(id != "resp_x");
  CHECK(test.gateway.ask("GET", kResponses + "/" + id).json() == first.json());
  const std::string next = R"({"input": "and?", "stream": true, "previous_response_id": ")" + id + "\"}";
  const Answer second = test.gateway.post(kResponses, next);
  const std::string& asked = test.upstream.bodies.back();
  for (const char* part : {"input_image", "a cat", "and?"}) CHECK_MESSAGE(asked.find(part) != std::string::npos, part);
  CHECK(asked.find("previous_response_id") == std::string::npos);
  CHECK(second.body.find("event: response.completed") != std::string::npos);
  CHECK(second.body.ends_with("data: [DONE]\n\n"));
  CHECK(second.body.find("resp_x") == std::string::npos);
  CHECK(test.gateway.ask("GET", kResponses + "/" + id_in(second.body)).status == 200);
  CHECK(test.gateway.engine.tenants.empty());
}

TEST_CASE("gateway: an engine's own API answers in the background and over a WebSocket") {
  Passing test;
  const Answer queued = test.gateway.post(kResponses, "{\"background\": true, " + kImage + "}");
  CHECK(queued.json().find_string("status") == "queued");
  const Answer shown = ended(test.gateway, id_in(queued.body));
  CHECK(shown.json().find_string("status") == "completed");
  CHECK(shown.body.find("a cat") != std::string::npos);
  CHECK(test.upstream.bodies.back().find("background") == std::string::npos);
  const std::string said = test.gateway.raw(handshake() + create(kImage), "response.completed");
  CHECK(said.find("a cat") != std::string::npos);
  test.upstream.status = 400;
  const Answer refused = test.gateway.post(kResponses, "{" + kImage + "}");
  CHECK(refused.status == 400);
  CHECK(refused.error() == "the image is broken");
}
