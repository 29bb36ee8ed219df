// What tests of HTTP share: waiting for an answer on a loop, and clients that send whatever bytes they like.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/client.h"
#include "net/loop.h"

namespace rondo::testing {

// Runs `loop` until the answer is there.
[[nodiscard]] Result<net::Response> fetch(net::Loop& loop, net::Client& client, net::Request request);
[[nodiscard]] Result<net::Response> get(net::Loop& loop, net::Client& client, std::string url);
[[nodiscard]] Result<net::Response> post(net::Loop& loop, net::Client& client, std::string url, std::string body);

// A client without options.
[[nodiscard]] std::unique_ptr<net::Client> client_of(net::Loop& loop, net::ClientOptions options = {});

// Writes down a stream, and stops the loop at its end.
struct Recorder : net::StreamHandler {
  explicit Recorder(net::Loop& on) : loop(on) {}
  void on_head(int got, const net::Headers& fields) override {
    status = got;
    headers = fields;
    if (head_seen) head_seen();
  }
  void on_data(std::string_view bytes) override {
    body += bytes;
    pieces.emplace_back(bytes);
    if (data_seen) data_seen();
  }
  void on_end(const net::Ending& got) override {
    ending = got;
    loop.stop();
  }

  net::Loop& loop;
  int status = 0;
  net::Headers headers;
  std::string body;
  std::vector<std::string> pieces;
  std::optional<net::Ending> ending;
  std::function<void()> head_seen;
  std::function<void()> data_seen;
};

// Sends `pieces` over a connection of its own, each in a write of its own, and runs `loop` until the server closes that.  What
// the server sent.  `until`: does not wait for the server to close, but for this text; then it closes the connection itself.
[[nodiscard]] std::string raw_exchange(net::Loop& loop, std::uint16_t port, const std::vector<std::string>& pieces,
                                       const std::string& until = {});

// Runs `loop` for everything that is ready, and what that makes ready.
void settle(net::Loop& loop);

struct TestCertificate {
  std::string certificate_pem;  // signed by itself, for `localhost`
  std::string key_pem;
};
[[nodiscard]] TestCertificate make_certificate();

}  // namespace rondo::testing
