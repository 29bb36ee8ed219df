// Channel: a connected socket, plain or with TLS.  Bytes go out through a queue and come in through a callback.
//
// A connection on which nothing comes needs no buffer.  All calls and callbacks are on the loop's thread.  No callback
// is made inside a call.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/asio.h"
#include "net/deadline.h"
#include "rondo/result.h"

namespace rondo::net {

class ChannelOwner {
 public:
  virtual ~ChannelOwner() = default;
  // Each of these may close the channel and destroy the owner.
  virtual void on_bytes(std::string_view bytes) = 0;
  // Everything that was sent has been given to the system.
  virtual void on_sent() = 0;
  // The connection has ended; no error if the other side closed it properly.  This is the last callback.  Not called
  // after close().
  virtual void on_closed(const std::optional<Error>& error) = 0;
};

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  Channel(Loop& loop, Socket socket);
  ~Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Puts TLS on this socket, before start().  The caller does the handshake.
  TlsStream& add_tls(asio::ssl::context& context);
  [[nodiscard]] TlsStream& tls() { return *tls_; }

  // Begins to read.  `stall` is how long the other side may take no bytes of what is sent.
  void start(ChannelOwner& owner, Milliseconds stall);
  void set_stall(Milliseconds stall) { stall_time_ = stall; }

  void send(std::string bytes);
  [[nodiscard]] std::size_t unsent() const { return queued_.size() + flying_.size() - flown_; }

  // While it is paused, incoming bytes stay in the system or in this object.
  void pause() { paused_ = true; }
  void resume();
  [[nodiscard]] bool is_paused() const { return paused_; }

  // Closes at once.  The owner gets no more callbacks.
  void close();
  // Sends the rest, tells the other side that nothing follows, and waits a moment for it to read.  Then calls
  // on_closed.
  void finish();

  [[nodiscard]] const std::string& peer() const { return peer_; }

 private:
  void read();
  void on_readable(ErrorValue error);
  void on_read(ErrorValue error, std::string_view bytes);
  void deliver(std::string_view bytes);
  void write();
  void on_written(ErrorValue error, std::size_t size);
  void say_end();
  void end(const std::optional<Error>& error);

  Loop& loop_;
  Socket socket_;
  std::unique_ptr<TlsStream> tls_;
  std::unique_ptr<char[]> tls_buffer_;
  std::string peer_;
  ChannelOwner* owner_ = nullptr;
  std::string queued_;  // waits for flying_ to be sent
  std::string flying_;  // being sent; up to flown_ is done
  std::size_t flown_ = 0;
  std::string held_;  // read while paused
  Milliseconds stall_time_{0};
  Deadline stall_;
  std::optional<Error> held_end_;  // the connection ended while bytes were held back
  bool reading_ = false;
  bool writing_ = false;
  bool paused_ = false;
  bool finishing_ = false;
  bool closed_ = false;
};

}  // namespace rondo::net
