// The inside of the server: connections, and the answers that are sent on them.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "net/channel.h"
#include "net/deadline.h"
#include "net/server.h"
#include "net/tls.h"
#include "net/wire.h"

namespace rondo::net {

class ServerConnection;
struct WebSocketState;

// Shared by the connection and by the exchange that the handler has.  `connection` is null once the answer is complete
// or the client has gone.
struct Exchange::State : std::enable_shared_from_this<Exchange::State> {
  State(Loop& on, ServerConnection& of) : loop(on), connection(&of) {}

  void start(int code, const Headers& headers, std::optional<std::size_t> length);
  void write(std::string_view bytes);
  void finish();
  void abort();
  void let_go();  // the exchange was destroyed
  void went();    // the connection ended first
  void tell_gone();
  void tell_answered(bool is_whole);

  Loop& loop;
  ServerConnection* connection;
  ServerRequest request;
  std::function<void()> on_gone;
  std::function<void()> on_drained;
  int minor = 1;
  int status = 0;
  bool keeps_alive = true;
  bool started = false;
  bool chunked = false;
  bool gone = false;
};

class ServerConnection : public ChannelOwner, public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(Server::Impl& server, std::shared_ptr<Channel> channel);
  ~ServerConnection() override;

  void start();
  void cut();    // at once
  void drain();  // after the current answer
  // The answer is complete.
  void answered(bool keeps_alive);
  // Sends the answer to the handshake.  Everything that comes from now on is for the socket.
  void upgrade(const Headers& headers, std::shared_ptr<WebSocketState> socket);
  // The socket is finished.
  void end_socket();

  void on_bytes(std::string_view bytes) override;
  void on_sent() override;
  void on_closed(const std::optional<Error>& error) override;

  [[nodiscard]] Channel& channel() { return *channel_; }
  [[nodiscard]] Server::Impl& server() { return server_; }
  [[nodiscard]] bool is_draining() const { return draining_; }
  // Sends an answer of the server's own.  Nothing is read afterwards.
  void refuse(int status, std::string_view sentence);

 private:
  enum class Phase : std::uint8_t { kHead, kBody, kAnswer, kFlush, kSocket, kEnd };

  void process();
  void feed_socket();
  [[nodiscard]] bool read_head();
  [[nodiscard]] bool begin_body(const wire::RequestHead& head);
  [[nodiscard]] std::size_t read_body(std::string_view bytes);
  void dispatch();
  void await_head();
  void timed_out();
  void refuse(const Error& error);
  void send_and_end(Reply reply);
  void forget();
  // Returns false if all bodies together would be too large.
  [[nodiscard]] bool hold(std::size_t bytes);
  void release();

  Server::Impl& server_;
  std::shared_ptr<Channel> channel_;
  std::shared_ptr<Exchange::State> exchange_;
  std::shared_ptr<WebSocketState> socket_;
  std::string in_;  // received but not yet parsed
  wire::BodyReader body_;
  Phase phase_ = Phase::kHead;
  std::size_t held_ = 0;  // how many bytes of the body count towards those of all bodies
  bool draining_ = false;
  bool is_head_begun_ = true;  // wait for the first head as if it had begun
  Deadline slow_;              // limits the time to the end of the head and of the body
  Deadline quiet_;             // limits the time between requests and between bytes of a body
};

struct Server::Impl : std::enable_shared_from_this<Server::Impl> {
  using Acceptor = asio::basic_socket_acceptor<Protocol, LoopExecutor>;

  Impl(Loop& on, ServerOptions wanted, Handler to)
      : loop(on),
        options(std::move(wanted)),
        handler(std::move(to)),
        acceptor(on.impl().context),
        pause(on.impl().context) {}

  [[nodiscard]] Status listen();
  static Awaitable<void> accept(std::shared_ptr<Impl> self);
  static Awaitable<void> welcome(std::shared_ptr<Impl> self, std::shared_ptr<Channel> channel);
  void turn_away(Socket socket);
  void add(const std::shared_ptr<Channel>& channel);
  void forget(ServerConnection& connection);
  void cut_all();
  void drained();
  [[nodiscard]] Reply explained(std::string_view path, int status, std::string_view sentence) const;
  // Returns "Sun, 06 Nov 1994 08:49:37 GMT"; made once per second.
  [[nodiscard]] const std::string& date();

  Loop& loop;
  ServerOptions options;
  Handler handler;
  TlsContext tls;
  Acceptor acceptor;
  SystemTimer pause;  // runs while no connection can be accepted
  std::map<ServerConnection*, std::shared_ptr<ServerConnection>> connections;
  std::map<Channel*, std::shared_ptr<Channel>> handshakes;
  std::size_t bodies = 0;  // how many bytes of bodies are held
  std::uint16_t port = 0;
  std::string date_text;
  std::chrono::sys_seconds date_of{};
  bool is_closed = false;
  bool is_draining = false;
  std::function<void(std::size_t)> when_drained;
  std::size_t cut = 0;
  Timer drain_end;
};

}  // namespace rondo::net
