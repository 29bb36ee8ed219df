// Service: what the gateway's addresses answer.  One for each event loop; they share what Service::share() gives.
//
//   gateway::Service service(loop, parts);
//   options.admit = [&](net::ServerRequest& request) { return service.admit(request); };
//   options.answered = [&](const auto& request, const auto& answered) { service.answered(request, answered); };
//   auto server = net::Server::make(loop, options, [&](net::Exchange exchange) { service.handle(std::move(exchange)); });
//
// A request of one of the chat APIs is read (apis/), its prompt is made of what is known of the conversation (spans/), an
// engine samples (engine/serving.h), the parser of the model's template reads what it wrote (core/), and the reply is
// written as the API says.  The reply's last byte is sent once its turn is kept.
//
// What takes long, reading large requests and making their prompts, is done on workers; all else on the loop's thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/workers.h"
#include "core/model.h"
#include "engine/serving.h"
#include "net/client.h"
#include "net/loop.h"
#include "net/server.h"
#include "render/retention.h"
#include "spans/spans.h"

namespace rondo::gateway {

// An engine's own address for the chat APIs, for requests that token ids can't carry.
struct Upstream {
  net::Client* client = nullptr;     // null: there is none
  std::function<std::string()> url;  // without a slash at its end; on the loop's thread
  std::string model;                 // the engine's own name of the model
};

// A model that is served.  What it points to outlives the service.
struct ServedModel {
  std::string name;  // for clients
  std::shared_ptr<const core::Model> model;
  engine::Serving* serving = nullptr;
  json::Object kwargs{};  // template variables that every request has, unless it has its own
  std::int64_t created_s = 0;
  Upstream upstream{};
  std::vector<std::string> aliases{};  // other names that it has
  std::function<bool()> is_up{};       // whether an engine is there, for `/ready`; none: it always is

  [[nodiscard]] bool is_called(std::string_view one) const {
    return name == one || std::find(aliases.begin(), aliases.end(), one) != aliases.end();
  }
};

struct ServiceOptions {
  render::Retention retention = render::Retention::kAll;
  bool strict_model = false;  // with a single model, other names are refused as well
  bool refuse_unknown_tools = false;
  // Names under which the server is asked (`Host`, without the port); others are refused, and so are pages of other origins:
  // a page that a name of its own leads here must not use it.  Empty: any name.
  std::vector<std::string> hosts{};
  std::vector<std::string> origins{};  // whose pages may use this server (`https://chat.example`)

  std::size_t streams = 0;            // requests that generate at once; more get 429.  0: no bound
  std::size_t streams_of_tenant = 0;  // of each tenant
  net::Milliseconds request_time{0};  // for a reply; what is there by then is kept, and the answer is 504.  0: for ever
  bool keep_logprobs = false;         // engines are asked for them, for trainers, also where the request does not
  std::size_t kept_request_bytes = 0;  // of the last requests, for `/rondo/v1/log`; 0: none is kept

  enum class Log : std::uint8_t { kNone, kText, kJson };
  Log log = Log::kNone;
  std::string version{};  // of the program, for `/version`
};

// A number that is asked for when `/metrics` is.  Those of one name stand together.
struct Gauge {
  std::string name;
  std::string help;
  std::vector<std::pair<std::string, std::string>> labels{};
  double value = 0;
};

// What the services of one gateway have in common.  Any thread may use it.
struct Shared;

// What a service is made of; all of it outlives the service.
struct ServiceParts {
  std::vector<ServedModel> models;  // one at least; the first is the one for requests that name none
  spans::Spans* spans = nullptr;
  std::function<std::int64_t()> now_ms;                  // milliseconds since 1970; any thread
  std::function<std::array<std::uint8_t, 12>()> random;  // 12 bytes that nobody guesses; any thread
  ServiceOptions options{};
  // Whose secret it is; nullopt: nobody's.  None: no key is asked for.
  std::function<std::optional<std::string>(std::string_view secret)> tenant_of{};
  std::function<void(std::string_view line)> log{};  // takes lines with their ends; any thread
  std::function<std::vector<Gauge>()> gauges{};      // of what the service is made of; on the loop's thread
  Workers* workers = nullptr;                        // null: everything is done on the loop's thread
  std::shared_ptr<Shared> shared{};                  // null: one of its own
  // The page for people at `/`; what it runs has this nonce.  Empty: there is none.
  std::function<std::string(std::string_view nonce)> page{};
};

// The server that calls it goes first.
class Service {
 public:
  Service(net::Loop& loop, ServiceParts parts);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  [[nodiscard]] static std::shared_ptr<Shared> share();

  // Before the body is read: who asks, and an answer where that settles it.
  [[nodiscard]] std::optional<net::Reply> admit(net::ServerRequest& request);
  // REQUIRES: the request was admitted, or is to be here.
  void handle(net::Exchange exchange);
  // Each exchange, once its answer is complete or its client gone: a line in the log, and a number.
  void answered(const net::ServerRequest& request, const net::Answered& answered);

  // From now on requests that generate get 503, and `/ready` says so; what runs goes on.  All services that share.
  void drain();
  // Requests that generate, of all services that share.
  [[nodiscard]] std::size_t running() const;

  // The body of an answer that the server gives by itself.
  [[nodiscard]] static net::Reply explain(int status, std::string_view sentence);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace rondo::gateway
