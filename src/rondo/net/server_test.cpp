// The server against clients that send arbitrary bytes.
#include "net/server.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "net/client.h"
#include "tests/support/http.h"

namespace rondo::net {
namespace {

struct Subject {
  explicit Subject(ServerOptions options = {}) {
    auto made = Server::make(loop, std::move(options), [this](Exchange exchange) {
      seen.push_back(exchange.request().method + " " + exchange.request().target + " " + exchange.request().body);
      exchange.reply(200, {}, exchange.request().target);
    });
    REQUIRE(made.ok());
    server = std::move(made).value();
  }
  std::string ask(const std::vector<std::string>& pieces, const std::string& until = {}) {
    return testing::raw_exchange(loop, server->port(), pieces, until);
  }

  Loop loop;
  std::vector<std::string> seen;
  std::unique_ptr<Server> server;
};

std::string status_of(const std::string& answer) { return answer.substr(0, answer.find("\r\n")); }

TEST_CASE("server: what may be read in two ways is refused, and nothing behind it is read") {
  const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::vector<std::string> rows = {
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4, 4\r\n\r\nabcd",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +4\r\n\r\nabcd",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\x0b"
      "chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nA: b\r\n folded: c\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;\n\r\na\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
      "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\nHost: x\n\n",
      "GET / HTTP/1.1\r\nHost: x\r\nA: b\nContent-Length: 10\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(1, char{}) + "\r\n\r\n",
      "GET /\r\n\r\n",
      "\x16\x03\x01\x02\r\n\r\n",
  };
  Subject subject;
  for (const std::string& row : rows) {
    CHECK_MESSAGE(status_of(subject.ask({row + smuggled})) == "HTTP/1.1 400 Bad Request", row);
  }
  CHECK(subject.seen.empty());
  CHECK(status_of(subject.ask({"GET / HTTP/2.0\r\nHost: x\r\n\r\n"})) == "HTTP/1.1 505 HTTP Version Not Supported");
  testing::settle(subject.loop);
  CHECK(subject.server->connections() == 0);
}

TEST_CASE("server: pipelined requests are answered in order") {
  Subject subject;
  const std::string answer = subject.ask(
      {"GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /3 HT",
       "TP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nGET /4 HTTP/1.1\r\nHost: x\r\n\r\n"});
  CHECK(subject.seen == std::vector<std::string>{"GET /1 ", "POST /2 abc", "GET /3 "});
  const std::size_t first = answer.find("/1");
  const std::size_t second = answer.find("/2");
  const std::size_t third = answer.find("/3");
  CHECK(first < second);
  CHECK(second < third);
  CHECK(third != std::string::npos);
}

TEST_CASE("server: a chunked body, byte by byte; an empty line ahead; HTTP/1.0") {
  Subject subject;
  const std::string request =
      "\r\nPOST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
      "3\r\nabc\r\n2;x\r\nde\r\n0\r\nT: t\r\n\r\n";
  std::vector<std::string> bytes;
  for (const char byte : request) bytes.emplace_back(1, byte);
  CHECK(status_of(subject.ask(bytes)) == "HTTP/1.1 200 OK");
  const std::string old = subject.ask({"GET /old HTTP/1.0\r\n\r\n"});
  CHECK(old.find("Connection: close\r\n") != std::string::npos);
  CHECK(old.ends_with("\r\n\r\n/old"));
  CHECK(subject.seen == std::vector<std::string>{"POST /c abcde", "GET /old "});
}

TEST_CASE("bug: of several empty lines ahead of a request only one was taken for none") {
  Subject subject;
  CHECK(status_of(subject.ask({"\r\n\r", "\n\r\nGET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"})) ==
        "HTTP/1.1 200 OK");
  CHECK(subject.seen == std::vector<std::string>{"GET /a "});
}

TEST_CASE("server: HTTP/1.0 gets no chunks, and its connection is kept if it asks for that") {
  Loop loop;
  const auto server = Server::make(loop, {}, [](Exchange exchange) {
    if (exchange.request().path == "/whole") return exchange.reply(200, {}, "whole");
    exchange.start(200, {});
    exchange.write("one");
    exchange.write("two");
    exchange.finish();
  });
  const std::uint16_t port = server.value()->port();
  const std::string pieces = testing::raw_exchange(loop, port, {"GET / HTTP/1.0\r\n\r\n"});
  CHECK(pieces.find("chunked") == std::string::npos);
  CHECK(pieces.ends_with("\r\n\r\nonetwo"));
  const std::string kept = testing::raw_exchange(
      loop, port, {"GET /whole HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /whole HTTP/1.0\r\n\r\n"});
  CHECK(kept.find("Connection: keep-alive\r\n") != std::string::npos);
  CHECK(kept.find("Connection: close\r\n") != std::string::npos);
}

TEST_CASE("server: requests far ahead of a slow answer wait outside, and are all answered") {
  Loop loop;
  std::size_t answered = 0;
  std::vector<Timer> timers;
  std::optional<Exchange> first;
  const auto server = Server::make(loop, {}, [&](Exchange exchange) {
    ++answered;
    if (answered > 1) return exchange.reply(200, {}, "");
    first = std::move(exchange);
    timers.push_back(loop.after(Milliseconds(20), [&] { first->reply(200, {}, ""); }));
  });
  constexpr std::size_t kRequests = 3000;
  std::string requests;
  for (std::size_t i = 1; i < kRequests; ++i)
    requests += "GET /" + std::string(60, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n";
  requests += "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  CHECK(testing::raw_exchange(loop, server.value()->port(), {requests}).ends_with("\r\n\r\n"));
  CHECK(answered == kRequests);
}

TEST_CASE("server: Expect") {
  Subject subject;
  const std::string head = "POST /e HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n";
  const std::string answer = subject.ask({head + "Expect: 100-continue\r\n\r\n"}, "100 Continue\r\n\r\n");
  CHECK(answer == "HTTP/1.1 100 Continue\r\n\r\n");
  CHECK(status_of(subject.ask({head + "Expect: 200-ok\r\n\r\n"})) == "HTTP/1.1 417 Expectation Failed");
}

TEST_CASE("server: limits of heads and bodies") {
  Subject subject({.header_bytes = 500, .header_count = 5, .body_bytes = 10});
  const std::string begin = "POST / HTTP/1.1\r\nHost: x\r\n";
  CHECK(status_of(subject.ask({begin + "A: " + std::string(600, 'x') + "\r\n\r\n"})) ==
        "HTTP/1.1 431 Request Header Fields Too Large");
  CHECK(status_of(subject.ask({begin + "A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\n\r\n"})) ==
        "HTTP/1.1 431 Request Header Fields Too Large");
  CHECK(status_of(subject.ask({begin + "Content-Length: 11\r\n\r\n"})) == "HTTP/1.1 413 Content Too Large");
  CHECK(status_of(subject.ask({begin + "Content-Length: 1000000\r\n\r\n", std::string(1'000'000, 'x')})) ==
        "HTTP/1.1 413 Content Too Large");
  CHECK(status_of(subject.ask({begin + "Transfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n6\r\n123456\r\n0\r\n\r\n"})) ==
        "HTTP/1.1 413 Content Too Large");
  CHECK(subject.seen.empty());
  CHECK(status_of(subject.ask({begin + "Content-Length: 10\r\nConnection: close\r\n\r\n1234567890"})) ==
        "HTTP/1.1 200 OK");
}

TEST_CASE("server: all bodies together have a limit, whatever each one's") {
  Loop loop;
  std::vector<Exchange> kept;
  const auto server = Server::make(loop, {.body_bytes = 100, .bodies_bytes = 150}, [&](Exchange exchange) {
    kept.push_back(std::move(exchange));
    loop.stop();
  });
  const auto client = testing::client_of(loop);
  const auto post = [&](std::size_t bytes) {
    return client->fetch({.method = "POST", .url = server.value()->url(), .body = std::string(bytes, 'x')},
                         [&](const Result<Response>&) { loop.stop(); });
  };
  const auto ask = [&](const std::string& framing) {
    const std::string head = "POST / HTTP/1.1\r\nHost: x\r\n";
    return status_of(testing::raw_exchange(loop, server.value()->port(), {head + framing}));
  };
  const auto first = post(90);
  loop.run();
  CHECK(ask("Content-Length: 90\r\n\r\n" + std::string(90, 'x')) == "HTTP/1.1 503 Service Unavailable");
  CHECK(ask("Transfer-Encoding: chunked\r\n\r\n46\r\n" + std::string(70, 'x') + "\r\n") ==
        "HTTP/1.1 503 Service Unavailable");
  REQUIRE(kept.size() == 1);
  kept.front().reply(200, {}, "");
  loop.run();
  // The memory that was held is free again.
  const auto second = post(100);
  while (kept.size() < 2) loop.run();
}

TEST_CASE("server: slow requests end with 408, connections without one silently") {
  Subject subject(
      {.idle = Milliseconds(20), .head = Milliseconds(20), .body_idle = Milliseconds(20), .body = Milliseconds(1000)});
  CHECK(subject.ask({}).empty());
  CHECK(status_of(subject.ask({"GET / HTTP/1.1\r\nHos"})) == "HTTP/1.1 408 Request Timeout");
  CHECK(status_of(subject.ask({"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab"})) ==
        "HTTP/1.1 408 Request Timeout");
  // Kept open after an answer, then closed.
  const std::string answer = subject.ask({"GET / HTTP/1.1\r\nHost: x\r\n\r\n"});
  CHECK(status_of(answer) == "HTTP/1.1 200 OK");
  CHECK(answer.ends_with("\r\n\r\n/"));
}

TEST_CASE("server: the whole body has its time too") {
  Subject subject({.body_idle = Milliseconds(10'000), .body = Milliseconds(20)});
  CHECK(status_of(subject.ask({"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab"})) ==
        "HTTP/1.1 408 Request Timeout");
}

TEST_CASE("server: too many connections are turned away") {
  Subject subject({.connections = 1});
  const auto client = testing::client_of(subject.loop);
  CHECK(testing::get(subject.loop, *client, subject.server->url() + "/kept").ok());
  CHECK(subject.server->connections() == 1);
  CHECK(status_of(subject.ask({})) == "HTTP/1.1 503 Service Unavailable");
}

TEST_CASE("server: a request can be refused before its body is read, in the caller's own words") {
  ServerOptions options;
  options.admit = [](const ServerRequest& request) -> std::optional<Reply> {
    if (request.headers.find("key") == "right") return std::nullopt;
    return Reply{401, {{"X-Own", "1"}}, "who are you?"};
  };
  options.explain = [](std::string_view path, int status, std::string_view sentence) {
    return Reply{status,
                 {{"Content-Type", "application/json"}},
                 "{\"error\": \"" + std::string(sentence) + "\", \"path\": \"" + std::string(path) + "\"}"};
  };
  Subject subject(std::move(options));
  const std::string refused =
      subject.ask({"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n"});
  CHECK(status_of(refused) == "HTTP/1.1 401 Unauthorized");
  CHECK(refused.ends_with("who are you?"));
  CHECK(subject.ask({"POST / HTTP/1.1\r\n\r\n"}).ends_with("{\"error\": \"not exactly one `Host`\", \"path\": \"\"}"));
  CHECK(subject.seen.empty());
  const std::string taken =
      subject.ask({"POST / HTTP/1.1\r\nHost: x\r\nkey: right\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"});
  CHECK(status_of(taken) == "HTTP/1.1 200 OK");
}

TEST_CASE("server: an answer's headers cannot begin another answer") {
  Loop loop;
  const auto server = Server::make(loop, {}, [](Exchange exchange) {
    exchange.reply(
        200, {{"A", "b\r\nC: d"}, {"Content-Length", "999"}, {"E", "f"}, {"connection", "upgrade"}, {"DATE", "never"}},
        "x");
  });
  const std::string answer =
      testing::raw_exchange(loop, server.value()->port(), {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"});
  CHECK(answer.find("C: d") == std::string::npos);
  CHECK(answer.find("999") == std::string::npos);
  CHECK(answer.find("E: f\r\n") != std::string::npos);
  CHECK(answer.find("upgrade") == std::string::npos);  // the server's own say how the connection goes on, and when
  CHECK(answer.find("never") == std::string::npos);
}

TEST_CASE("server: a client that ends its side is gone") {
  Loop loop;
  std::optional<Exchange> kept;
  bool was_gone = false;
  const auto server = Server::make(loop, {}, [&](Exchange exchange) {
    kept = std::move(exchange);
    kept->start(200, {});
    kept->write("begin");
    kept->on_gone([&] { was_gone = true; });
  });
  CHECK(testing::raw_exchange(loop, server.value()->port(), {"GET / HTTP/1.1\r\nHost: x\r\n\r\n"}, "begin")
            .ends_with("5\r\nbegin\r\n"));
  testing::settle(loop);
  CHECK(was_gone);
}

}  // namespace
}  // namespace rondo::net
