// Client: HTTP/1.1 requests over connections that are kept and used again.  http and https.
//
//   auto client = net::Client::make(loop, {});
//   net::Request request{.url = "http://127.0.0.1:8000/version"};
//   auto call = client.value()->fetch(std::move(request), [](Result<net::Response> response) { ... });
//
// A client belongs to its loop's thread, and calls back there only, never inside of stream() or fetch().  Redirects are not
// followed, cookies not kept, bodies not decompressed: it speaks to servers of our own choice.
//
// A request that fails is not sent again, with one exception: a kept connection that turns out to be closed before a byte of
// the answer has come is replaced by a fresh one, once.
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

// How long is waited for what.  Zero: for ever.
struct Timeouts {
  Milliseconds connect{10'000};      // name, connection, TLS
  Milliseconds first_byte{600'000};  // from the request being sent to the answer's first byte
  Milliseconds idle{120'000};        // between bytes, of the answer or, while it is sent, of the request
  Milliseconds whole{0};             // from the call to its end, the time it waits for a connection too
};

struct ClientOptions {
  std::string ca_pem{};   // certificates that servers' are verified with, as PEM text; "": the system's
  bool insecure = false;  // servers' certificates are not verified
  std::string bearer{};   // "": none.  Sent as `Authorization: Bearer ...` with each request that has no such field
  Headers headers{};      // sent with each request that has no field of that name
  Timeouts timeouts{};
  std::size_t connections_per_origin = 64;
  std::size_t waiting_per_origin = 1024;  // calls that wait for one of those connections; more fail with kLimit
  Milliseconds keep{30'000};              // a connection that nobody used for so long is closed
  std::size_t header_bytes = std::size_t{64} << 10U;
  std::size_t body_bytes = std::size_t{64} << 20U;  // of what fetch() collects; a stream has no limit
};

struct Request {
  std::string method = "GET";
  std::string url{};
  Headers headers{};  // Host, Content-Length and Connection are the client's own
  std::string body{};
  std::optional<Timeouts> timeouts{};  // instead of the client's
};

struct Response {
  int status = 0;
  Headers headers;
  std::string body;
};

// How far a call has come.
enum class Stage : std::uint8_t { kQueue, kConnect, kSend, kWait, kRead, kDone };
[[nodiscard]] std::string_view to_string(Stage stage);

// How a call ended.  The error's source is the address, its sentence names the stage.
struct Ending {
  Status status = Done{};
  Stage stage = Stage::kDone;  // where it failed; kDone if it did not
  bool answered = false;       // bytes of the answer had come: the server has taken the request up
};

class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  // Once at most, before all data.
  virtual void on_head(int status, const Headers& headers) = 0;
  // Bytes of the body, valid during the call.
  virtual void on_data(std::string_view bytes) = 0;
  // Once, last.
  virtual void on_end(const Ending& ending) = 0;
};

// A request on its way.  Destroying it cancels: its connection is closed, and nothing is called any more.  Each callback may
// destroy it.
class Call {
 public:
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();

  // Nothing is read between pause() and resume(), so that the server has to wait; timeouts of reading wait too.
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

  // kInvalidArgument if `ca_pem` has no certificate or a header cannot be sent.
  [[nodiscard]] static Result<std::unique_ptr<Client>> make(Loop& loop, ClientOptions options);
  explicit Client(std::shared_ptr<Impl> impl);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  // Closes all connections; calls that are on their way end without a further word.
  ~Client();

  // `handler` must live until on_end or until the call is destroyed.  What is wrong with the request is in its Ending.
  [[nodiscard]] std::unique_ptr<Call> stream(Request request, StreamHandler& handler);

  // The whole answer, whatever its status.  kLimit for a body that is too long.
  [[nodiscard]] std::unique_ptr<Call> fetch(Request request, std::function<void(Result<Response>)> done);

  // Connections that are open or being opened, used or not.
  [[nodiscard]] std::size_t connections() const;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace rondo::net
