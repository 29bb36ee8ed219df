#include "gateway/response_socket.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "apis/responses_body.h"
#include "apis/stored_responses.h"
#include "chat/api_parts.h"
#include "gateway/keeping.h"
#include "gateway/passing.h"
#include "gateway/responses.h"
#include "gateway/turn_run.h"
#include "json/print.h"
#include "net/websocket.h"

namespace rondo::gateway {
namespace {

constexpr std::size_t kMostLanes = 32;    // named ones
constexpr std::size_t kMostActive = 16;   // requests of one socket that run at the same time
constexpr std::size_t kMostWaiting = 64;  // requests that wait for others
constexpr std::size_t kMostWaitingBytes = std::size_t{64} << 20U;
constexpr std::size_t kMostLaneName = 256;
constexpr std::size_t kMostReadAtOnce = std::size_t{16} << 10U;  // of a message, on the loop, to learn its stream

bool is_lane_name(std::string_view name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  return !name.empty() && name.size() <= kMostLaneName && std::ranges::all_of(name, is_good);
}

// A message that asks for a response.
struct Asked {
  std::string text;
  std::string lane;      // its `stream_id`
  std::string previous;  // its `previous_response_id`
};

// Members of a message that are not part of the request.
constexpr std::array<std::string_view, 5> kOfMessage = {"type", "stream_id", "stream", "stream_options", "background"};

apis::Outcome<Asked> read_message(const std::string& text, std::string& lane) {
  auto parsed = apis::parse_body(text);
  if (!parsed.ok()) return parsed.fault();
  const json::Value& body = parsed.value();
  if (!body.is_object()) return apis::invalid("", "a message must be an object", "invalid_type");
  if (const json::Value* named = body.find("stream_id"); named != nullptr && !named->is_null()) {
    const std::string name = chat::first_text(body, {"stream_id"});
    if (!is_lane_name(name)) return apis::invalid("stream_id", "`stream_id` is not a name", "invalid_stream_id");
    lane = name;
  }
  if (const std::string type = chat::first_text(body, {"type"}); type != "response.create")
    return apis::invalid("type", "`" + type + "` is not an event that is understood here");
  return Asked{.text = text, .lane = lane, .previous = chat::first_text(body, {"previous_response_id"})};
}

class ResponseSocket : public std::enable_shared_from_this<ResponseSocket> {
 public:
  ResponseSocket(std::shared_ptr<Service::State> state, net::ServerRequest http)
      : state_(std::move(state)), http_(std::move(http)) {}

  void begin(net::WebSocket socket) {
    state_->held[this] = shared_from_this();
    socket_.emplace(std::move(socket));
    socket_->on_message([this](std::string text) { take(std::move(text)); });
    socket_->on_drain([this] {
      is_draining_ = true;
      end_if_drained();
    });
    socket_->on_gone([this] { went(); });
  }

  // Called by the sink of a lane's request.
  void send(const std::string& lane, const json::Value& event) { send_text(lane, json::to_compact(event)); }
  void send_text(const std::string& lane, const std::string& event) {
    if (lane.empty()) return socket_->send(event);
    socket_->send("{\"stream_id\":" + json::to_compact(json::Value(lane)) + "," + event.substr(1));
  }
  // The response has ended.  The lane's next request may continue from `latest`.
  void end(const std::string& lane, std::shared_ptr<const ResponseRecord> latest, int status) {
    Lane& of = lanes_[lane];
    state_->note_answered(http_, *of.visit, status);
    if (latest) {
      of.latest = std::move(latest);
    } else if (of.latest && of.latest->id() == of.asked) {
      of.latest.reset();  // the response that could not be continued is gone
    }
    of.is_busy = false;
    of.cancel = nullptr;
    --active_;
    state_->loop.post([self = shared_from_this()] { self->run_waiting(); });
  }
  void refuse(const std::string& lane, const apis::Fault& fault) {
    send(lane, apis::websocket_error(fault));
    end(lane, nullptr, fault.status());
  }
  void on_gone(const std::string& lane, std::function<void()> task) { lanes_[lane].cancel = std::move(task); }

 private:
  struct Lane {
    std::deque<Asked> waiting;
    bool is_busy = false;
    std::string asked;  // the response that the running request continues
    std::shared_ptr<Visit> visit;
    std::shared_ptr<const ResponseRecord> latest;
    std::function<void()> cancel;
  };

  void take(std::string text) {
    const bool is_too_much = waiting_bytes_ > 0 && waiting_bytes_ + text.size() > kMostWaitingBytes;
    // Whether one may run or wait is known once it is read.
    if (unread_.size() >= kMostActive + kMostWaiting || is_too_much) {
      std::string lane;
      if (text.size() <= kMostReadAtOnce) (void)read_message(text, lane);
      return send(lane, apis::websocket_error(too_many()));
    }
    waiting_bytes_ += text.size();
    unread_.push_back(std::move(text));
    if (!is_reading_) read_next();
  }

  // Reads one message after the other, to keep their order.
  void read_next() {
    struct Reading {
      std::string text;
      std::string lane;
      std::optional<apis::Outcome<Asked>> asked;
    };
    is_reading_ = !unread_.empty();
    if (!is_reading_) return;
    const auto reading = std::make_shared<Reading>();
    reading->text = std::move(unread_.front());
    unread_.pop_front();
    state_->off_loop(
        reading->text.size(), [reading] { reading->asked.emplace(read_message(reading->text, reading->lane)); },
        [reading, self = shared_from_this()] {
          if (const auto fault = self->enqueue(*reading->asked)) {
            self->waiting_bytes_ -= reading->text.size();
            self->send(reading->lane, apis::websocket_error(*fault));
          }
          self->run_waiting();
          self->read_next();
        });
  }

  static apis::Fault too_many() {
    return {.kind = apis::FaultKind::kBusy, .message = "too many requests wait on this connection"};
  }

  std::optional<apis::Fault> enqueue(apis::Outcome<Asked>& asked) {
    if (!asked.ok()) return asked.fault();
    const std::string& lane = asked.value().lane;
    if (!lanes_.contains(lane) && !lane.empty() && lanes_.size() - lanes_.count("") >= kMostLanes)
      return apis::invalid("stream_id", "there are too many streams", "websocket_stream_limit_reached");
    if (waiting_ >= kMostWaiting) return too_many();
    ++waiting_;
    lanes_[lane].waiting.push_back(std::move(asked.value()));
    return std::nullopt;
  }

  void run_waiting() {
    bool runs = !is_draining_;
    while (runs) {
      runs = false;
      for (auto& [name, lane] : lanes_) {
        if (lane.is_busy || lane.waiting.empty() || active_ >= kMostActive || !socket_->is_open()) continue;
        Asked asked = std::move(lane.waiting.front());
        lane.waiting.pop_front();
        --waiting_;
        waiting_bytes_ -= asked.text.size();
        run(lane, std::move(asked));
        runs = true;
      }
    }
    end_if_drained();
  }

  void run(Lane& lane, Asked asked);
  void generate(const std::string& lane, ReadRequest read);
  [[nodiscard]] std::shared_ptr<const ResponseRecord> remembered(const std::string& id) const;

  void end_if_drained() {
    if (is_draining_ && active_ == 0) {
      socket_->close(net::websocket::kGoingAway, "the server ends");
      went();
    }
  }

  void went() {
    const auto self = shared_from_this();
    state_->held.erase(this);
    unread_.clear();
    for (auto& [name, lane] : lanes_) {
      lane.waiting.clear();
      if (const auto cancel = std::exchange(lane.cancel, nullptr)) cancel();
    }
  }

  std::shared_ptr<Service::State> state_;
  net::ServerRequest http_;  // the handshake
  std::optional<net::WebSocket> socket_;
  std::deque<std::string> unread_;
  bool is_reading_ = false;
  std::map<std::string, Lane> lanes_;  // "" for messages without a name
  std::size_t active_ = 0;
  std::size_t waiting_ = 0;
  std::size_t waiting_bytes_ = 0;  // of all messages that are not running yet
  std::size_t begun_ = 0;
  bool is_draining_ = false;
};

// Sends a lane's events.
class SocketSink final : public ReplySink {
 public:
  SocketSink(std::shared_ptr<ResponseSocket> socket, std::string lane, Keeping keeping)
      : socket_(std::move(socket)), lane_(std::move(lane)), keeping_(std::move(keeping)) {}

  [[nodiscard]] bool takes_events() const override { return true; }
  void refuse(chat::Api, const apis::Fault& fault) override { socket_->refuse(lane_, fault); }
  void start(const net::Headers&) override {}
  void send(std::span<const apis::StreamEvent> events) override {
    for (const apis::StreamEvent& event : events) {
      // The failed response says the same as an error event.  A socket has no end of stream to say it with.
      if (!event.name.empty() && event.name != "error") socket_->send_text(lane_, event.data);
    }
  }
  void finish(WholeReply reply) override {
    if (reply.fault) return socket_->end(lane_, nullptr, reply.fault->status());
    auto latest = std::make_shared<ResponseRecord>(keeping_.record(reply.body));
    latest->is_stored = keeping_.store;
    socket_->end(lane_, std::move(latest), 200);
  }
  void on_gone(std::function<void()> task) override { socket_->on_gone(lane_, std::move(task)); }

 private:
  std::shared_ptr<ResponseSocket> socket_;
  std::string lane_;
  Keeping keeping_;
};

// Records a response for which nothing is sampled.  Later requests may continue from its input.
void register_input(Service::State& state, const ReadRequest& read, ReplySink& sink) {
  spans::TurnKey key;
  key.bytes = state.parts.random();
  apis::ReplyMeta meta;
  meta.id = spans::mint_id("resp", key, 0);
  meta.model = read.request.model.empty() ? read.model->name : read.request.model;
  meta.created_s = state.parts.now_ms() / 1000;
  sink.begin(read.request, meta);
  json::Object body = apis::response_object(read.request, meta, "completed", {});
  body.set("completed_at", meta.created_s);
  body.set("usage", apis::responses_usage({}));
  sink.start({});
  sink.send(apis::replayed(json::Value(body), false));
  sink.finish({.headers = {}, .body = std::move(body)});
}

std::shared_ptr<const ResponseRecord> ResponseSocket::remembered(const std::string& id) const {
  for (const auto& [name, lane] : lanes_) {
    if (lane.latest && lane.latest->id() == id) return lane.latest;
  }
  return nullptr;
}

void ResponseSocket::run(Lane& lane, Asked asked) {
  struct Reading {
    Asked asked;
    RequestParts parts;
    std::shared_ptr<const ResponseRecord> nearby;
    Streams::Ticket ticket;
    std::optional<apis::Outcome<ReadRequest>> read;
  };
  const std::shared_ptr<Visit> opened = visit_of(http_);
  ++active_;
  lane.is_busy = true;
  lane.asked = asked.previous;
  lane.visit = std::make_shared<Visit>();
  lane.visit->request_id = opened->request_id + "-" + std::to_string(++begun_);
  lane.visit->tenant = opened->tenant;
  lane.visit->began = state_->loop.now();
  lane.visit->asked = lane.visit->began;
  auto ticket = state_->begin_stream(opened->tenant);
  if (!ticket.ok()) return refuse(asked.lane, ticket.fault());
  const auto reading = std::make_shared<Reading>();
  reading->nearby = remembered(asked.previous);
  reading->asked = std::move(asked);
  reading->ticket = std::move(ticket.value());
  reading->parts = parts_of(http_);
  reading->parts.text = reading->asked.text;
  reading->parts.visit = lane.visit;
  reading->parts.left_out = kOfMessage;
  reading->parts.is_told = true;
  reading->parts.nearby = reading->nearby.get();
  state_->off_loop(
      reading->asked.text.size(),
      [reading, &state = *state_] {
        reading->read.emplace(read_parts(state, kResponsesApi, reading->parts));
        if (reading->read->ok()) keep_request(state, reading->parts);
      },
      [reading, self = shared_from_this()] {
        const std::string& name = reading->asked.lane;
        if (!self->socket_->is_open()) return self->end(name, nullptr, kClientWent);
        if (!reading->read->ok()) return self->refuse(name, reading->read->fault());
        reading->read->value().ticket = std::move(reading->ticket);
        self->generate(name, std::move(reading->read->value()));
      });
}

void ResponseSocket::generate(const std::string& lane, ReadRequest read) {
  auto sink =
      response_sink(*state_, read, std::make_shared<SocketSink>(shared_from_this(), lane, keeping_of(*state_, read)));
  if (!read.request.responses.generate) return register_input(*state_, read, *sink);
  if (is_passed(read)) return pass_response(state_, std::move(read), std::move(sink));
  std::make_shared<TurnRun>(state_, std::move(read), std::move(sink))->begin();
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
