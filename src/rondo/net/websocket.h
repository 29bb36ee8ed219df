// WebSocket: a server's connection that was upgraded (RFC 6455), plain or with TLS, with permessage-deflate.
//
//   if (net::WebSocket::is_asked_for(exchange.request())) {
//     std::optional<net::WebSocket> socket = net::WebSocket::accept(std::move(exchange), {});   // else it has answered why not
//     socket->on_message([&](std::string text) { socket->send(text); });
//   }
//
// Messages are texts; a client that sends bytes is closed with 1003.  Pings are answered, and sent where nothing comes.  All calls
// and callbacks are on the loop's thread; no callback comes from inside of a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/loop.h"
#include "net/server.h"
#include "net/websocket_frames.h"

namespace rondo::net {

struct WebSocketOptions {
  std::size_t message_bytes = std::size_t{64} << 20U;  // and no more than ServerOptions::body_bytes
  std::size_t packed_from = 1024;                      // shorter messages are sent as they are
  bool deflates = true;
  Milliseconds quiet{30'000};  // without a byte: a ping; twice as long: it is cut
};

struct WebSocketState;

class WebSocket {
 public:
  explicit WebSocket(std::shared_ptr<WebSocketState> state);
  WebSocket(WebSocket&&) noexcept = default;
  WebSocket& operator=(WebSocket&&) noexcept = default;
  // A socket that is open still is closed with 1001.
  ~WebSocket();

  [[nodiscard]] static bool is_asked_for(const ServerRequest& request);
  // Takes the connection over from the exchange.  Answers 400 or 426 and gives nothing where the handshake is wrong.
  [[nodiscard]] static std::optional<WebSocket> accept(Exchange exchange, const WebSocketOptions& options);

  void on_message(std::function<void(std::string text)> task);
  // Called once when the connection has ended, whoever ended it; not behind close().
  void on_gone(std::function<void()> task);
  // Called once when the server drains: the connection should be closed as soon as may be.
  void on_drain(std::function<void()> task);

  // Behind close(), and when it is gone, this does nothing.  A message that finds more than ServerOptions::buffered_bytes
  // waiting cuts the connection.
  void send(std::string_view text);
  // REQUIRES: a code that may be sent.
  void close(std::uint16_t code, std::string_view reason);
  [[nodiscard]] bool is_open() const;

 private:
  std::shared_ptr<WebSocketState> state_;
};

}  // namespace rondo::net
