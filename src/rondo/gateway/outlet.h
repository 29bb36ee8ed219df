// Where the answer to a request goes: an HTTP exchange, a WebSocket, a store.  Private to gateway/.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "apis/writer.h"
#include "json/value.h"
#include "net/server.h"

namespace rondo::gateway {

// An answer is refuse(), or answer(), or start(), any number of send() and finish().  All calls are on the loop's thread.
class Outlet {
 public:
  virtual ~Outlet() = default;
  // The request is in order, and goes to the engine next.
  virtual void begin(const apis::GenerateRequest& request, const apis::ReplyMeta& meta);
  virtual void answer(int status, const json::Value& body, const net::Headers& headers) = 0;
  virtual void refuse(chat::Api api, const apis::Fault& fault) = 0;
  virtual void start(const net::Headers& headers) = 0;
  virtual void send(const std::vector<apis::StreamEvent>& events) = 0;
  virtual void finish() = 0;
  // Called once if nobody wants the answer any more.
  virtual void on_gone(std::function<void()> task) = 0;
};

[[nodiscard]] std::shared_ptr<Outlet> http_outlet(net::Exchange exchange);

}  // namespace rondo::gateway
