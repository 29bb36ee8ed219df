#include "gateway/reply_sink.h"

#include <algorithm>
#include <string>
#include <utility>

#include "gateway/state.h"

namespace rondo::gateway {
namespace {

class HttpSink final : public ReplySink {
 public:
  HttpSink(net::Exchange exchange, bool is_stream) : exchange_(std::move(exchange)), is_stream_(is_stream) {}

  [[nodiscard]] bool takes_events() const override { return is_stream_; }

  void start(const net::Headers& headers) override {
    net::Headers fields = headers;
    fields.add("content-type", "text/event-stream; charset=utf-8");
    fields.add("cache-control", "no-cache");
    exchange_.start(200, fields);
  }

  void send(std::span<const apis::StreamEvent> events) override {
    std::string text;
    for (const apis::StreamEvent& event : events) event.append_to(text);
    if (!text.empty()) exchange_.write(text);
  }

  void finish(WholeReply reply) override {
    if (is_stream_) return exchange_.finish();
    answer_json(exchange_, 200, reply.body, std::move(reply.headers));
  }

  void refuse(chat::Api api, const apis::Fault& fault) override { answer_fault(exchange_, api, fault); }

  void on_gone(std::function<void()> task) override { exchange_.on_gone(std::move(task)); }

 private:
  net::Exchange exchange_;
  bool is_stream_;
};

}  // namespace

void ReplySink::begin(const apis::GenerateRequest&, const apis::ReplyMeta&) {}

void HoldingSink::send(std::span<const apis::StreamEvent> events) {
  if (last_.empty()) {
    const auto end = std::ranges::find_if(events, [this](const apis::StreamEvent& event) { return begins_end(event); });
    const auto now = static_cast<std::size_t>(end - events.begin());
    if (now > 0) to_->send(events.first(now));
    events = events.subspan(now);
  }
  last_.insert(last_.end(), events.begin(), events.end());
}

std::shared_ptr<ReplySink> http_sink(net::Exchange exchange, bool is_stream) {
  return std::make_shared<HttpSink>(std::move(exchange), is_stream);
}

}  // namespace rondo::gateway
