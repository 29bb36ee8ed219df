#include "net/channel.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace rondo::net {
namespace {

constexpr std::size_t kTlsBufferBytes = 4096;
constexpr std::size_t kPieceBytes = std::size_t{16} << 10U;  // longer pieces are not copied together with others
constexpr Milliseconds kLinger{2000};                        // for the other side to read the last answer and close

Error socket_error(const std::string& peer, const std::string& what) { return {ErrorCode::kIo, what, peer}; }

bool is_end(const ErrorValue& error) { return error == asio::error::eof; }

}  // namespace

void LoopTask::write_all() {
  // This calls no owner, so nothing is added meanwhile.
  for (const auto& channel : loop_.unwritten) channel->flush();
  loop_.unwritten.clear();
}

Channel::Channel(Loop& loop, Socket socket)
    : loop_(loop), socket_(std::move(socket)), stall_(loop, [this] {
        end(socket_error(peer_, finishing_ ? "the other side did not close" : "the other side takes no more bytes"));
      }) {
  ErrorValue error;
  socket_.non_blocking(true, error);
  socket_.set_option(Protocol::no_delay(true), error);  // if it fails, the connection is only slower
  const Protocol::endpoint endpoint = socket_.remote_endpoint(error);
  if (!error) peer_ = name_of(endpoint);
}

TlsStream& Channel::add_tls(asio::ssl::context& context) {
  tls_ = std::make_unique<TlsStream>(socket_, context);
  tls_buffer_ = std::make_unique<char[]>(kTlsBufferBytes);
  return *tls_;
}

void Channel::start(ChannelOwner& owner, Milliseconds stall) {
  owner_ = &owner;
  stall_time_ = stall;
  read();
}

void Channel::read() {
  if (reading_ || paused_ || closed_) return;
  reading_ = true;
  const auto self = shared_from_this();
  if (tls_) {
    tls_->async_read_some(asio::buffer(tls_buffer_.get(), kTlsBufferBytes), [self](ErrorValue error, std::size_t size) {
      self->on_read(error, {self->tls_buffer_.get(), size});
    });
  } else {
    socket_.async_wait(Socket::wait_read, [self](ErrorValue error) { self->on_readable(error); });
  }
}

void Channel::on_readable(ErrorValue error) {
  if (closed_ || paused_) {
    reading_ = false;
    return;
  }
  std::size_t size = 0;
  auto& scratch = loop_.impl().scratch;
  if (!error) size = socket_.read_some(asio::buffer(scratch), error);
  if (error == asio::error::would_block || error == asio::error::try_again) {
    reading_ = false;
    read();
    return;
  }
  on_read(error, {scratch.data(), size});
}

void Channel::on_read(ErrorValue error, std::string_view bytes) {
  reading_ = false;
  if (closed_) return;
  if (!error && paused_) {
    held_.assign(bytes);
    return;
  }
  if (error) {
    const bool in_order = is_end(error);
    end(in_order ? std::nullopt : std::optional(socket_error(peer_, "the connection broke: " + error.message())));
    return;
  }
  deliver(bytes);
}

void Channel::deliver(std::string_view bytes) {
  const auto self = shared_from_this();
  const LoopTask task(loop_.impl());
  if (owner_ != nullptr) owner_->on_bytes(bytes);
  read();
}

void Channel::resume() {
  if (!paused_) return;
  paused_ = false;
  if (held_.empty()) {
    read();
    return;
  }
  asio::post(loop_.impl().context, [self = shared_from_this()] {
    if (self->paused_ || self->closed_) return;
    const std::string bytes = std::exchange(self->held_, {});
    if (!bytes.empty()) self->deliver(bytes);
  });
}

std::string& Channel::own_tail() {
  const bool may_grow = pieces_.size() > flying_ && !pieces_.back().shared && pieces_.back().own.size() < kPieceBytes;
  if (!may_grow) pieces_.emplace_back();
  return pieces_.back().own;
}

void Channel::send(std::string bytes) {
  if (bytes.size() < kPieceBytes) return send_with([&](std::string& tail) { tail += bytes; });
  if (closed_ || finishing_) return;
  const std::size_t size = bytes.size();
  pieces_.push_back({.own = std::move(bytes), .shared = nullptr});
  added(size);
}

void Channel::send(std::shared_ptr<const std::string> bytes) {
  if (closed_ || finishing_ || bytes->empty()) return;
  const std::size_t size = bytes->size();
  pieces_.push_back({.own = {}, .shared = std::move(bytes)});
  added(size);
}

void Channel::added(std::size_t size) {
  unsent_ += size;
  if (writing_ || is_due_ || unsent_ == 0) return;
  Loop::Impl& loop = loop_.impl();
  if (loop.tasks == 0) return write();
  is_due_ = true;
  loop.unwritten.push_back(shared_from_this());
}

void Channel::flush() {
  is_due_ = false;
  if (!closed_ && !writing_ && unsent_ > 0) write();
}

Channel::Buffers Channel::next_buffers() {
  Buffers out;
  for (const Piece& piece : pieces_) {
    if (out.count == out.all.size()) break;
    out.all[out.count++] = asio::buffer(piece.bytes());
  }
  out.all[0] += flown_;
  flying_ = out.count;
  return out;
}

void Channel::write() {
  writing_ = true;
  stall_.set(stall_time_);
  const Buffers buffers = next_buffers();
  const auto done = [self = shared_from_this()](ErrorValue error, std::size_t size) { self->on_written(error, size); };
  if (tls_) {
    tls_->async_write_some(buffers.all[0], done);
  } else {
    socket_.async_write_some(buffers, done);
  }
}

void Channel::on_written(ErrorValue error, std::size_t size) {
  if (closed_) return;
  if (error) {
    // Nothing more is sent (writing_ stays set), but an answer that already arrived may still be read.
    stall_.set(kLinger);
    return;
  }
  writing_ = false;
  flying_ = 0;
  unsent_ -= size;
  for (flown_ += size; !pieces_.empty() && flown_ >= pieces_.front().bytes().size(); pieces_.pop_front())
    flown_ -= pieces_.front().bytes().size();
  if (unsent_ > 0) {
    write();
    return;
  }
  stall_.clear();
  const LoopTask task(loop_.impl());
  if (finishing_) {
    say_end();
  } else if (owner_ != nullptr) {
    const auto self = shared_from_this();
    owner_->on_sent();
  }
}

void Channel::close() {
  owner_ = nullptr;
  // Everything sent before goes out as far as it can.
  ErrorValue ignored;
  if (!closed_ && !writing_ && !tls_ && unsent_ > 0) socket_.write_some(next_buffers(), ignored);
  end(std::nullopt);
}

void Channel::finish() {
  if (closed_ || finishing_) return;
  finishing_ = true;
  if (unsent_ == 0) say_end();
}

// Ends our side.  The owner reads and drops what still arrives.  Otherwise the system would answer it with a reset, and
// the other side would lose the last answer.
void Channel::say_end() {
  stall_.set(kLinger);
  if (paused_) {
    held_.clear();
    resume();
  }
  if (tls_) {
    tls_->async_shutdown([self = shared_from_this()](ErrorValue) {
      if (!self->closed_) self->end(std::nullopt);
    });
    return;
  }
  ErrorValue error;
  socket_.shutdown(Socket::shutdown_send, error);
  // If the connection is gone, reading or the wait will notice.
}

void Channel::end(const std::optional<Error>& error) {
  if (closed_) return;
  const auto self = shared_from_this();
  const LoopTask task(loop_.impl());
  closed_ = true;
  stall_.clear();
  ErrorValue ignored;
  socket_.close(ignored);
  if (ChannelOwner* owner = std::exchange(owner_, nullptr)) owner->on_closed(error);
}

}  // namespace rondo::net
