#include "gateway/passing.h"

#include <utility>

#include "json/parse.h"
#include "json/print.h"
#include "net/client.h"

namespace rondo::gateway {

namespace {

constexpr std::size_t kMostWaiting = std::size_t{1} << 20U;  // bytes for a client that does not take them

}  // namespace

class Passing final : public net::StreamHandler, public std::enable_shared_from_this<Passing> {
 public:
  Passing(std::shared_ptr<Service::State> state, ReadRequest read, net::Exchange exchange)
      : state_(std::move(state)), read_(std::move(read)), exchange_(std::move(exchange)) {}

  void begin() {
    state_->passing[this] = shared_from_this();
    exchange_.on_gone([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->leave();
    });
    const Upstream& upstream = read_.model->upstream;
    net::Request request{.method = "POST", .url = upstream.url() + exchange_.request().path};
    request.headers.add("content-type", "application/json");
    for (const char* name : {"anthropic-version", "anthropic-beta", "accept"}) {
      if (const auto value = exchange_.request().headers.find(name)) request.headers.add(name, std::string(*value));
    }
    request.body = std::move(read_.passed_body);
    call_ = upstream.client->stream(std::move(request), *this);
  }

  void on_head(int status, const net::Headers& headers) override {
    if (status == 404 || status == 405) {
      const std::string& media = read_.request.media;
      answer_fault(exchange_, read_.request.api,
                   apis::invalid(media, "`" + media + "` is no text, and the engine does not serve this API itself"));
      return leave();
    }
    net::Headers fields{{"x-rondo-prefix", "how=passthrough"}};
    for (const char* name : {"content-type", "retry-after"}) {
      if (const auto value = headers.find(name)) fields.add(name, std::string(*value));
    }
    for (const std::string& warning : read_.request.warnings) fields.add("warning", warning_field(warning));
    exchange_.start(status, fields);
    exchange_.on_drained([weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && self->call_) self->call_->resume();
    });
  }

  void on_data(std::string_view bytes) override {
    exchange_.write(bytes);
    if (exchange_.buffered() > kMostWaiting) call_->pause();
  }

  void on_end(const net::Ending& ending) override {
    if (ending.status.ok()) {
      exchange_.finish();
    } else if (exchange_.started()) {
      exchange_.abort();
    } else {
      answer_fault(
          exchange_, read_.request.api,
          {.kind = apis::FaultKind::kEngine, .message = ending.status.error().message, .param = "", .code = ""});
    }
    leave();
  }

 private:
  void leave() {
    const auto self = shared_from_this();
    state_->passing.erase(this);
    call_.reset();
  }

  std::shared_ptr<Service::State> state_;
  ReadRequest read_;
  net::Exchange exchange_;
  std::unique_ptr<net::Call> call_;
};

void pass_on(const std::shared_ptr<Service::State>& state, ReadRequest read, net::Exchange exchange) {
  read.visit->model = read.model->name;
  read.visit->how = "passthrough";
  std::make_shared<Passing>(state, std::move(read), std::move(exchange))->begin();
}

}  // namespace rondo::gateway
