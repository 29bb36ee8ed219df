// Service: answers the gateway's endpoints.  Each event loop has one; all of them share what Service::share() returns.
//
//   gateway::Service service(loop, parts);
//   options.admit = [&](net::ServerRequest& request) { return service.admit(request); };
//   options.answered = [&](const auto& request, const auto& answered) { service.answered(request, answered); };
//   auto server =
//       net::Server::make(loop, options, [&](net::Exchange exchange) { service.handle(std::move(exchange)); });
//
// A request of a chat API goes through these steps.  apis/ reads it, spans/ makes its prompt from what is known of the
// conversation, an engine samples (engine/serving.h), the parser of the model's template reads the completion (core/),
// and apis/ writes the reply.  The last byte of the reply is sent after its turn is stored.
//
// Slow work runs on workers: reading large requests and making their prompts.  Everything else runs on the loop's
// thread.
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

#include "apis/writer.h"
#include "base/workers.h"
#include "core/model.h"
#include "engine/serving.h"
#include "net/client.h"
#include "net/loop.h"
#include "net/server.h"
#include "render/retention.h"
#include "spans/spans.h"

namespace rondo::gateway {

// An engine's own address for the chat APIs, for requests that token ids cannot carry.
struct Upstream {
  net::Client* client = nullptr;     // null: the engine has none
  std::function<std::string()> url;  // without a slash at the end; called on the loop's thread
  std::string model;                 // the engine's name for the model
};

// A model that is served.  Everything that it points to must outlive the service.
struct ServedModel {
  std::string name;  // the name that clients use
  std::shared_ptr<const core::Model> model;
  engine::Serving* serving = nullptr;
  json::Object kwargs{};  // template variables for every request that does not set them itself
  std::int64_t created_s = 0;
  Upstream upstream{};
  std::vector<std::string> aliases{};  // further names
  std::function<bool()> is_up{};       // whether its engine is up, for `/ready`; none: always up

  [[nodiscard]] bool is_called(std::string_view one) const {
    return name == one || std::find(aliases.begin(), aliases.end(), one) != aliases.end();
  }
};

struct ServiceOptions {
  render::Retention retention = render::Retention::kAll;
  bool strict_model = false;  // refuse other names even if there is only one model
  bool refuse_unknown_tools = false;
  apis::Media media = apis::Media::kKeep;  // kept media goes to engines that serve the same API, else it is refused
  // How Responses streams report reasoning if the request does not say.
  apis::ReasoningEvents reasoning_events = apis::ReasoningEvents::kText;
  // The names (`Host`, without the port) under which this server may be reached.  Requests for other names are refused,
  // and so are requests from pages of other origins: otherwise a page could point a name of its own at this server and
  // use it.  Empty: any name.
  std::vector<std::string> hosts{};
  std::vector<std::string> origins{};  // origins whose pages may use this server (`https://chat.example`)

  std::size_t streams = 0;            // how many requests may generate at once; more get 429.  0: no limit
  std::size_t streams_of_tenant = 0;  // how many of one tenant; 0: no limit
  // How long a reply may take.  After that the answer is 504, and what was sampled is kept.  0: no limit.
  net::Milliseconds request_time{0};
  bool keep_logprobs = false;  // ask engines for log probabilities even if the request does not, for trainers
  // Size of the latest requests that are kept for `/rondo/v1/log`; 0: none are kept.
  std::size_t kept_request_bytes = 0;

  enum class Log : std::uint8_t { kNone, kText, kJson };
  Log log = Log::kNone;
  std::string version{};  // the program's version, for `/version`
};

// A number that is read when `/metrics` is requested.  Gauges with the same name are listed together.
struct Gauge {
  std::string name;
  std::string help;
  std::vector<std::pair<std::string, std::string>> labels{};
  double value = 0;
};

// What the services of one gateway share.  Any thread may use it.
struct Shared;

// The parts of a service.  All of them must outlive it.
struct ServiceParts {
  std::vector<ServedModel> models;  // at least one; a single one serves requests that name none
  spans::Spans* spans = nullptr;
  std::function<std::int64_t()> now_ms;  // milliseconds since 1970; any thread
  // The time that templates show; empty: none, and templates that ask for it fail.  Any thread.
  std::function<core::LocalTime()> local_time{};
  std::function<std::array<std::uint8_t, 12>()> random;  // 12 unpredictable bytes; any thread
  ServiceOptions options{};
  // Returns the tenant with this secret; nullopt if nobody has it.  If the function is empty, no key is required.
  std::function<std::optional<std::string>(std::string_view secret)> tenant_of{};
  std::function<void(std::string_view line)> log{};  // takes lines with their line ends; any thread
  std::function<std::vector<Gauge>()> gauges{};      // called on the loop's thread
  Workers* workers = nullptr;                        // null: all work runs on the loop's thread
  std::shared_ptr<Shared> shared{};                  // null: the service makes its own
  // The web page at `/`.  Its scripts carry the nonce.  Empty: there is no page.
  std::function<std::string(std::string_view nonce)> page{};
};

// Destroy the server that calls it first.
class Service {
 public:
  Service(net::Loop& loop, ServiceParts parts);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  [[nodiscard]] static std::shared_ptr<Shared> share();

  // Looks at a request before its body is read.  Notes the tenant, and returns an answer if one can be given already.
  [[nodiscard]] std::optional<net::Reply> admit(net::ServerRequest& request);
  // Answers a request.
  //
  // REQUIRES: admit() let the request pass, or the request needs no admission.
  void handle(net::Exchange exchange);
  // Takes note of an exchange when its answer is complete or its client has gone: one log line, and the metrics.
  void answered(const net::ServerRequest& request, const net::Answered& answered);

  // Refuses new requests that generate, with 503, and makes `/ready` say so.  Running requests continue.  Applies to
  // all services that share.
  void drain();
  // Ends the requests of this service that generate, with 503 or an event of their API.  What was sampled is kept.
  //
  // REQUIRES: called on the loop's thread.
  void cut();
  // Returns how many requests generate now, in all services that share.
  [[nodiscard]] std::size_t running() const;

  // Returns an answer that the HTTP server gives by itself, in the form of the API at the path.
  [[nodiscard]] static net::Reply explain(std::string_view path, int status, std::string_view sentence);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace rondo::gateway
