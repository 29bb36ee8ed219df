// The inside of a WebSocket.  Only for the sources of net/.
#pragma once

#include <deque>

#include "net/deadline.h"
#include "net/websocket.h"

namespace rondo::net {

class ServerConnection;

struct WebSocketState : std::enable_shared_from_this<WebSocketState> {
  WebSocketState(Loop& on, const WebSocketOptions& wanted, std::size_t most_buffered, websocket::Deflate agreed);

  // Called by the connection.
  void take(std::string_view bytes);
  void drain();
  void went();

  void send(websocket::Opcode opcode, std::string_view payload);
  void close(std::uint16_t code, std::string_view reason);
  void take_message(websocket::Message message);
  void was_quiet();
  // Delivers the waiting callbacks, later.
  void tell();

  Loop& loop;
  WebSocketOptions options;
  std::size_t buffered_bytes;
  websocket::Deflate deflate;
  websocket::Reader reader;
  std::shared_ptr<ServerConnection> connection;  // null once it is closed
  Deadline quiet;
  bool has_pinged = false;
  std::deque<std::string> messages;
  std::function<void(std::string)> on_message;
  std::function<void()> on_gone;
  std::function<void()> on_drain;
  bool is_telling = false;
  bool is_gone = false;
  bool is_draining = false;
};

}  // namespace rondo::net
