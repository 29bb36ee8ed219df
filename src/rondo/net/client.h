// Client: HTTP/1.1 requests (http and https) over connections that are kept and reused.
//
//   auto client = net::Client::make(loop, {});
//   net::Request request{.url = "http://127.0.0.1:8000/version"};
//   auto call = client.value()->fetch(std::move(request), [](Result<net::Response> response) { ... });
//
// A client belongs to its loop's thread.  It calls back only on that thread, and never inside stream() or fetch().  It
// follows no redirects, keeps no cookies and decompresses no bodies: it talks to servers of our own choice.
//
// A request that fails is not sent again, with one exception: if a reused connection turns out to be closed before a
// byte of the answer has come, the request is sent once on a new connection.
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

// How long the client waits.  Zero means no limit.
struct Timeouts {
  Milliseconds connect{10'000};      // for name lookup, connection and TLS
  Milliseconds first_byte{600'000};  // from the end of the request to the first byte of the answer
  Milliseconds idle{120'000};        // between bytes of the answer or, while it is sent, of the request
  Milliseconds whole{0};             // the whole call, including the wait for a connection
};

struct ClientOptions {
  std::string ca_pem{};   // PEM text of the certificates that verify servers; "": those of the system
  bool insecure = false;  // do not verify servers' certificates
  std::string bearer{};   // "": none.  Sent as `Authorization: Bearer ...` unless the request has that field
  Headers headers{};      // sent unless the request has a field of that name
  Timeouts timeouts{};
  std::size_t connections_per_origin = 64;
  // How many calls may wait for one of those connections; further calls fail with kLimit.
  std::size_t waiting_per_origin = 1024;
  Milliseconds keep{30'000};  // an unused connection is closed after this time
  std::size_t header_bytes = std::size_t{64} << 10U;
  std::size_t body_bytes = std::size_t{64} << 20U;  // for bodies that fetch() collects; a stream has no limit
};

struct Request {
  std::string method = "GET";
  std::string url{};
  Headers headers{};  // the client itself sets Host, Content-Length and Connection
  std::string body{};
  std::optional<Timeouts> timeouts{};  // replaces the client's
};

struct Response {
  int status = 0;
  Headers headers;
  std::string body;
};

// How far a call has come.
enum class Stage : std::uint8_t { kQueue, kConnect, kSend, kWait, kRead, kDone };
[[nodiscard]] std::string_view to_string(Stage stage);

// How a call ended.  The error's source is the address, and its sentence names the stage.
struct Ending {
  Status status = Done{};
  Stage stage = Stage::kDone;  // where it failed; kDone if it succeeded
  bool answered = false;       // bytes of the answer had come: the server has accepted the request
};

class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  // Called at most once, before all data.
  virtual void on_head(int status, const Headers& headers) = 0;
  // Bytes of the body, valid during the call.
  virtual void on_data(std::string_view bytes) = 0;
  // Called once, last.
  virtual void on_end(const Ending& ending) = 0;
};

// A running request.  Destroying it cancels it: its connection is closed, and there are no more callbacks.  Each
// callback may destroy it.
class Call {
 public:
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();

  // Nothing is read between pause() and resume(), so that the server has to wait.  Timeouts for reading wait too.
  void pause();
  void resume();

  struct State;
  explicit Call(std::shared_ptr<State> state);

 private:
  std::shared_ptr<State> state_;
};

class Client {
 public:
  struct Impl;

  // Fails with kInvalidArgument if `ca_pem` has no certificate or a header cannot be sent.
  [[nodiscard]] static Result<std::unique_ptr<Client>> make(Loop& loop, ClientOptions options);
  explicit Client(std::shared_ptr<Impl> impl);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  // Closes all connections.  Running calls end without a callback.
  ~Client();

  // Starts a request.  `handler` must live until on_end, or until the call is destroyed.  An invalid request is
  // reported in its Ending.
  [[nodiscard]] std::unique_ptr<Call> stream(Request request, StreamHandler& handler);

  // Fetches a whole answer, whatever its status.  Fails with kLimit if the body is too long.
  [[nodiscard]] std::unique_ptr<Call> fetch(Request request, std::function<void(Result<Response>)> done);

  // Returns how many connections are open or being opened, used or not.
  [[nodiscard]] std::size_t connections() const;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace rondo::net
