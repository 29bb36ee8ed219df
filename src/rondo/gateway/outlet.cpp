#include "gateway/outlet.h"

#include <string>
#include <utility>

#include "gateway/state.h"

namespace rondo::gateway {
namespace {

class HttpOutlet final : public Outlet {
 public:
  explicit HttpOutlet(net::Exchange exchange) : exchange_(std::move(exchange)) {}
  void answer(int status, const json::Value& body, const net::Headers& headers) override {
    answer_json(exchange_, status, body, headers);
  }
  void refuse(chat::Api api, const apis::Fault& fault) override { answer_fault(exchange_, api, fault); }
  void start(const net::Headers& headers) override { exchange_.start(200, headers); }
  void send(const std::vector<apis::StreamEvent>& events) override {
    std::string text;
    for (const apis::StreamEvent& event : events) text += event.text();
    exchange_.write(text);
  }
  void finish() override { exchange_.finish(); }
  void on_gone(std::function<void()> task) override { exchange_.on_gone(std::move(task)); }

 private:
  net::Exchange exchange_;
};

}  // namespace

void Outlet::begin(const apis::GenerateRequest&, const apis::ReplyMeta&) {}

std::shared_ptr<Outlet> http_outlet(net::Exchange exchange) {
  return std::make_shared<HttpOutlet>(std::move(exchange));
}

}  // namespace rondo::gateway
