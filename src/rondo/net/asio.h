// Boost.Asio as net/ uses it: concrete types, and errors as values.  Only for the sources of net/.
#pragma once

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/loop.h"

namespace rondo::net {

class Channel;

namespace asio = boost::asio;
using ErrorValue = boost::system::error_code;
using LoopExecutor = asio::io_context::executor_type;
using Protocol = asio::ip::tcp;
using Socket = asio::basic_stream_socket<Protocol, LoopExecutor>;
using TlsStream = asio::ssl::stream<Socket&>;
using SystemTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;
template <typename T>
using Awaitable = asio::awaitable<T, LoopExecutor>;
inline constexpr asio::as_tuple_t<asio::use_awaitable_t<LoopExecutor>> kAwait{};

struct Loop::Impl {
  // The buffer that plain sockets are read into.  All connections of a loop share it, so a waiting connection holds
  // none.
  static constexpr std::size_t kScratchBytes = std::size_t{64} << 10U;

  // Before the context, because handlers that it still holds when it is destroyed may use these two.
  std::size_t tasks = 0;                            // how many tasks are running, one inside the other
  std::vector<std::shared_ptr<Channel>> unwritten;  // what they have sent on

  asio::io_context context{1};
  asio::executor_work_guard<LoopExecutor> work = asio::make_work_guard(context);
  std::optional<asio::basic_signal_set<LoopExecutor>> signals;
  std::array<char, kScratchBytes> scratch;
};

// Surrounds each call from the loop.  When the outermost one ends, everything that was sent meanwhile is written.
class LoopTask {
 public:
  explicit LoopTask(Loop::Impl& loop) : loop_(loop) { ++loop_.tasks; }
  ~LoopTask() {
    if (--loop_.tasks == 0 && !loop_.unwritten.empty()) write_all();
  }
  LoopTask(const LoopTask&) = delete;
  LoopTask& operator=(const LoopTask&) = delete;

 private:
  void write_all();
  Loop::Impl& loop_;
};

// "127.0.0.1:80", "[::1]:80"; "" where there is none.
[[nodiscard]] std::string name_of(const Protocol::endpoint& endpoint);

}  // namespace rondo::net
