// The client against servers that send arbitrary bytes.
#include "net/client.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/http.h"

namespace rondo::net {
namespace {

// Answers the n-th connection with the n-th text as soon as a request's head has arrived, and closes it.
class RawServer {
 public:
  explicit RawServer(std::vector<std::string> answers) : answers_(std::move(answers)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(listener_, 16) == 0);
    socklen_t size = sizeof address;
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~RawServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/"; }
  [[nodiscard]] std::size_t taken() const { return taken_; }

 private:
  void serve() {
    for (const std::string& answer : answers_) {
      const int connection = ::accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      ++taken_;
      std::string request;
      std::array<char, 4096> buffer{};
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t size = ::recv(connection, buffer.data(), buffer.size(), 0);
        if (size <= 0) break;
        request.append(buffer.data(), static_cast<std::size_t>(size));
      }
      ::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
      ::shutdown(connection, SHUT_WR);
      while (::recv(connection, buffer.data(), buffer.size(), 0) > 0) {}
      ::close(connection);
    }
  }

  std::vector<std::string> answers_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> taken_ = 0;
  std::thread thread_;
};

// The status and body that the client reads from `answer`, or its error.
std::string read_from(const std::string& answer, const std::string& method = "GET") {
  Loop loop;
  const RawServer server({answer});
  const auto client = testing::client_of(loop);
  Request request;
  request.method = method;
  request.url = server.url();
  const Result<Response> response = testing::fetch(loop, *client, std::move(request));
  if (!response.ok()) return response.error().message;
  return std::to_string(response.value().status) + " " + response.value().body;
}

TEST_CASE("client: bodies in all framings") {
  CHECK(read_from("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd") == "200 abc");
  CHECK(read_from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n") == "200 abc");
  CHECK(read_from("HTTP/1.1 200 OK\r\n\r\nuntil the end") == "200 until the end");
  CHECK(read_from("HTTP/1.0 404 Nobody\r\n\r\n") == "404 ");
  CHECK(read_from("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "HEAD") == "200 ");
  CHECK(read_from("HTTP/1.1 204 No Content\r\n\r\n") == "204 ");
  CHECK(read_from("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
                  "1\r\n\r\nx") == "200 x");
}

TEST_CASE("client: what is no answer, and what ends too early") {
  const std::string closed = "the connection was closed before the answer was complete";
  CHECK(read_from("") == "wait: " + closed);
  CHECK(read_from("HTTP/1.1 200") == "read: " + closed);
  CHECK(read_from("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab") == "read: " + closed);
  CHECK(read_from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n") == "read: " + closed);
  CHECK(read_from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n") == "read: a chunk without a size");
  CHECK(read_from("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc") ==
        "read: both Content-Length and Transfer-Encoding");
  CHECK(read_from("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n") == "read: Content-Length is not a number");
  CHECK(read_from("SSH-2.0-server\r\n\r\n") == "read: the first line is no HTTP");
  CHECK(read_from("HTTP/1.1 200 OK\nA: b\n\n") == "read: a line feed without a carriage return");
  CHECK(read_from("HTTP/1.1 200 OK\r\n A: b\r\n\r\n") == "read: a header line is folded");
}

TEST_CASE("client: an answer that comes before the request was sent whole") {
  Loop loop;
  const RawServer server({"HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig"});
  const auto client = testing::client_of(loop);
  const auto response = testing::post(loop, *client, server.url(), std::string(20'000'000, 'x'));
  REQUIRE(response.ok());
  CHECK(response.value().status == 413);
  CHECK(response.value().body == "big");
  CHECK(client->connections() == 0);
}

TEST_CASE("client: a connection that the server closed while it was kept is not used again") {
  Loop loop;
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
  const RawServer server({answer + "a", answer + "b"});
  const auto client = testing::client_of(loop);
  CHECK(testing::get(loop, *client, server.url()).value().body == "a");
  CHECK(testing::get(loop, *client, server.url()).value().body == "b");
  CHECK(server.taken() == 2);
}

TEST_CASE("client: bytes behind an answer close the connection, and are no answer to the next request") {
  Loop loop;
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n";
  const RawServer server({answer + "a" + answer + "x", answer + "b"});
  const auto client = testing::client_of(loop);
  CHECK(testing::get(loop, *client, server.url()).value().body == "a");
  CHECK(testing::get(loop, *client, server.url()).value().body == "b");
}

}  // namespace
}  // namespace rondo::net
