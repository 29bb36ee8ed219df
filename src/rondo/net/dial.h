// Dial: gets from an address to a channel, by name lookup, connection and TLS.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "net/asio.h"
#include "net/channel.h"
#include "net/deadline.h"
#include "net/http.h"

namespace rondo::net {

class Dial : public std::enable_shared_from_this<Dial> {
 public:
  using Answer = std::function<void(Result<std::shared_ptr<Channel>>)>;

  // `tls` is for https.
  Dial(Loop& loop, Url url, std::shared_ptr<asio::ssl::context> tls, Answer answer);

  // Calls the answer once, later.  A `limit` of zero means only the system's limit.
  void start(Milliseconds limit);
  // Stops.  The answer is not called.
  void cancel();

 private:
  Awaitable<void> run();
  Awaitable<Result<asio::ip::basic_resolver_results<Protocol>>> resolve();
  Awaitable<ErrorValue> shake_hands();
  [[nodiscard]] Error failed(const std::string& what, const ErrorValue& error) const;
  void answer(Result<std::shared_ptr<Channel>> result);

  Loop& loop_;
  Url url_;
  std::shared_ptr<asio::ssl::context> tls_;
  Answer answer_;
  asio::ip::basic_resolver<Protocol, LoopExecutor> resolver_;
  std::unique_ptr<Socket> connecting_;
  std::shared_ptr<Channel> channel_;  // connected, doing its handshake
  Deadline deadline_;
};

}  // namespace rondo::net
