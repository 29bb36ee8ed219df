#include <utility>

#include "net/client_parts.h"

namespace rondo::net {
namespace {

constexpr std::size_t kAnswerFields = 256;

}  // namespace

ClientConnection::ClientConnection(Client::Impl& client, std::string origin, std::shared_ptr<Channel> channel)
    : client_(client.weak_from_this()),
      origin_(std::move(origin)),
      channel_(std::move(channel)),
      keep_(client.loop, [this] { close(); }) {}

void ClientConnection::take(std::shared_ptr<Call::State> call) {
  const auto client = client_.lock();
  keep_.clear();
  call_ = std::move(call);
  call_->on = shared_from_this();
  call_->advance(Stage::kSend);
  in_body_ = false;
  channel_->set_stall(call_->timeouts.idle);
  channel_->send(client->head_bytes(*call_));
  channel_->send(call_->body);
  if (call_->paused) channel_->pause();
}

void ClientConnection::rest() {
  const auto client = client_.lock();
  if (!client || client->is_closed) return close();
  was_used_ = true;
  channel_->resume();
  keep_.set(client->options.keep);
  client->rested(shared_from_this());
}

void ClientConnection::close() {
  const auto self = shared_from_this();
  call_.reset();
  keep_.clear();
  channel_->close();
  if (const auto client = client_.lock()) client->closed(self);
}

void ClientConnection::resume() {
  const auto client = client_.lock();
  if (!client) return;
  client->loop.post([self = shared_from_this(), call = call_] {
    if (self->call_ != call || call->paused) return;
    self->process();
    if (self->call_ == call && !call->paused) self->channel_->resume();
  });
}

void ClientConnection::on_bytes(std::string_view bytes) {
  const auto self = shared_from_this();
  if (!call_) return close();  // nobody asked for this answer
  call_->heard();
  if (in_body_ && in_.empty()) bytes.remove_prefix(read_body(bytes));
  if (!call_) return;
  in_.append(bytes);
  process();
}

void ClientConnection::process() {
  const auto self = shared_from_this();
  while (call_ && !call_->paused) {
    if (!in_body_) {
      if (!read_head()) return;
      continue;
    }
    if (!in_.empty() && !body_.done()) {
      const std::string bytes = std::exchange(in_, {});
      const std::size_t used = read_body(bytes);
      if (!call_) return;
      in_ = bytes.substr(used);
      if (call_->paused) return;
    }
    if (!body_.done()) return;
    complete(true);
    return;
  }
}

// True if a head was read and a body may follow.
bool ClientConnection::read_head() {
  const auto client = client_.lock();
  if (!client) return false;
  const std::shared_ptr<Call::State> call = call_;
  const Result<std::size_t> end = wire::head_end(in_, client->options.header_bytes);
  if (!end.ok()) return call->fail(end.error()), false;
  if (end.value() == 0) return false;
  const Result<wire::ResponseHead> head =
      wire::read_response(std::string_view(in_).substr(0, end.value()), kAnswerFields);
  if (!head.ok()) return call->fail(head.error()), false;
  in_.erase(0, end.value());
  if (head.value().status < 200 && head.value().status != 101) return true;
  const Result<wire::Framing> framing = wire::framing_of(head.value(), call->request.method);
  if (!framing.ok()) return call->fail(framing.error()), false;
  keeps_alive_ = wire::keeps_alive(head.value().headers, head.value().minor);
  body_ = wire::BodyReader(framing.value());
  in_body_ = true;
  call->handler->on_head(head.value().status, head.value().headers);
  return call_ == call;
}

// How many of `bytes` belong to the body.  It is fewer than all if the call was paused or ended meanwhile.
std::size_t ClientConnection::read_body(std::string_view bytes) {
  const std::shared_ptr<Call::State> call = call_;
  const Result<std::size_t> used = body_.read(bytes, [&](std::string_view piece) {
    call->handler->on_data(piece);
    return call_ == call && !call->paused;
  });
  if (used.ok()) return used.value();
  call->fail(used.error());
  return bytes.size();
}

void ClientConnection::complete(bool may_rest) {
  const std::shared_ptr<Call::State> call = std::exchange(call_, nullptr);
  call->on.reset();
  if (may_rest && keeps_alive_ && in_.empty() && channel_->unsent() == 0) {
    rest();
  } else {
    close();
  }
  call->end({});
}

void ClientConnection::on_sent() {
  if (call_ && call_->stage == Stage::kSend) call_->advance(Stage::kWait);
}

void ClientConnection::on_closed(const std::optional<Error>& error) {
  const auto self = shared_from_this();
  if (!call_) return close();
  if (in_body_ && body_.ends_with_connection() && !error) return complete(false);
  broke(error);
}

void ClientConnection::broke(const std::optional<Error>& error) {
  const auto client = client_.lock();
  const std::shared_ptr<Call::State> call = std::exchange(call_, nullptr);
  call->on.reset();
  const bool again = client && was_used_ && !call->answered && !call->retried;
  if (again) {
    call->retried = true;
    client->dial(call);  // first, so that no waiting call takes this place
  }
  close();
  if (again) return;
  call->fail(error ? *error : Error(ErrorCode::kIo, "the connection was closed before the answer was complete"));
}

}  // namespace rondo::net
