#include "net/server.h"

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <cassert>
#include <utility>

#include "net/server_parts.h"

namespace rondo::net {
namespace {

constexpr int kBacklog = 1024;
constexpr Milliseconds kAcceptPause{100};  // if the process has no more descriptors

std::string two_digits(unsigned number) {
  return {static_cast<char>('0' + number / 10 % 10), static_cast<char>('0' + number % 10)};
}

std::string date_text_of(std::chrono::sys_seconds now) {
  static constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = std::chrono::floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(now - day);
  std::string out(kDays[std::chrono::weekday(day).c_encoding()]);
  out.append(", ").append(two_digits(static_cast<unsigned>(date.day()))).append(" ");
  out.append(kMonths[static_cast<unsigned>(date.month()) - 1]).append(" ").append(std::to_string(int(date.year())));
  out.append(" ").append(two_digits(static_cast<unsigned>(time.hours().count())));
  out.append(":").append(two_digits(static_cast<unsigned>(time.minutes().count())));
  out.append(":").append(two_digits(static_cast<unsigned>(time.seconds().count())));
  return out.append(" GMT");
}

Error cannot_listen(const ServerOptions& options, const std::string& why) {
  return {ErrorCode::kIo, "cannot listen on " + options.host + " port " + std::to_string(options.port) + ": " + why};
}

}  // namespace

const std::string& Server::Impl::date() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (date_text.empty() || now != date_of) {
    date_of = now;
    date_text = date_text_of(now);
  }
  return date_text;
}

Status Server::Impl::listen() {
  if (!options.certificate_pem.empty()) {
    Result<TlsContext> context = server_tls(options.certificate_pem, options.key_pem);
    if (!context.ok()) return context.error();
    tls = std::move(context).value();
  }
  ErrorValue error;
  asio::ip::basic_resolver<Protocol, LoopExecutor> resolver(loop.impl().context.get_executor());
  const auto found =
      resolver.resolve(options.host, std::to_string(options.port), asio::ip::resolver_base::passive, error);
  if (error || found.empty()) return cannot_listen(options, error.message());
  const Protocol::endpoint endpoint = found.begin()->endpoint();
  acceptor.open(endpoint.protocol(), error);
  if (error) return cannot_listen(options, error.message());
  acceptor.set_option(asio::socket_base::reuse_address(true), error);
  // "::" accepts both kinds of addresses.
  if (!error && endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(false), error);
  using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;
  if (!error && options.reuse_port) acceptor.set_option(ReusePort(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(kBacklog, error);
  if (error) return cannot_listen(options, error.message());
  port = acceptor.local_endpoint(error).port();
  return Done{};
}

Awaitable<void> Server::Impl::accept(std::shared_ptr<Impl> self) {
  while (!self->is_closed && !self->is_draining) {
    auto [error, socket] = co_await self->acceptor.async_accept(kAwait);
    if (self->is_closed || self->is_draining) co_return;
    if (error) {
      self->pause.expires_after(kAcceptPause);
      co_await self->pause.async_wait(kAwait);
      continue;
    }
    if (self->connections.size() + self->handshakes.size() >= self->options.connections) {
      self->turn_away(std::move(socket));
      continue;
    }
    const auto channel = std::make_shared<Channel>(self->loop, std::move(socket));
    if (self->tls) {
      self->handshakes[channel.get()] = channel;
      asio::co_spawn(self->loop.impl().context, welcome(self, channel), asio::detached);
    } else {
      self->add(channel);
    }
  }
}

Awaitable<void> Server::Impl::welcome(std::shared_ptr<Impl> self, std::shared_ptr<Channel> channel) {
  TlsStream& stream = channel->add_tls(*self->tls);
  const Timer limit = self->loop.after(self->options.head, [channel] { channel->close(); });
  auto [error] = co_await stream.async_handshake(TlsStream::server, kAwait);
  if (self->handshakes.erase(channel.get()) == 0 || self->is_closed) co_return;
  if (error) {
    channel->close();
    self->drained();
  } else {
    self->add(channel);
  }
}

// A connection beyond the limit gets a short answer if it reads that at once.
void Server::Impl::turn_away(Socket socket) {
  if (!tls) {
    const Reply reply = explained("", 503, "too many connections");
    Headers headers = reply.headers;
    headers.set("Content-Length", std::to_string(reply.body.size()));
    headers.set("Connection", "close");
    std::string bytes;
    wire::append_response(bytes, reply.status, headers);
    bytes += reply.body;
    ErrorValue ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(bytes), ignored);
  }
}

void Server::Impl::add(const std::shared_ptr<Channel>& channel) {
  const auto connection = std::make_shared<ServerConnection>(*this, channel);
  connections[connection.get()] = connection;
  connection->start();
  if (is_draining) connection->drain();
}

void Server::Impl::forget(ServerConnection& connection) {
  const auto found = connections.find(&connection);
  if (found == connections.end()) return;
  // The connection is still on the call stack, so it is destroyed later.
  loop.post([last = found->second] {});
  connections.erase(found);
  drained();
}

void Server::Impl::cut_all() {
  while (!handshakes.empty()) {
    const auto channel = handshakes.begin()->second;
    handshakes.erase(handshakes.begin());
    channel->close();
  }
  while (!connections.empty()) {
    const auto connection = connections.begin()->second;
    ++cut;
    connection->cut();
  }
}

void Server::Impl::drained() {
  if (!when_drained || !connections.empty() || !handshakes.empty()) return;
  drain_end.cancel();
  loop.post([done = std::exchange(when_drained, nullptr), count = cut] { done(count); });
}

Reply Server::Impl::explained(std::string_view path, int status, std::string_view sentence) const {
  if (options.explain) return options.explain(path, status, sentence);
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::string(sentence) + "\n"};
}

Result<std::unique_ptr<Server>> Server::make(Loop& loop, ServerOptions options, Handler handler) {
  const auto impl = std::make_shared<Impl>(loop, std::move(options), std::move(handler));
  if (const Status status = impl->listen(); !status.ok()) return status.error();
  asio::co_spawn(loop.impl().context, Impl::accept(impl), asio::detached);
  return std::make_unique<Server>(impl);
}

Server::Server(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  impl_->is_closed = true;
  impl_->when_drained = nullptr;
  impl_->options.answered = nullptr;
  ErrorValue ignored;
  impl_->acceptor.close(ignored);
  impl_->pause.cancel();
  impl_->cut_all();
}

std::uint16_t Server::port() const { return impl_->port; }

std::string Server::url() const {
  Url url;
  url.tls = impl_->tls != nullptr;
  url.host = impl_->options.host;
  if (url.host == "0.0.0.0" || url.host.empty()) url.host = "127.0.0.1";
  if (url.host == "::") url.host = "::1";
  url.port = impl_->port;
  return url.origin();
}

std::size_t Server::connections() const { return impl_->connections.size() + impl_->handshakes.size(); }

Status Server::renew_certificate(const std::string& certificate_pem, const std::string& key_pem) {
  assert(impl_->tls != nullptr);
  Result<TlsContext> context = server_tls(certificate_pem, key_pem);
  if (!context.ok()) return context.error();
  impl_->tls = std::move(context).value();  // existing streams keep what they need of the old context
  return Done{};
}

void Server::drain(Milliseconds deadline, std::function<void(std::size_t)> done) {
  Impl& impl = *impl_;
  impl.is_draining = true;
  impl.when_drained = std::move(done);
  ErrorValue ignored;
  impl.acceptor.close(ignored);
  std::vector<std::shared_ptr<ServerConnection>> all;
  for (const auto& [address, connection] : impl.connections) all.push_back(connection);
  for (const auto& connection : all) connection->drain();
  impl.drain_end = impl.loop.after(deadline, [weak = impl.weak_from_this()] {
    if (const auto self = weak.lock()) self->cut_all();
  });
  impl.drained();
}

}  // namespace rondo::net
