// Server: HTTP/1.1 on one loop, plain or with TLS.
//
//   auto server = net::Server::make(loop, {.port = 8080}, [](net::Exchange exchange) {
//     exchange.reply(200, {{"content-type", "text/plain"}}, "hello");
//   });
//   std::uint16_t port = server.value()->port();
//
// The handler is called on the loop's thread when the body of a request is complete, with one request at a time for
// each connection.  It answers at once, or keeps the exchange and answers later.  Pipelined requests wait for those
// before them.  A client that closes its side of the connection counts as gone.
//
// The server is strict.  It answers 400 and closes the connection if two readers might see two different requests:
// Content-Length beside Transfer-Encoding, repeated or oddly spelled; folded lines; lone line feeds; odd chunk sizes.
//
// For several threads, make a loop and a server for each, all with the same port and `reuse_port`; the system
// distributes connections.
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
  std::string path;    // the target up to `?`, not decoded
  std::string query;   // what follows `?`
  Headers headers;
  std::string body;
  std::string peer;  // address and port of the client
  // Set by the handler, not read from the client.
  Headers answer_headers;  // added to the answer, whoever gives it
  std::shared_ptr<RequestNote> note;
};

// How an exchange ended.
struct Answered {
  int status = 0;         // 0: the client left before there was an answer
  bool is_whole = false;  // false: it was cut off
};

struct Reply {
  int status = 200;
  Headers headers{};
  std::string body{};
};

// A request and its answer.  The handler may keep and move it.  If it is destroyed without an answer, it answers 500.
// If it is destroyed during an answer, the connection is cut, so that the client notices.  Once the client has gone or
// the answer is complete, all functions below do nothing.
class Exchange {
 public:
  struct State;
  explicit Exchange(std::shared_ptr<State> state);
  Exchange(Exchange&&) noexcept = default;
  Exchange& operator=(Exchange&& other) noexcept;
  ~Exchange();

  [[nodiscard]] const ServerRequest& request() const;
  [[nodiscard]] ServerRequest& request();  // for moving its body out

  // Sends a whole answer.  The server itself sets Content-Length, Connection and Date.  Fields that cannot be sent
  // (check_header) are left out.
  void reply(int status, const Headers& headers, std::string body);
  void reply(Reply reply) { this->reply(reply.status, reply.headers, std::move(reply.body)); }

  // Send an answer in pieces: start(), any number of write(), finish().
  void start(int status, const Headers& headers);
  void write(std::string_view bytes);
  void finish();
  // Cuts the connection.
  void abort();

  [[nodiscard]] bool started() const;
  [[nodiscard]] bool is_gone() const;
  // Returns how many bytes wait to be sent.  A write that finds more than ServerOptions::buffered_bytes cuts the
  // connection.
  [[nodiscard]] std::size_t buffered() const;

  // Calls `task` once if the connection ends before the answer does, from the loop and never inside these functions.
  // Also if it had already ended.  `task` may destroy the exchange.
  void on_gone(std::function<void()> task);
  // Calls `task` whenever the client has taken everything that was written, so that more can be sent.
  void on_drained(std::function<void()> task);

 private:
  friend class WebSocket;  // takes over the connection
  std::shared_ptr<State> state_;
};

struct ServerOptions {
  std::string host = "127.0.0.1";  // an address, or a name with one; "::" and "0.0.0.0": all addresses
  std::uint16_t port = 0;          // 0: any free port
  bool reuse_port = false;         // allow other servers to listen on the same port
  std::string certificate_pem{};   // including its chain; "": no TLS
  std::string key_pem{};

  std::size_t header_bytes = std::size_t{32} << 10U;
  std::size_t header_count = 100;
  std::size_t body_bytes = std::size_t{64} << 20U;
  // For the bodies of all unanswered requests together; further requests get 503.
  std::size_t bodies_bytes = std::size_t{2} << 30U;
  std::size_t buffered_bytes = std::size_t{4} << 20U;
  std::size_t connections = 4096;  // further ones are answered with 503, or closed if TLS is used
  Milliseconds idle{75'000};       // between requests
  // From the first byte of a request, or the start of the connection, to the end of the head.
  Milliseconds head{15'000};
  Milliseconds body_idle{30'000};  // between bytes of a body
  Milliseconds body{300'000};      // for the whole body
  Milliseconds stall{60'000};      // a client that takes no byte for this time is cut off

  // Looks at a request before its body is read, and may answer it, which ends the request.  If empty, every body is
  // read.  It also sees the part that was read of a request which the server refuses by itself.  Then its answer is not
  // used, but the fields that it sets are.
  std::function<std::optional<Reply>(ServerRequest&)> admit{};
  // Gets the end of each exchange, including those that the server answers by itself.
  std::function<void(const ServerRequest&, const Answered&)> answered{};
  // Makes an answer that the server gives by itself (400, 408, 413, 431, 500, 503).  `path` is the request's, as far as
  // it was read.  If empty, the body is the sentence.
  std::function<Reply(std::string_view path, int status, std::string_view sentence)> explain{};
};

class Server {
 public:
  struct Impl;
  using Handler = std::function<void(Exchange)>;

  // Listens at once.  Fails with kIo if the address is not available, or with kInvalidArgument if the certificate or
  // key cannot be read.
  [[nodiscard]] static Result<std::unique_ptr<Server>> make(Loop& loop, ServerOptions options, Handler handler);
  explicit Server(std::shared_ptr<Impl> impl);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Cuts all connections.  Exchanges are gone, and there are no more callbacks.
  ~Server();

  [[nodiscard]] std::uint16_t port() const;
  // Returns "http://127.0.0.1:8080"; if it listens on all addresses, the one of this machine's loopback.
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::size_t connections() const;

  // Uses this certificate for connections that begin from now on; open ones keep theirs.  If it cannot be read, the
  // previous one stays in use.
  //
  // REQUIRES: the server was made with a certificate.
  [[nodiscard]] Status renew_certificate(const std::string& certificate_pem, const std::string& key_pem);

  // Accepts no new connections or requests.  Running answers end, then their connections.  After `deadline` the
  // remaining ones are cut.  Calls `done` once when none is left, with the number of those that were cut.
  void drain(Milliseconds deadline, std::function<void(std::size_t cut)> done);

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace rondo::net
