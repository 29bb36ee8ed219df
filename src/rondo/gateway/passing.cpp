#include "gateway/passing.h"

#include <array>
#include <optional>
#include <utility>

#include "apis/responses_body.h"
#include "apis/stored_responses.h"
#include "chat/api_parts.h"
#include "gateway/engine_terms.h"
#include "json/parse.h"
#include "json/print.h"
#include "net/client.h"
#include "net/sse.h"
#include "spans/keys.h"

namespace rondo::gateway {

namespace {

constexpr std::size_t kMostUntaken = std::size_t{1} << 20U;  // for a client that does not take them

// The engine's API has no such address.
bool is_unserved(int status) { return status == 404 || status == 405; }

apis::Fault unserved(const std::string& media) {
  return apis::invalid(media,
                       apis::quoted_place(media) + " is not text, and the engine does not serve this API itself");
}

net::Headers passed_headers(const ReadRequest& read) {
  net::Headers headers{{"x-rondo-prefix", "how=passthrough"}};
  add_warnings(read.request.warnings, headers);
  return headers;
}

class Passing final : public net::StreamHandler, public std::enable_shared_from_this<Passing> {
 public:
  Passing(std::shared_ptr<Service::State> state, ReadRequest read, net::Exchange exchange)
      : state_(std::move(state)), read_(std::move(read)), exchange_(std::move(exchange)) {}

  void begin() {
    state_->held[this] = shared_from_this();
    exchange_.on_gone([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->leave();
    });
    time_limit_ = state_->at_limit(*read_.visit, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->fail(late());
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
    if (is_unserved(status)) {
      answer_fault(exchange_, read_.request.api, unserved(read_.request.media));
      return leave();
    }
    net::Headers fields = passed_headers(read_);
    for (const char* name : {"content-type", "retry-after"}) {
      if (const auto value = headers.find(name)) fields.add(name, std::string(*value));
    }
    exchange_.start(status, fields);
    exchange_.on_drained([weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && self->call_) self->call_->resume();
    });
  }

  void on_data(std::string_view bytes) override {
    exchange_.write(bytes);
    if (exchange_.buffered() > kMostUntaken) call_->pause();
  }

  void on_end(const net::Ending& ending) override {
    if (!ending.status.ok()) {
      state_->metrics.engine_failed();
      return fail({.kind = apis::FaultKind::kEngine, .message = ending.status.error().message});
    }
    exchange_.finish();
    leave();
  }

 private:
  // A client that has a part of the answer notices by the end of the connection.
  void fail(const apis::Fault& fault) {
    read_.visit->fault_status = fault.status();
    exchange_.started() ? exchange_.abort() : answer_fault(exchange_, read_.request.api, fault);
    leave();
  }

  void leave() {
    const auto self = shared_from_this();
    state_->held.erase(this);
    call_.reset();
    time_limit_.cancel();
  }

  std::shared_ptr<Service::State> state_;
  ReadRequest read_;
  net::Exchange exchange_;
  std::unique_ptr<net::Call> call_;
  net::Timer time_limit_;
};

// The fields of a response that belong to the gateway, not to the engine.
constexpr std::array<std::string_view, 7> kOwn = {"id",           "created_at", "model", "previous_response_id",
                                                  "conversation", "background", "store"};

class PassedResponse final : public net::StreamHandler, public std::enable_shared_from_this<PassedResponse> {
 public:
  PassedResponse(std::shared_ptr<Service::State> state, ReadRequest read, std::shared_ptr<ReplySink> sink)
      : state_(std::move(state)), read_(std::move(read)), sink_(std::move(sink)) {}

  void begin() {
    state_->held[this] = shared_from_this();
    spans::TurnKey key;
    key.bytes = state_->parts.random();
    apis::ReplyMeta meta;
    meta.id = spans::mint_id("resp", key, 0);
    meta.model = read_.request.model.empty() ? read_.model->name : read_.request.model;
    meta.created_s = state_->parts.now_ms() / 1000;
    body_ = json::Value(apis::response_object(read_.request, meta, "in_progress", {}));
    for (const std::string_view key_of_own : kOwn) {
      if (const json::Value* value = body_.find(key_of_own)) own_.set(key_of_own, *value);
    }
    sink_->begin(read_.request, meta);
    sink_->on_gone([weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && self->call_) self->cancel();
    });
    time_limit_ = state_->at_limit(*read_.visit, [weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && self->call_) self->fail(late());
    });
    const Upstream& upstream = read_.model->upstream;
    net::Request request{.method = "POST", .url = upstream.url() + "/v1/responses"};
    request.headers.add("content-type", "application/json");
    request.body = std::move(read_.passed_body);
    call_ = upstream.client->stream(std::move(request), *this);
  }

  void on_head(int status, const net::Headers&) override {
    status_ = status;
    if (is_unserved(status)) return fail(unserved(read_.request.media));
    if (status != 200 || !sink_->takes_events()) return;
    sink_->start(passed_headers(read_));
    is_told_ = true;
  }

  void on_data(std::string_view bytes) override {
    if (!is_told_) {
      text_ += bytes;
      return;
    }
    const Status read = reader_.read(bytes, [this](const net::SseEvent& event) { tell(event); });
    if (!read.ok()) fail(of_engine(read.error().message));
  }

  void on_end(const net::Ending& ending) override {
    if (!ending.status.ok()) return fail(of_engine(ending.status.error().message));
    if (status_ != 200) return fail(refusal());
    if (is_told_ && !has_ended_) return fail(of_engine("the engine's stream broke off"));
    if (!is_told_) {
      auto body = json::parse(text_);
      if (!body.ok() || !body.value().is_object()) return fail(of_engine("the engine's answer is not a response"));
      adopt(body.value());
    }
    finish();
  }

 private:
  static apis::Fault of_engine(std::string message) {
    return {.kind = apis::FaultKind::kEngine, .message = std::move(message)};
  }

  // The engine's own explanation why it does not answer.
  [[nodiscard]] apis::Fault refusal() const {
    const auto body = json::parse(text_);
    const json::Value* error = body.ok() ? body.value().find("error") : nullptr;
    const std::string message = error == nullptr ? "" : chat::first_text(*error, {"message"});
    const apis::FaultKind kind = status_ == 400 || status_ == 422 ? apis::FaultKind::kInvalid
                                 : status_ == 429                 ? apis::FaultKind::kBusy
                                 : status_ == 503                 ? apis::FaultKind::kUnavailable
                                                                  : apis::FaultKind::kEngine;
    return {.kind = kind, .message = message.empty() ? "the engine answers " + std::to_string(status_) : message};
  }

  void adopt(json::Value& response) {
    for (const json::Member& member : own_) response.as_object().set(member.key, member.value);
    body_ = response;
  }

  void tell(const net::SseEvent& from) {
    auto event = json::parse(from.data);
    if (has_ended_ || !event.ok() || !event.value().is_object()) return;  // includes `[DONE]`
    if (const json::Value* number = event.value().find("sequence_number"))
      sequence_ = number->to_int64().value_or(sequence_) + 1;
    json::Value* response = event.value().as_object().find("response");
    if (response != nullptr && response->is_object()) adopt(*response);
    const apis::StreamEvent told{chat::first_text(event.value(), {"type"}), json::to_compact(event.value())};
    has_ended_ = apis::is_terminal(told);
    if (told.name == "response.failed") fault_ = of_engine("the engine failed");
    sink_->send({&told, 1});
  }

  void end_with(const std::string& type) {
    json::Object event{{"type", type}, {"sequence_number", sequence_++}, {"response", body_}};
    const apis::StreamEvent told{type, json::to_compact(json::Value(std::move(event)))};
    sink_->send({&told, 1});
  }

  void cancel() {
    body_.as_object().set("status", "cancelled");
    if (sink_->takes_events() && !is_told_) {
      sink_->start(passed_headers(read_));
      is_told_ = true;
    }
    if (is_told_) end_with("response.incomplete");
    finish();
  }

  void fail(const apis::Fault& fault) {
    if (fault.kind == apis::FaultKind::kEngine) state_->metrics.engine_failed();
    if (!is_told_) {
      sink_->refuse(kResponsesApi, fault);
      return leave();
    }
    fault_ = fault;
    const apis::StreamEvent error = apis::error_event(kResponsesApi, fault, sequence_++);
    sink_->send({&error, 1});
    body_.as_object().set("status", "failed");
    body_.as_object().set("error", json::Object{{"code", "server_error"}, {"message", fault.message}});
    end_with("response.failed");
    finish();
  }

  void finish() {
    const apis::StreamEvent done{"", "[DONE]"};
    if (is_told_) sink_->send({&done, 1});
    sink_->finish({.headers = passed_headers(read_), .body = body_, .fault = fault_});
    leave();
  }

  void leave() {
    const auto self = shared_from_this();
    state_->held.erase(this);
    call_.reset();
    time_limit_.cancel();
  }

  std::shared_ptr<Service::State> state_;
  ReadRequest read_;
  std::shared_ptr<ReplySink> sink_;
  json::Object own_;
  json::Value body_;  // the response as far as it is known
  std::unique_ptr<net::Call> call_;
  net::Timer time_limit_;
  net::SseReader reader_;
  std::string text_;  // of an answer that is not a stream
  std::int64_t sequence_ = 0;
  int status_ = 0;
  bool is_told_ = false;  // the sink gets events
  bool has_ended_ = false;
  std::optional<apis::Fault> fault_;
};

void note_passing(const ReadRequest& read) {
  read.visit->model = read.model->name;
  read.visit->how = "passthrough";
}

}  // namespace

std::string passed_body(const ReadRequest& read, bool is_told, json::Value body) {
  json::Object& object = body.as_object();
  if (!read.model->upstream.model.empty()) object.set("model", read.model->upstream.model);
  if (read.request.api == kResponsesApi) {
    for (const std::string_view key : {"previous_response_id", "conversation", "background"}) object.erase(key);
    object.set("store", false);
    object.set("stream", is_told || read.request.stream || read.request.responses.background);
  }
  return json::to_compact(body);
}

void pass_on(const std::shared_ptr<Service::State>& state, ReadRequest read, net::Exchange exchange) {
  note_passing(read);
  std::make_shared<Passing>(state, std::move(read), std::move(exchange))->begin();
}

void pass_response(const std::shared_ptr<Service::State>& state, ReadRequest read, std::shared_ptr<ReplySink> sink) {
  note_passing(read);
  std::make_shared<PassedResponse>(state, std::move(read), std::move(sink))->begin();
}

}  // namespace rondo::gateway
