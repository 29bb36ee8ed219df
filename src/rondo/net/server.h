// Server: HTTP/1.1 on one loop, plain or with TLS.
//
//   auto server = net::Server::make(loop, {.port = 8080}, [](net::Exchange exchange) {
//     exchange.reply(200, {{"content-type", "text/plain"}}, "hello");
//   });
//   std::uint16_t port = server.value()->port();
//
// The handler is called on the loop's thread with one request at a time of each connection, when its body is complete.  It
// answers at once or keeps the exchange and answers later.  Requests that are pipelined wait for those before them.  A client
// that ends its side of the connection is gone.
//
// It is strict: what two readers might take for two different requests (Content-Length beside Transfer-Encoding, twice, or in
// an odd spelling; folded lines; lone line feeds; odd chunk sizes) is answered with 400, and the connection is closed.
//
// Several threads: a loop and a server for each, all with the same port and `reuse_port`; the system spreads connections.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"
#include "net/loop.h"
#include "rondo/result.h"

namespace rondo::net {

class WebSocket;

// What a handler keeps with a request from admit() to answered().
struct RequestNote {
  virtual ~RequestNote() = default;
};

struct ServerRequest {
  std::string method;
  std::string target;  // as it was sent, without scheme and authority
  std::string path;    // of the target, up to `?`, not decoded
  std::string query;   // behind `?`
  Headers headers;
  std::string body;
  std::string peer;  // the client's address and port
  // The handler's own, not read from the client.
  Headers answer_headers;  // are added to the answer, whoever gives it
  std::shared_ptr<RequestNote> note;
};

// How an exchange ended.
struct Answered {
  int status = 0;         // 0: the client went before there was an answer
  bool is_whole = false;  // false: it was cut
};

struct Reply {
  int status = 200;
  Headers headers{};
  std::string body{};
};

// A request and the answer to it.  Handed to the handler, which may keep it and move it.  Destroyed without an answer it answers
// 500; destroyed within one, the connection is cut, so that the client sees that something is missing.  Once the client
// is gone, or the answer complete, everything below does nothing.
class Exchange {
 public:
  struct State;
  explicit Exchange(std::shared_ptr<State> state);
  Exchange(Exchange&&) noexcept = default;
  Exchange& operator=(Exchange&& other) noexcept;
  ~Exchange();

  [[nodiscard]] const ServerRequest& request() const;
  [[nodiscard]] ServerRequest& request();  // to move its body out

  // The whole answer.  Content-Length, Connection and Date are the server's own; fields that cannot be sent (check_header)
  // are left out.
  void reply(int status, const Headers& headers, std::string body);
  void reply(Reply reply) { this->reply(reply.status, reply.headers, std::move(reply.body)); }

  // An answer in pieces: start, any number of writes, finish.
  void start(int status, const Headers& headers);
  void write(std::string_view bytes);
  void finish();
  // Cuts the connection.
  void abort();

  [[nodiscard]] bool started() const;
  [[nodiscard]] bool is_gone() const;
  // Bytes that wait for the client to take those before.  A write that finds more than ServerOptions::buffered_bytes cuts the connection.
  [[nodiscard]] std::size_t buffered() const;

  // Called once if the connection ends before the answer does, from the loop, never inside of the functions above.  Also
  // when it ended before this was called.  May destroy the exchange.
  void on_gone(std::function<void()> task);
  // Called whenever the client has taken everything that was written: to go on with what was held back.
  void on_drained(std::function<void()> task);

 private:
  friend class WebSocket;  // takes the connection over
  std::shared_ptr<State> state_;
};

struct ServerOptions {
  std::string host = "127.0.0.1";  // an address, or a name that has one; "::" and "0.0.0.0": all
  std::uint16_t port = 0;          // 0: any free one
  bool reuse_port = false;         // other servers may listen on the same port
  std::string certificate_pem{};   // with its chain; "": no TLS
  std::string key_pem{};

  std::size_t header_bytes = std::size_t{32} << 10U;
  std::size_t header_count = 100;
  std::size_t body_bytes = std::size_t{64} << 20U;
  std::size_t bodies_bytes = std::size_t{2} << 30U;  // of all requests that are not answered; more get 503
  std::size_t buffered_bytes = std::size_t{4} << 20U;
  std::size_t connections = 4096;  // more are answered with 503, with TLS closed
  Milliseconds idle{75'000};       // between requests
  Milliseconds head{15'000};       // from a request's first byte, or the connection's begin, to the end of its head
  Milliseconds body_idle{30'000};  // between bytes of a body
  Milliseconds body{300'000};      // for the whole body
  Milliseconds stall{60'000};      // a client that takes no byte for so long is cut off

  // Looks at a request before its body is read: an answer from here ends it.  None: every body is read.
  std::function<std::optional<Reply>(ServerRequest&)> admit{};
  // Is told how each exchange ended, those that the server answers by itself too.
  std::function<void(const ServerRequest&, const Answered&)> answered{};
  // The body of an answer that the server gives by itself (400, 408, 413, 431, 500, 503): status and a sentence.
  // None: the sentence as text.
  std::function<Reply(int status, std::string_view sentence)> explain{};
};

class Server {
 public:
  struct Impl;
  using Handler = std::function<void(Exchange)>;

  // Listens at once.  kIo if the address cannot be had, kInvalidArgument for a certificate or key that cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<Server>> make(Loop& loop, ServerOptions options, Handler handler);
  explicit Server(std::shared_ptr<Impl> impl);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Cuts all connections; exchanges are gone, and nothing is called any more.
  ~Server();

  [[nodiscard]] std::uint16_t port() const;
  // "http://127.0.0.1:8080"; for all addresses, that of this machine's loopback.
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::size_t connections() const;

  // Connections that begin from now on are given this certificate; those that are open stay as they are.  Where it can't be
  // read, the one before counts on.  REQUIRES: the server was made with one.
  [[nodiscard]] Status renew_certificate(const std::string& certificate_pem, const std::string& key_pem);

  // No new connections or requests; running answers end, then their connections; after `deadline` the rest is cut.  Calls
  // `done` when none is left, with how many were cut.  Once.
  void drain(Milliseconds deadline, std::function<void(std::size_t cut)> done);

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace rondo::net
