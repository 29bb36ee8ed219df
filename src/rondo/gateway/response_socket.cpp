#include "gateway/response_socket.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "apis/responses_body.h"
#include "apis/stored_responses.h"
#include "chat/api_parts.h"
#include "gateway/keeping.h"
#include "gateway/responses.h"
#include "gateway/turn_run.h"
#include "json/print.h"
#include "net/websocket.h"

namespace rondo::gateway {
namespace {

constexpr std::size_t kMostLanes = 32;    // with a name
constexpr std::size_t kMostActive = 16;   // requests of one socket that run at once
constexpr std::size_t kMostWaiting = 64;  // that wait for others
constexpr std::size_t kMostLaneName = 256;

bool is_lane_name(std::string_view name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  return !name.empty() && name.size() <= kMostLaneName && std::ranges::all_of(name, is_good);
}

class ResponseSocket : public std::enable_shared_from_this<ResponseSocket> {
 public:
  ResponseSocket(std::shared_ptr<Service::State> state, net::ServerRequest http)
      : state_(std::move(state)), http_(std::move(http)) {}

  void begin(net::WebSocket socket) {
    state_->watches[this] = shared_from_this();
    socket_.emplace(std::move(socket));
    socket_->on_message([this](const std::string& text) { take(text); });
    socket_->on_drain([this] {
      is_draining_ = true;
      end_if_drained();
    });
    socket_->on_gone([this] { went(); });
  }

  // From the outlet of a lane's request.
  void send(const std::string& lane, const json::Value& event) { send_text(lane, json::to_compact(event)); }
  void send_text(const std::string& lane, const std::string& event) {
    if (lane.empty()) return socket_->send(event);
    socket_->send("{\"stream_id\":" + json::to_compact(json::Value(lane)) + "," + event.substr(1));
  }
  // The response came to its end; `latest` is what the lane's next request may go on from.
  void end(const std::string& lane, std::optional<ResponseRecord> latest) {
    Lane& of = lanes_[lane];
    if (latest) {
      of.latest = std::move(latest);
    } else if (of.latest && of.latest->id() == of.asked) {
      of.latest.reset();  // what could not be gone on from is gone
    }
    of.is_busy = false;
    of.cancel = nullptr;
    --active_;
    state_->loop.post([self = shared_from_this()] { self->run_waiting(); });
  }
  void refuse(const std::string& lane, const apis::Fault& fault) {
    send(lane, apis::websocket_error(fault));
    end(lane, std::nullopt);
  }
  void on_gone(const std::string& lane, std::function<void()> task) { lanes_[lane].cancel = std::move(task); }

 private:
  struct Lane {
    std::deque<json::Value> waiting;
    bool is_busy = false;
    std::string asked;  // the response that the running request goes on from
    std::optional<ResponseRecord> latest;
    std::function<void()> cancel;
  };

  void take(const std::string& text) {
    std::string lane;
    if (const auto fault = take_create(text, lane)) return send(lane, apis::websocket_error(*fault));
    run_waiting();
  }

  std::optional<apis::Fault> take_create(const std::string& text, std::string& lane) {
    auto parsed = apis::parse_body(text);
    if (!parsed.ok()) return parsed.fault();
    json::Value& body = parsed.value();
    if (!body.is_object()) return apis::invalid("", "a message must be an object", "invalid_type");
    const std::string named = chat::first_text(body, {"stream_id"});
    if (body.find("stream_id") != nullptr && !body.find("stream_id")->is_null()) {
      if (!is_lane_name(named)) return apis::invalid("stream_id", "`stream_id` is no name", "invalid_stream_id");
      if (!lanes_.contains(named) && lanes_.size() - lanes_.count("") >= kMostLanes)
        return apis::invalid("stream_id", "there are too many streams", "websocket_stream_limit_reached");
      lane = named;
    }
    if (const std::string type = chat::first_text(body, {"type"}); type != "response.create")
      return apis::invalid("type", "`" + type + "` is no event that is understood here");
    if (waiting_ >= kMostWaiting)
      return apis::Fault{.kind = apis::FaultKind::kBusy, .message = "too many requests wait on this connection"};
    for (const std::string_view key : {"type", "stream_id", "stream", "stream_options", "background"})
      body.as_object().erase(key);
    ++waiting_;
    lanes_[lane].waiting.push_back(std::move(body));
    return std::nullopt;
  }

  void run_waiting() {
    bool runs = !is_draining_;
    while (runs) {
      runs = false;
      for (auto& [name, lane] : lanes_) {
        if (lane.is_busy || lane.waiting.empty() || active_ >= kMostActive || !socket_->is_open()) continue;
        json::Value body = std::move(lane.waiting.front());
        lane.waiting.pop_front();
        --waiting_;
        run(name, lane, std::move(body));
        runs = true;
      }
    }
    end_if_drained();
  }

  void run(const std::string& name, Lane& lane, json::Value body);

  void end_if_drained() {
    if (is_draining_ && active_ == 0) {
      socket_->close(net::websocket::kGoingAway, "the server ends");
      went();
    }
  }

  void went() {
    const auto self = shared_from_this();
    state_->watches.erase(this);
    for (auto& [name, lane] : lanes_) {
      lane.waiting.clear();
      if (const auto cancel = std::exchange(lane.cancel, nullptr)) cancel();
    }
  }

  std::shared_ptr<Service::State> state_;
  net::ServerRequest http_;  // the handshake
  std::optional<net::WebSocket> socket_;
  std::map<std::string, Lane> lanes_;  // "": of messages that name none
  std::size_t active_ = 0;
  std::size_t waiting_ = 0;
  bool is_draining_ = false;
};

// Sends a lane's events.
class SocketOutlet final : public Outlet {
 public:
  SocketOutlet(std::shared_ptr<ResponseSocket> socket, std::string lane, Keeping keeping)
      : socket_(std::move(socket)), lane_(std::move(lane)), keeping_(std::move(keeping)) {}

  void answer(int, const json::Value& body, const net::Headers&) override {
    send(apis::replayed(body, false));
    finish();
  }
  void refuse(chat::Api, const apis::Fault& fault) override { socket_->refuse(lane_, fault); }
  void start(const net::Headers&) override {}
  void send(const std::vector<apis::StreamEvent>& events) override {
    for (const apis::StreamEvent& event : events) {
      // The response that has failed says what an error in the stream does; a socket has no end of a stream.
      if (event.name.empty() || event.name == "error") continue;
      socket_->send_text(lane_, event.data);
      if (apis::is_terminal(event)) body_ = response_in(event);
    }
  }
  void finish() override {
    std::optional<ResponseRecord> latest;
    if (body_.is_object() && body_.find_string("status") != "failed") {
      latest = keeping_.record(body_);
      latest->is_stored = keeping_.store;
    }
    socket_->end(lane_, std::move(latest));
  }
  void on_gone(std::function<void()> task) override { socket_->on_gone(lane_, std::move(task)); }

 private:
  std::shared_ptr<ResponseSocket> socket_;
  std::string lane_;
  Keeping keeping_;
  json::Value body_;
};

// A response for which nothing is sampled: the input is there to go on from.
void register_input(Service::State& state, const ReadRequest& read, Outlet& outlet) {
  spans::TurnKey key;
  key.bytes = state.parts.random();
  apis::ReplyMeta meta;
  meta.id = spans::mint_id("resp", key, 0);
  meta.model = read.request.model.empty() ? read.model->name : read.request.model;
  meta.created_s = state.parts.now_ms() / 1000;
  outlet.begin(read.request, meta);
  json::Object body = apis::response_object(read.request, meta, "completed", {});
  body.set("completed_at", meta.created_s);
  body.set("usage", apis::responses_usage({}));
  outlet.start({});
  outlet.send(apis::replayed(json::Value(std::move(body)), false));
  outlet.finish();
}

void ResponseSocket::run(const std::string& name, Lane& lane, json::Value body) {
  ++state_->counters.requests;
  ++active_;
  lane.is_busy = true;
  lane.asked = chat::first_text(body, {"previous_response_id"});
  const auto header = [this](std::string_view key) { return std::string(http_.headers.find(key).value_or("")); };
  const ResponseLookup nearby = [this](const std::string& id) -> std::optional<ResponseRecord> {
    for (const auto& [other, of] : lanes_) {
      if (of.latest && of.latest->id() == id) return of.latest;
    }
    return std::nullopt;
  };
  auto read = read_parts(*state_, kResponsesApi,
                         {.body = std::move(body), .headers = header, .tenant = tenant_of(http_), .nearby = nearby});
  if (!read.ok()) return refuse(name, read.fault());
  read.value().request.stream = true;
  std::shared_ptr<Outlet> outlet =
      std::make_shared<SocketOutlet>(shared_from_this(), name, keeping_of(state_, read.value()));
  outlet = kept(state_, read.value(), std::move(outlet));
  if (!read.value().request.responses.generate) return register_input(*state_, read.value(), *outlet);
  std::make_shared<TurnRun>(state_, std::move(read).value(), std::move(outlet))->begin();
}

}  // namespace

void open_response_socket(Service::State& state, net::Exchange exchange) {
  if (!net::WebSocket::is_asked_for(exchange.request())) {
    const apis::Fault fault = {.kind = apis::FaultKind::kInvalid, .message = "GET is for WebSockets on /v1/responses"};
    return answer_json(exchange, 426, apis::error_body(kResponsesApi, fault), {{"upgrade", "websocket"}});
  }
  const auto socket = std::make_shared<ResponseSocket>(state.shared_from_this(), exchange.request());
  auto accepted = net::WebSocket::accept(std::move(exchange), {});
  if (accepted) socket->begin(*std::move(accepted));
}

}  // namespace rondo::gateway
