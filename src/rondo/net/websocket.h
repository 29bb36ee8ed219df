// WebSocket: an upgraded connection of a server (RFC 6455), plain or with TLS, with permessage-deflate.
//
//   if (net::WebSocket::is_asked_for(exchange.request())) {
//     // nullopt: it has answered why not
//     std::optional<net::WebSocket> socket = net::WebSocket::accept(std::move(exchange), {});
//     socket->on_message([&](std::string text) { socket->send(text); });
//   }
//
// Messages are texts; a client that sends bytes is closed with 1003.  Pings are answered, and are sent if nothing
// comes.  All calls and callbacks are on the loop's thread.  No callback is made inside a call.
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
  std::size_t message_bytes = std::size_t{64} << 20U;  // also limited by ServerOptions::body_bytes
  std::size_t packed_from = 1024;                      // shorter messages are not compressed
  bool deflates = true;
  // After this time without a byte, a ping is sent; after twice this time, the connection is cut.
  Milliseconds quiet{30'000};
};

struct WebSocketState;

class WebSocket {
 public:
  explicit WebSocket(std::shared_ptr<WebSocketState> state);
  WebSocket(WebSocket&&) noexcept = default;
  WebSocket& operator=(WebSocket&&) noexcept = default;
  // Closes an open socket with 1001.
  ~WebSocket();

  [[nodiscard]] static bool is_asked_for(const ServerRequest& request);
  // Takes over the connection of the exchange.  If the handshake is wrong, answers 400 or 426 and returns nullopt.
  [[nodiscard]] static std::optional<WebSocket> accept(Exchange exchange, const WebSocketOptions& options);

  void on_message(std::function<void(std::string text)> task);
  // Calls `task` once when the connection has ended, whoever ended it; not after close().
  void on_gone(std::function<void()> task);
  // Calls `task` once when the server drains: the connection should then be closed soon.
  void on_drain(std::function<void()> task);

  // Sends a message.  Does nothing after close() or when the connection is gone.  A message that finds more than
  // ServerOptions::buffered_bytes waiting cuts the connection.
  void send(std::string_view text);
  // REQUIRES: `code` may be sent.
  void close(std::uint16_t code, std::string_view reason);
  [[nodiscard]] bool is_open() const;

 private:
  std::shared_ptr<WebSocketState> state_;
};

}  // namespace rondo::net
