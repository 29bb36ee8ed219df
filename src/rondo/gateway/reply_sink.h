// Where the reply to a request goes: an HTTP answer, an event stream, the messages of a WebSocket, a store.
//
// TurnRun tells a sink, in this order: refuse() alone; or start(), any number of send(), finish(); or finish() alone where the sink
// takes no events.  Everything behind the first of them may find the client gone, and then does nothing.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "apis/errors.h"
#include "apis/stream_event.h"
#include "json/value.h"
#include "net/http.h"
#include "net/server.h"

namespace rondo::gateway {

// How a reply ended.
struct WholeReply {
  net::Headers headers;
  json::Value body;  // all of it, also where it was told as events
  // The engine failed behind the first byte: the events that say so were sent, and `body` is as far as the reply came.
  std::optional<apis::Fault> fault = {};
};

class ReplySink {
 public:
  ReplySink() = default;
  ReplySink(const ReplySink&) = delete;
  ReplySink& operator=(const ReplySink&) = delete;
  virtual ~ReplySink() = default;

  // Whether the reply is told as events while it is made.  The same at all times.
  [[nodiscard]] virtual bool takes_events() const = 0;
  // The engine has taken up the request.
  virtual void start(const net::Headers& headers) = 0;
  virtual void send(std::span<const apis::StreamEvent> events) = 0;
  // Once the reply is complete and kept; of a stream its last events were sent.
  virtual void finish(WholeReply reply) = 0;
  // The request is not served; nothing was started.
  virtual void refuse(chat::Api api, const apis::Fault& fault) = 0;
  // Called once if the client goes away before the reply is complete, never inside of the functions above.  Not called for
  // sinks that go on without one.
  virtual void on_gone(std::function<void()> task) = 0;
};

// The answer to an HTTP request, as events where `is_stream`.
[[nodiscard]] std::unique_ptr<ReplySink> http_sink(net::Exchange exchange, bool is_stream);

}  // namespace rondo::gateway
