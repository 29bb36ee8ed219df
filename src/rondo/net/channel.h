// Channel: a connected socket, plain or with TLS.  Bytes go out through a queue and come in through a callback.
//
// Reading costs no buffer while nothing comes.  Everything that one task of the loop sends is passed to the system in
// one piece when the task ends: the head of an answer with its body, or all events of a stream that arrived together.
// All calls and callbacks are on the loop's thread; no callback comes from inside a call.
#pragma once

#include <array>
#include <list>
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
  // Sends bytes that others hold too, without a copy.
  void send(std::shared_ptr<const std::string> bytes);
  // Sends the bytes that `append` adds to the string that it is given.
  template <typename Append>
  void send_with(const Append& append) {
    if (closed_ || finishing_) return;
    std::string& tail = own_tail();
    const std::size_t before = tail.size();
    append(tail);
    added(tail.size() - before);
  }
  [[nodiscard]] std::size_t unsent() const { return unsent_; }

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
  [[nodiscard]] std::string& own_tail();
  void added(std::size_t size);
  friend class LoopTask;
  void flush();
  // A few pieces as one write.
  struct Buffers {
    using value_type = asio::const_buffer;
    using const_iterator = const asio::const_buffer*;
    [[nodiscard]] const_iterator begin() const { return all.data(); }
    [[nodiscard]] const_iterator end() const { return all.data() + count; }
    std::array<asio::const_buffer, 8> all{};
    std::size_t count = 0;
  };
  // REQUIRES: something is unsent.
  [[nodiscard]] Buffers next_buffers();
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
  // The pieces to send, in order.  The system already has the first `flown_` bytes of the first piece.  The last piece
  // grows, unless it is being written.
  struct Piece {
    std::string own;
    std::shared_ptr<const std::string> shared;
    [[nodiscard]] std::string_view bytes() const { return shared ? *shared : own; }
  };
  std::list<Piece> pieces_;
  std::size_t flown_ = 0;
  std::size_t flying_ = 0;  // pieces that are being written
  std::size_t unsent_ = 0;  // bytes of all of them
  std::string held_;        // was read while paused
  Milliseconds stall_time_{0};
  Deadline stall_;
  std::optional<Error> held_end_;  // the connection ended while bytes were held back
  bool reading_ = false;
  bool writing_ = false;
  bool is_due_ = false;  // the task at work will write
  bool paused_ = false;
  bool finishing_ = false;
  bool closed_ = false;
};

}  // namespace rondo::net
