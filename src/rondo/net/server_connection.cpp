#include <cassert>
#include <utility>

#include "net/server_parts.h"
#include "net/websocket_parts.h"

namespace rondo::net {
namespace {

// What a client may send before it has the answer to its last request.  Then reading stops.
constexpr std::size_t kAheadBytes = std::size_t{64} << 10U;

// How much memory a body gets before it is there.
constexpr std::uint64_t kReservedBody = std::uint64_t{1} << 20U;
constexpr std::string_view kTooMuch = "too many large requests at once";

int status_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kLimit: return 431;
    case ErrorCode::kUnsupported: return 505;
    default: return 400;
  }
}

std::string head_bytes(Server::Impl& server, int status, const Headers& headers, const Headers& own) {
  Headers all;
  for (const Header& header : headers) {
    const bool is_own = equal_ignoring_case(header.name, "content-length") ||
                        equal_ignoring_case(header.name, "transfer-encoding") ||
                        equal_ignoring_case(header.name, "connection") || equal_ignoring_case(header.name, "date");
    if (!is_own) all.add(header.name, header.value);
  }
  for (const Header& header : own) all.add(header.name, header.value);
  all.add("Date", server.date());
  std::string out;
  wire::append_response(out, status, all);
  return out;
}

bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

}  // namespace

// --- Exchange ---

void Exchange::State::start(int code, const Headers& headers, std::optional<std::size_t> length) {
  if (connection == nullptr || started) return;
  started = true;
  status = code;
  keeps_alive = keeps_alive && !connection->is_draining();
  Headers own = request.answer_headers;
  if (length && !has_no_body(code)) own.add("Content-Length", std::to_string(*length));
  if (!length && !has_no_body(code)) {
    chunked = minor == 1;
    if (chunked) own.add("Transfer-Encoding", "chunked");
    keeps_alive = keeps_alive && chunked;
  }
  if (!keeps_alive) {
    own.add("Connection", "close");
  } else if (minor == 0) {
    own.add("Connection", "keep-alive");
  }
  connection->channel().send(head_bytes(connection->server(), code, headers, own));
}

void Exchange::State::write(std::string_view bytes) {
  if (connection == nullptr || !started || bytes.empty() || request.method == "HEAD") return;
  Channel& channel = connection->channel();
  if (channel.unsent() > connection->server().options.buffered_bytes) return abort();
  channel.send_with([&](std::string& out) {
    if (chunked) {
      wire::append_chunk(out, bytes);
    } else {
      out += bytes;
    }
  });
}

void Exchange::State::finish() {
  if (connection == nullptr || !started) return;
  if (chunked && request.method != "HEAD") connection->channel().send(std::string(wire::kLastChunk));
  tell_answered(true);
  std::exchange(connection, nullptr)->answered(keeps_alive);
}

void Exchange::State::abort() {
  if (connection != nullptr) connection->cut();
}

void Exchange::State::let_go() {
  on_gone = nullptr;
  on_drained = nullptr;
  if (connection == nullptr) return;
  if (started) return abort();
  Reply reply = connection->server().explained(request.path, 500, "the request was not answered");
  start(reply.status, reply.headers, reply.body.size());
  if (connection == nullptr) return;
  if (request.method != "HEAD") connection->channel().send(std::move(reply.body));
  finish();
}

void Exchange::State::tell_answered(bool is_whole) {
  const auto& tell = connection->server().options.answered;
  if (tell) tell(request, {.status = status, .is_whole = is_whole});
}

void Exchange::State::went() {
  if (connection != nullptr) tell_answered(false);
  connection = nullptr;
  gone = true;
  on_drained = nullptr;
  tell_gone();
}

void Exchange::State::tell_gone() {
  loop.post([self = shared_from_this()] {
    if (const auto task = std::exchange(self->on_gone, nullptr)) task();
  });
}

Exchange::Exchange(std::shared_ptr<State> state) : state_(std::move(state)) {}

Exchange& Exchange::operator=(Exchange&& other) noexcept {
  if (this != &other) {
    if (state_) state_->let_go();
    state_ = std::move(other.state_);
  }
  return *this;
}

Exchange::~Exchange() {
  if (state_) state_->let_go();
}

const ServerRequest& Exchange::request() const { return state_->request; }
ServerRequest& Exchange::request() { return state_->request; }
bool Exchange::started() const { return state_->started; }
bool Exchange::is_gone() const { return state_->gone; }
void Exchange::start(int status, const Headers& headers) { state_->start(status, headers, std::nullopt); }
void Exchange::write(std::string_view bytes) { state_->write(bytes); }
void Exchange::finish() { state_->finish(); }
void Exchange::abort() { state_->abort(); }

void Exchange::reply(int status, const Headers& headers, std::string body) {
  if (state_->connection == nullptr || state_->started) return;
  state_->start(status, headers, body.size());
  if (state_->request.method != "HEAD" && !has_no_body(status)) state_->connection->channel().send(std::move(body));
  state_->finish();
}

std::size_t Exchange::buffered() const {
  return state_->connection == nullptr ? 0 : state_->connection->channel().unsent();
}

void Exchange::on_gone(std::function<void()> task) {
  state_->on_gone = std::move(task);
  if (state_->gone) state_->tell_gone();
}

void Exchange::on_drained(std::function<void()> task) { state_->on_drained = std::move(task); }

// --- Connection ---

ServerConnection::ServerConnection(Server::Impl& server, std::shared_ptr<Channel> channel)
    : server_(server),
      channel_(std::move(channel)),
      slow_(server.loop, [this] { timed_out(); }),
      quiet_(server.loop, [this] { timed_out(); }) {}

ServerConnection::~ServerConnection() { channel_->close(); }

void ServerConnection::start() {
  channel_->start(*this, server_.options.stall);
  slow_.set(server_.options.head);
}

void ServerConnection::await_head() {
  phase_ = Phase::kHead;
  is_head_begun_ = false;
  quiet_.set(server_.options.idle);
}

void ServerConnection::on_bytes(std::string_view bytes) {
  const auto self = shared_from_this();
  if (phase_ == Phase::kEnd) return;
  if (phase_ == Phase::kBody && in_.empty()) bytes.remove_prefix(read_body(bytes));
  if (phase_ == Phase::kEnd) return;
  in_.append(bytes);
  if (phase_ == Phase::kSocket) return feed_socket();
  process();
}

void ServerConnection::process() {
  const auto self = shared_from_this();
  while (phase_ == Phase::kHead || phase_ == Phase::kBody) {
    if (phase_ == Phase::kHead) {
      if (!read_head()) break;
      continue;
    }
    if (!in_.empty() && !body_.done()) {
      const std::string bytes = std::exchange(in_, {});
      const std::size_t used = read_body(bytes);
      if (phase_ == Phase::kEnd) return;
      in_ = bytes.substr(used);
    }
    if (!body_.done()) break;
    dispatch();
  }
  if (phase_ != Phase::kEnd && in_.size() > kAheadBytes) channel_->pause();
}

// True if a head was read and its body follows.
bool ServerConnection::read_head() {
  // Empty lines before a request are allowed.
  std::size_t empty = 0;
  while (std::string_view(in_).substr(empty).starts_with("\r\n")) empty += 2;
  in_.erase(0, empty);
  if (in_.empty()) return false;
  if (!is_head_begun_) {
    is_head_begun_ = true;
    quiet_.clear();
    slow_.set(server_.options.head);
  }
  const Result<std::size_t> end = wire::head_end(in_, server_.options.header_bytes);
  if (!end.ok()) return refuse(end.error()), false;
  if (end.value() == 0) return false;
  Result<wire::RequestHead> read =
      wire::read_request(std::string_view(in_).substr(0, end.value()), server_.options.header_count);
  if (!read.ok()) return refuse(read.error()), false;
  in_.erase(0, end.value());
  slow_.clear();
  wire::RequestHead& head = read.value();
  exchange_ = std::make_shared<Exchange::State>(server_.loop, *this);
  exchange_->minor = head.minor;
  exchange_->keeps_alive = wire::keeps_alive(head.headers, head.minor);
  ServerRequest& request = exchange_->request;
  request.method = head.method;
  request.target = head.target;
  const std::size_t question = std::min(head.target.find('?'), head.target.size());
  request.path = head.target.substr(0, question);
  request.query = head.target.substr(std::min(question + 1, head.target.size()));
  request.peer = channel_->peer();
  request.headers = head.headers;
  return begin_body(head);
}

bool ServerConnection::begin_body(const wire::RequestHead& head) {
  const Result<wire::Framing> framing = wire::framing_of(head);
  if (!framing.ok()) return refuse(framing.error()), false;
  if (framing.value().kind == wire::Framing::Kind::kLength && framing.value().length > server_.options.body_bytes) {
    return refuse(413, "the body is too long"), false;
  }
  if (server_.options.admit) {
    if (std::optional<Reply> reply = server_.options.admit(exchange_->request)) {
      return send_and_end(std::move(*reply)), false;
    }
  }
  const bool has_length = framing.value().kind == wire::Framing::Kind::kLength;
  if (has_length && !hold(framing.value().length)) return refuse(503, kTooMuch), false;
  if (has_length) exchange_->request.body.reserve(std::min(framing.value().length, kReservedBody));
  body_ = wire::BodyReader(framing.value());
  phase_ = Phase::kBody;
  if (const auto expected = head.headers.find("expect")) {
    if (!equal_ignoring_case(*expected, "100-continue")) return refuse(417, "only 100-continue can be expected"), false;
    if (head.minor == 1 && !body_.done() && in_.empty()) channel_->send("HTTP/1.1 100 Continue\r\n\r\n");
  }
  if (!body_.done()) {
    slow_.set(server_.options.body);
    quiet_.set(server_.options.body_idle);
  }
  return true;
}

std::size_t ServerConnection::read_body(std::string_view bytes) {
  quiet_.set(server_.options.body_idle);
  std::string& body = exchange_->request.body;
  bool is_too_much = false;
  const Result<std::size_t> used = body_.read(bytes, [&](std::string_view piece) {
    if (piece.size() > server_.options.body_bytes - body.size()) return false;
    body += piece;
    is_too_much = body.size() > held_ && !hold(body.size() - held_);
    return !is_too_much;
  });
  if (!used.ok()) {
    refuse(used.error());
  } else if (is_too_much) {
    refuse(503, kTooMuch);
  } else if (used.value() < bytes.size() && !body_.done()) {
    refuse(413, "the body is too long");
  } else {
    return used.value();
  }
  return bytes.size();
}

void ServerConnection::dispatch() {
  slow_.clear();
  quiet_.clear();
  phase_ = Phase::kAnswer;
  server_.handler(Exchange(exchange_));
}

bool ServerConnection::hold(std::size_t bytes) {
  if (bytes > server_.options.bodies_bytes - server_.bodies) return false;
  server_.bodies += bytes;
  held_ += bytes;
  return true;
}

void ServerConnection::release() { server_.bodies -= std::exchange(held_, 0); }

void ServerConnection::answered(bool keeps_alive) {
  release();
  exchange_.reset();
  slow_.clear();
  quiet_.clear();
  if (keeps_alive && !draining_) {
    phase_ = Phase::kFlush;  // the next request is read when the answer has been sent
  } else {
    phase_ = Phase::kEnd;
    channel_->finish();
  }
}

void ServerConnection::upgrade(const Headers& headers, std::shared_ptr<WebSocketState> socket) {
  exchange_.reset();
  socket_ = std::move(socket);
  phase_ = Phase::kSocket;
  std::string head;
  wire::append_response(head, 101, headers);
  channel_->send(std::move(head));
  channel_->resume();
  if (draining_) socket_->drain();
  server_.loop.post([self = shared_from_this()] { self->feed_socket(); });
}

void ServerConnection::feed_socket() {
  if (socket_) socket_->take(std::exchange(in_, {}));
}

void ServerConnection::end_socket() {
  phase_ = Phase::kEnd;
  socket_.reset();
  channel_->finish();
}

void ServerConnection::on_sent() {
  const auto self = shared_from_this();
  if (phase_ == Phase::kFlush) {
    if (draining_) {
      phase_ = Phase::kEnd;
      channel_->finish();
      return;
    }
    await_head();
    process();
    if (phase_ != Phase::kEnd) channel_->resume();
  } else if (exchange_ && exchange_->on_drained) {
    const auto task = exchange_->on_drained;  // may replace itself
    task();
  }
}

void ServerConnection::on_closed(const std::optional<Error>&) { forget(); }

void ServerConnection::cut() {
  channel_->close();
  forget();
}

void ServerConnection::forget() {
  release();
  phase_ = Phase::kEnd;
  slow_.clear();
  quiet_.clear();
  if (const auto exchange = std::exchange(exchange_, nullptr)) exchange->went();
  if (const auto socket = std::exchange(socket_, nullptr)) socket->went();
  server_.forget(*this);
}

void ServerConnection::drain() {
  draining_ = true;
  if (socket_) return socket_->drain();
  if (phase_ == Phase::kHead) {
    phase_ = Phase::kEnd;
    slow_.clear();
    quiet_.clear();
    channel_->finish();
  }
}

void ServerConnection::timed_out() {
  if (phase_ == Phase::kHead && (!is_head_begun_ || in_.empty())) return cut();
  refuse(408, "the request did not come in time");
}

void ServerConnection::refuse(const Error& error) { refuse(status_of(error), error.message); }

void ServerConnection::refuse(int status, std::string_view sentence) {
  if (!exchange_) exchange_ = std::make_shared<Exchange::State>(server_.loop, *this);
  // What admit() says to it does not matter, but what it notes does.
  if (server_.options.admit && !exchange_->request.note) (void)server_.options.admit(exchange_->request);
  send_and_end(server_.explained(exchange_->request.path, status, sentence));
}

void ServerConnection::send_and_end(Reply reply) {
  const std::shared_ptr<Exchange::State> exchange = exchange_;
  exchange->keeps_alive = false;
  exchange->start(reply.status, reply.headers, reply.body.size());
  if (exchange->request.method != "HEAD") channel_->send(std::move(reply.body));
  exchange->finish();
}

}  // namespace rondo::net
