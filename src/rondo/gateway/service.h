// Service: what the gateway's addresses answer.  One for each event loop.
//
//   gateway::Service service(loop, parts);
//   auto server = net::Server::make(loop, options, [&](net::Exchange exchange) { service.handle(std::move(exchange)); });
//
// A request of one of the chat APIs is read (apis/), its prompt is made of what is known of the conversation (spans/), an
// engine samples (engine/serving.h), the parser of the model's template reads what it wrote (core/), and the reply is
// written as the API says.  The reply's last byte is sent once its turn is kept.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model.h"
#include "engine/serving.h"
#include "net/loop.h"
#include "net/server.h"
#include "render/retention.h"
#include "spans/spans.h"

namespace rondo::gateway {

// A model that is served.  What it points to outlives the service.
struct ServedModel {
  std::string name;  // for clients
  std::shared_ptr<const core::Model> model;
  engine::Serving* serving = nullptr;
  json::Object kwargs{};  // template variables that every request has, unless it has its own
  std::int64_t created_s = 0;
};

struct ServiceOptions {
  render::Retention retention = render::Retention::kAll;
  bool strict_model = false;  // with a single model, other names are refused as well
  bool refuse_unknown_tools = false;
  // Names under which the server is asked (`Host`, without the port); others are refused, and so are pages of other origins:
  // a page that a name of its own leads here must not use it.  Empty: any name.
  std::vector<std::string> hosts{};
};

// What a service is made of; all of it outlives the service.
struct ServiceParts {
  std::vector<ServedModel> models;  // one at least; the first is the one for requests that name none
  spans::Spans* spans = nullptr;
  std::function<std::int64_t()> now_ms;                  // milliseconds since 1970
  std::function<std::array<std::uint8_t, 12>()> random;  // 12 bytes that nobody guesses
  ServiceOptions options{};
  // The page for people at `/`; what it runs has this nonce.  Empty: there is none.
  std::function<std::string(std::string_view nonce)> page{};
};

class Service {
 public:
  Service(net::Loop& loop, ServiceParts parts);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  void handle(net::Exchange exchange);
  // The body of an answer that the server gives by itself.
  [[nodiscard]] static net::Reply explain(int status, std::string_view sentence);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace rondo::gateway
