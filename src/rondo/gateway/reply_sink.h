// The destination of a reply: an HTTP answer, an event stream, the messages of a WebSocket, or a store.
//
// The order of calls is: begin(); then either refuse(), or start(), any number of send(), and finish().  A sink that
// takes no events gets only finish().  A request that is refused early gets no begin().  After the first call the
// client may be gone; later calls then do nothing.  All calls are on the loop's thread.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "apis/errors.h"
#include "apis/request.h"
#include "apis/stream_event.h"
#include "apis/writer.h"
#include "json/value.h"
#include "net/http.h"
#include "net/server.h"

namespace rondo::gateway {

// The end of a reply.
struct WholeReply {
  net::Headers headers;
  json::Value body;  // the whole reply, also if it was sent as events
  // The engine failed after the first byte.  The events that say so were sent, and `body` holds what there was of the
  // reply.
  std::optional<apis::Fault> fault = {};
};

class ReplySink {
 public:
  ReplySink() = default;
  ReplySink(const ReplySink&) = delete;
  ReplySink& operator=(const ReplySink&) = delete;
  virtual ~ReplySink() = default;

  // Returns whether the reply is sent as events while it is made.  Always returns the same.
  [[nodiscard]] virtual bool takes_events() const = 0;
  // The request is valid and goes to the engine next.
  virtual void begin(const apis::GenerateRequest& request, const apis::ReplyMeta& meta);
  // The engine has accepted the request.
  virtual void start(const net::Headers& headers) = 0;
  virtual void send(std::span<const apis::StreamEvent> events) = 0;
  // The reply is complete and stored.  The last events of a stream were already sent.
  virtual void finish(WholeReply reply) = 0;
  // The request is not served; nothing was started.
  virtual void refuse(chat::Api api, const apis::Fault& fault) = 0;
  // Calls `task` once if the client goes away before the reply is complete, but never inside the functions above.  A
  // sink that continues without a client never calls it.
  virtual void on_gone(std::function<void()> task) = 0;
};

// Passes a reply on to another sink, except for the end of its stream: finish() sends that once the reply is stored.
class HoldingSink : public ReplySink {
 public:
  explicit HoldingSink(std::shared_ptr<ReplySink> to) : to_(std::move(to)) {}

  [[nodiscard]] bool takes_events() const override { return to_->takes_events(); }
  void begin(const apis::GenerateRequest& request, const apis::ReplyMeta& meta) override { to_->begin(request, meta); }
  void refuse(chat::Api api, const apis::Fault& fault) override { to_->refuse(api, fault); }
  void start(const net::Headers& headers) override { to_->start(headers); }
  void on_gone(std::function<void()> task) override { to_->on_gone(std::move(task)); }
  void send(std::span<const apis::StreamEvent> events) override;

 protected:
  // Returns whether the end of the stream begins with `event`.
  [[nodiscard]] virtual bool begins_end(const apis::StreamEvent& event) const = 0;

  std::shared_ptr<ReplySink> to_;
  std::vector<apis::StreamEvent> last_;  // the end of the stream
};

// Makes the sink of an HTTP request.  It answers with events if `is_stream`.
[[nodiscard]] std::shared_ptr<ReplySink> http_sink(net::Exchange exchange, bool is_stream);

}  // namespace rondo::gateway
