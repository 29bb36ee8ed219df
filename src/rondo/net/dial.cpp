#include "net/dial.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <utility>

namespace rondo::net {
namespace {

// Why a handshake failed; if it was the certificate, why it was not accepted.
std::string handshake_fault(TlsStream& stream, const ErrorValue& error) {
  const long verdict = SSL_get_verify_result(stream.native_handle());
  if (verdict == X509_V_OK) return error.message();
  return std::string("its certificate was not accepted: ") + X509_verify_cert_error_string(verdict);
}

bool is_address(const std::string& host) {
  ErrorValue error;
  asio::ip::make_address(host, error);
  return !error;
}

}  // namespace

Dial::Dial(Loop& loop, Url url, std::shared_ptr<asio::ssl::context> tls, Answer answer)
    : loop_(loop),
      url_(std::move(url)),
      tls_(std::move(tls)),
      answer_(std::move(answer)),
      resolver_(loop.impl().context.get_executor()),
      deadline_(loop, [this] { this->answer(Error(ErrorCode::kIo, "no connection in time", url_.origin())); }) {}

void Dial::start(Milliseconds limit) {
  deadline_.set(limit);
  asio::co_spawn(loop_.impl().context, [self = shared_from_this()] { return self->run(); }, asio::detached);
}

void Dial::cancel() {
  answer_ = nullptr;
  deadline_.clear();
  resolver_.cancel();
  ErrorValue ignored;
  if (connecting_) connecting_->close(ignored);
  if (channel_) channel_->close();
  channel_.reset();
}

void Dial::answer(Result<std::shared_ptr<Channel>> result) {
  const auto self = shared_from_this();
  const Answer to = std::exchange(answer_, nullptr);
  if (result.ok()) channel_.reset();
  cancel();
  const LoopTask task(loop_.impl());
  if (to) to(std::move(result));
}

Error Dial::failed(const std::string& what, const ErrorValue& error) const {
  return {ErrorCode::kIo, what + ": " + error.message(), url_.origin()};
}

Awaitable<Result<asio::ip::basic_resolver_results<Protocol>>> Dial::resolve() {
  using Results = asio::ip::basic_resolver_results<Protocol>;
  ErrorValue error;
  const asio::ip::address literal = asio::ip::make_address(url_.host, error);
  if (!error) {
    const Protocol::endpoint endpoint(literal, url_.port);
    co_return Results::create(endpoint, url_.host, std::to_string(url_.port));
  }
  auto [failure, results] = co_await resolver_.async_resolve(url_.host, std::to_string(url_.port), kAwait);
  if (failure) co_return failed("the name was not found", failure);
  co_return results;
}

Awaitable<ErrorValue> Dial::shake_hands() {
  const std::shared_ptr<Channel> channel = channel_;
  TlsStream& stream = channel->add_tls(*tls_);
  ErrorValue error;
  stream.set_verify_callback(asio::ssl::host_name_verification(url_.host), error);
  if (!error && !is_address(url_.host)) SSL_set_tlsext_host_name(stream.native_handle(), url_.host.c_str());
  if (error) co_return error;
  auto [failure] = co_await stream.async_handshake(TlsStream::client, kAwait);
  co_return failure;
}

Awaitable<void> Dial::run() {
  const auto self = shared_from_this();
  const auto found = co_await resolve();
  if (!answer_) co_return;
  if (!found.ok()) {
    answer(found.error());
    co_return;
  }
  ErrorValue last = asio::error::host_not_found;
  for (const auto& entry : found.value()) {
    connecting_ = std::make_unique<Socket>(loop_.impl().context.get_executor());
    auto [error] = co_await connecting_->async_connect(entry.endpoint(), kAwait);
    if (!answer_) co_return;
    last = error;
    if (!error) break;
  }
  if (last) {
    answer(failed("no connection", last));
    co_return;
  }
  channel_ = std::make_shared<Channel>(loop_, std::move(*connecting_));
  connecting_.reset();
  if (url_.tls) {
    const ErrorValue error = co_await shake_hands();
    if (!answer_) co_return;
    if (error) {
      const std::shared_ptr<Channel> channel = channel_;
      answer(Error(ErrorCode::kIo, "no TLS: " + handshake_fault(channel->tls(), error), url_.origin()));
      co_return;
    }
  }
  answer(channel_);
}

}  // namespace rondo::net
