// Any bytes as the bodies of requests to a gateway whose engine says what the same bytes make it say.
//
// A zero byte ends a request.  Its first byte chooses an address, the second what the engine does, the rest is the body; `@@`
// in it stands for the id of the reply before.  Each request has an answer of HTTP, which is in order: JSON, or a stream that
// ends as its API's do; and no fault is the gateway's own.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/model.h"
#include "gateway/service.h"
#include "json/parse.h"
#include "net/client.h"
#include "net/server.h"
#include "spans/memory_store.h"
#include "tests/support/scripted_engine.h"

namespace {

using namespace rondo;  // NOLINT(google-build-using-namespace): a program of one file
using testing::Script;

void expect(bool holds, std::string_view what, const std::string& answer) {
  if (holds) return;
  std::cerr << what << ": " << answer << "\n";
  std::abort();
}

struct Address {
  std::string_view method;
  std::string_view path;
};
constexpr std::array kAddresses = {Address{"POST", "/v1/chat/completions"},
                                   Address{"POST", "/v1/messages"},
                                   Address{"POST", "/v1/responses"},
                                   Address{"POST", "/v1/completions"},
                                   Address{"POST", "/v1/responses/compact"},
                                   Address{"POST", "/v1/conversations"},
                                   Address{"POST", "/v1/conversations/@@/items"},
                                   Address{"GET", "/v1/conversations/@@/items"},
                                   Address{"GET", "/v1/responses/@@"},
                                   Address{"GET", "/v1/responses/@@?stream=true"},
                                   Address{"HEAD", "/v1/responses/@@/input_items"},
                                   Address{"DELETE", "/v1/responses/@@"},
                                   Address{"POST", "/v1/messages/count_tokens"},
                                   Address{"POST", "/v1/responses/input_tokens"},
                                   Address{"POST", "/v1/chat/completions/render"},
                                   Address{"POST", "/v1/messages/render"},
                                   Address{"POST", "/v1/responses/render"},
                                   Address{"POST", "/tokenize"},
                                   Address{"POST", "/detokenize"},
                                   Address{"GET", "/rondo/v1/sessions"}};

struct Answer {
  int status = 0;
  std::string type;
  std::string body;
};

class Gateway {
 public:
  explicit Gateway(std::shared_ptr<const core::Model> model)
      : model_(std::move(model)),
        spans_(store_, spans::HashKey{1}),
        engine_(loop_, [this](const engine::Request& request) { return script(request); }) {
    gateway::ServiceParts parts;
    parts.models = {{.name = "small", .model = model_, .serving = &engine_}};
    parts.spans = &spans_;
    parts.now_ms = [] { return std::int64_t{1'800'000'000'000}; };
    parts.random = [this] {
      std::array<std::uint8_t, 12> bytes{};
      ++made_;
      for (std::size_t i = 0; i < 4; ++i) bytes.at(i) = static_cast<std::uint8_t>(made_ >> (8 * i));
      return bytes;
    };
    service_ = std::make_unique<gateway::Service>(loop_, std::move(parts));
    server_ = net::Server::make(loop_, {.explain = gateway::Service::explain}, [this](net::Exchange exchange) {
                service_->handle(std::move(exchange));
              }).value();
    client_ = net::Client::make(loop_, {}).value();
  }
  ~Gateway() {
    client_.reset();
    server_.reset();
    service_.reset();
  }
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  void ask(std::string_view bytes) {
    if (bytes.size() < 2) return;
    const Address& address = kAddresses.at(static_cast<unsigned char>(bytes[0]) % kAddresses.size());
    says_ = static_cast<unsigned char>(bytes[1]);
    body_ = with_id(bytes.substr(2));
    std::optional<Answer> answer;
    const auto call =
        client_->fetch({.method = std::string(address.method),
                        .url = server_->url() + with_id(address.path),
                        .headers = {{"x-rondo-session", "fuzz"}, {"x-rondo-explain", "1"}},
                        .body = address.method == "POST" ? body_ : ""},
                       [&](const Result<net::Response>& response) {
                         expect(response.ok(), "no answer", response.ok() ? "" : response.error().to_string());
                         const net::Response& got = response.value();
                         answer = {got.status, std::string(got.headers.find("content-type").value_or("")), got.body};
                         loop_.stop();
                       });
    while (!answer) loop_.run();
    look_at(address, *answer);
    if (const std::size_t id = answer->body.find("\"id\":\""); id != std::string::npos)
      last_id_ = answer->body.substr(id + 6, std::min(answer->body.find('"', id + 6), id + 70) - id - 6);
  }

 private:
  [[nodiscard]] std::string with_id(std::string_view text) const {
    std::string out;
    for (std::size_t at = text.find("@@"); at != std::string_view::npos; at = text.find("@@")) {
      out.append(text.substr(0, at)).append(last_id_);
      text.remove_prefix(at + 2);
    }
    return out.append(text);
  }

  // The body's bytes as ids, in pieces; now and then it fails or ends early.
  Script script(const engine::Request& request) const {
    Script out;
    const auto count = static_cast<std::uint32_t>(model_->tokenizer()->vocab_size());
    std::uint32_t mixed = says_;
    for (const char byte : std::string_view(body_).substr(0, 40)) {
      mixed = mixed * 31 + static_cast<unsigned char>(byte);
      out.ids.push_back(static_cast<engine::TokenId>(mixed % count));
    }
    if (says_ % 4 == 0 && !request.stop_ids.empty()) out.ids.push_back(request.stop_ids.front());
    out.piece = 1 + says_ % 5;
    if (says_ % 7 == 6) {
      out.end = Script::End::kFails;
      out.until = says_ % 11;
    }
    return out;
  }

  static void look_at(const Address& address, const Answer& answer) {
    expect(answer.status >= 200 && answer.status != 500 && answer.status < 504, "status",
           std::to_string(answer.status));
    if (address.method == "HEAD") return expect(answer.body.empty(), "a body behind HEAD", answer.body);
    if (answer.type.starts_with("text/event-stream")) {
      expect(answer.body.ends_with("\n\n"), "a stream without its end", answer.body);
      const bool is_messages = address.path == "/v1/messages";
      const bool has_end = is_messages ? answer.body.find("event: message_stop") != std::string::npos ||
                                             answer.body.find("event: error") != std::string::npos
                                       : answer.body.ends_with("data: [DONE]\n\n");
      return expect(has_end, "a stream that does not say that it ends", answer.body);
    }
    const auto parsed = json::parse(answer.body);
    expect(parsed.ok() && parsed.value().is_object(), "no JSON", answer.body);
    if (answer.status >= 400)
      expect(parsed.value().find("error") != nullptr, "a fault without a sentence", answer.body);
  }

  net::Loop loop_;
  std::shared_ptr<const core::Model> model_;
  spans::MemoryStore store_;
  spans::Spans spans_;
  testing::ScriptedEngine engine_;
  std::unique_ptr<gateway::Service> service_;
  std::unique_ptr<net::Server> server_;
  std::unique_ptr<net::Client> client_;
  std::uint32_t made_ = 0;
  std::uint32_t says_ = 0;
  std::string body_;
  std::string last_id_ = "none";
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kModel = core::Model::load({.path = RONDO_SOURCE_DIR "/tests/golden/batch/model"}).value();
  constexpr std::size_t kMostRequests = 6;
  Gateway gateway(kModel);
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (std::size_t i = 0; i < kMostRequests && !bytes.empty(); ++i) {
    const std::size_t end = std::min(bytes.find('\0', std::min<std::size_t>(2, bytes.size())), bytes.size());
    gateway.ask(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return 0;
}
