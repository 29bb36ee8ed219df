#include "net/websocket.h"

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "net/server_parts.h"
#include "net/websocket_parts.h"

namespace rondo::net {
namespace {

using websocket::Opcode;

// Why the handshake is refused; "" if it is valid.
std::string_view refusal(const ServerRequest& request) {
  const Headers& headers = request.headers;
  if (request.method != "GET") return "a WebSocket begins with GET";
  if (!headers.has_word("connection", "upgrade")) return "`Connection` does not say `Upgrade`";
  if (!request.body.empty()) return "the request has a body";
  const auto key = base64::decode(headers.find("sec-websocket-key").value_or(""));
  if (headers.count("sec-websocket-key") != 1 || !key || key->size() != 16) return "`Sec-WebSocket-Key` is not a key";
  return "";
}

}  // namespace

WebSocketState::WebSocketState(Loop& on, const WebSocketOptions& wanted, std::size_t most_buffered,
                               websocket::Deflate agreed)
    : loop(on),
      options(wanted),
      buffered_bytes(most_buffered),
      deflate(std::move(agreed)),
      reader({.message_bytes = wanted.message_bytes, .deflates = !deflate.answer.empty()}),
      quiet(on, [this] { was_quiet(); }) {}

void WebSocketState::take(std::string_view bytes) {
  const auto self = shared_from_this();
  has_pinged = false;
  quiet.set(options.quiet);
  const auto failure = reader.read(bytes, [this](websocket::Message message) {
    take_message(std::move(message));
    return connection != nullptr;
  });
  if (failure) {
    close(failure->code, failure->reason);
    went();
  }
}

void WebSocketState::take_message(websocket::Message message) {
  switch (message.opcode) {
    case Opcode::kText: messages.push_back(std::move(message.payload)); return tell();
    case Opcode::kPing: return send(Opcode::kPong, message.payload);
    case Opcode::kClose: {
      const std::uint16_t code = websocket::code_of(message.payload);
      close(code == websocket::kNoCode ? std::uint16_t{websocket::kNormal} : code, "");
      return went();
    }
    case Opcode::kBinary: close(websocket::kUnsupportedData, "messages are texts"); return went();
    case Opcode::kContinuation:
    case Opcode::kPong: return;
  }
}

void WebSocketState::send(Opcode opcode, std::string_view payload) {
  if (connection == nullptr) return;
  Channel& channel = connection->channel();
  if (channel.unsent() > buffered_bytes) return connection->cut();
  const bool packs = opcode == Opcode::kText && !deflate.answer.empty() && payload.size() >= options.packed_from;
  channel.send(packs ? websocket::frame(opcode, websocket::pack(payload, deflate.window_bits), true)
                     : websocket::frame(opcode, payload));
}

void WebSocketState::close(std::uint16_t code, std::string_view reason) {
  if (connection == nullptr) return;
  connection->channel().send(websocket::close_frame(code, reason));
  quiet.clear();
  std::exchange(connection, nullptr)->end_socket();
}

void WebSocketState::was_quiet() {
  const auto self = shared_from_this();
  if (connection == nullptr) return;
  if (std::exchange(has_pinged, true)) return connection->cut();
  send(Opcode::kPing, "");
  quiet.set(options.quiet);
}

void WebSocketState::drain() {
  is_draining = true;
  tell();
}

void WebSocketState::went() {
  connection.reset();
  quiet.clear();
  is_gone = true;
  tell();
}

void WebSocketState::tell() {
  if (std::exchange(is_telling, true)) return;
  loop.post([self = shared_from_this()] {
    self->is_telling = false;
    while (!self->messages.empty() && self->on_message) {
      std::string text = std::move(self->messages.front());
      self->messages.pop_front();
      const auto task = self->on_message;  // may replace itself
      task(std::move(text));
    }
    if (self->is_draining && self->on_drain) std::exchange(self->on_drain, nullptr)();
    if (self->is_gone && self->on_gone) std::exchange(self->on_gone, nullptr)();
  });
}

WebSocket::WebSocket(std::shared_ptr<WebSocketState> state) : state_(std::move(state)) {}

WebSocket::~WebSocket() {
  if (!state_) return;
  state_->on_message = nullptr;
  state_->on_gone = nullptr;
  state_->on_drain = nullptr;
  state_->close(websocket::kGoingAway, "");
}

bool WebSocket::is_asked_for(const ServerRequest& request) { return request.headers.has_word("upgrade", "websocket"); }

std::optional<WebSocket> WebSocket::accept(Exchange exchange, const WebSocketOptions& options) {
  const ServerRequest& request = exchange.request();
  ServerConnection* connection = exchange.state_->connection;
  if (connection == nullptr || exchange.started()) return std::nullopt;
  Server::Impl& server = connection->server();
  const auto refuse = [&](int status, std::string_view why, Headers headers) {
    const Reply reply = server.explained(request.path, status, why);
    for (const Header& header : reply.headers) headers.add(header.name, header.value);
    exchange.reply(status, headers, reply.body);
  };
  if (const std::string_view why = refusal(request); !why.empty()) return refuse(400, why, {}), std::nullopt;
  if (exchange.state_->minor == 0) return refuse(400, "a WebSocket begins with HTTP/1.1", {}), std::nullopt;
  if (request.headers.find("sec-websocket-version") != "13")
    return refuse(426, "the version of WebSocket is 13", {{"Sec-WebSocket-Version", "13"}}), std::nullopt;
  Headers headers{{"Upgrade", "websocket"},
                  {"Connection", "Upgrade"},
                  {"Sec-WebSocket-Accept", websocket::accept_key(*request.headers.find("sec-websocket-key"))}};
  websocket::Deflate deflate;
  if (options.deflates) deflate = websocket::agree_on_deflate(request.headers);
  if (!deflate.answer.empty()) headers.add("Sec-WebSocket-Extensions", deflate.answer);
  WebSocketOptions bounded = options;
  bounded.message_bytes = std::min(options.message_bytes, server.options.body_bytes);
  auto state =
      std::make_shared<WebSocketState>(server.loop, bounded, server.options.buffered_bytes, std::move(deflate));
  state->connection = connection->shared_from_this();
  state->quiet.set(options.quiet);
  for (const Header& header : request.answer_headers) headers.add(header.name, header.value);
  exchange.state_->status = 101;
  exchange.state_->tell_answered(true);
  exchange.state_->connection = nullptr;
  connection->upgrade(headers, state);
  return WebSocket(std::move(state));
}

void WebSocket::on_message(std::function<void(std::string)> task) {
  state_->on_message = std::move(task);
  state_->tell();
}
void WebSocket::on_gone(std::function<void()> task) {
  state_->on_gone = std::move(task);
  state_->tell();
}
void WebSocket::on_drain(std::function<void()> task) {
  state_->on_drain = std::move(task);
  state_->tell();
}
void WebSocket::send(std::string_view text) { state_->send(Opcode::kText, text); }
void WebSocket::close(std::uint16_t code, std::string_view reason) { state_->close(code, reason); }
bool WebSocket::is_open() const { return state_->connection != nullptr; }

}  // namespace rondo::net
