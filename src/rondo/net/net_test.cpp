// Client and server against each other over loopback.
#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/client.h"
#include "net/server.h"
#include "tests/support/http.h"

namespace rondo::net {
namespace {

using testing::client_of;
using testing::fetch;
using testing::Recorder;

std::unique_ptr<Server> server_of(Loop& loop, Server::Handler handler, ServerOptions options = {}) {
  auto server = Server::make(loop, std::move(options), std::move(handler));
  REQUIRE(server.ok());
  return std::move(server).value();
}

void echo(Exchange exchange) {
  const ServerRequest& request = exchange.request();
  std::string body = request.method + " " + request.path + "?" + request.query + " " + request.body;
  exchange.reply(200, {{"X-Echo", std::string(request.headers.find("x-echo").value_or(""))}}, std::move(body));
}

Request get_of(const Server& server, const std::string& target = "/") {
  Request request;
  request.url = server.url() + target;
  return request;
}

TEST_CASE("net: a request and its answer, over a connection that is kept") {
  Loop loop;
  const auto server = server_of(loop, echo);
  const auto client = client_of(loop, {.bearer = "secret", .headers = {{"X-Echo", "default"}}});
  for (int i = 0; i < 3; ++i) {
    Request request = get_of(*server, "/a/b?c=d");
    request.method = "POST";
    request.body = std::string(100'000, 'x');
    const Result<Response> response = fetch(loop, *client, std::move(request));
    REQUIRE(response.ok());
    CHECK(response.value().status == 200);
    CHECK(response.value().body == "POST /a/b?c=d " + std::string(100'000, 'x'));
    CHECK(response.value().headers.find("x-echo") == "default");
    CHECK(response.value().headers.find("date").has_value());
  }
  CHECK(client->connections() == 1);
  CHECK(server->connections() == 1);
}

TEST_CASE("net: bearer key and headers; a request's own come first") {
  Loop loop;
  const auto server = server_of(loop, [](Exchange exchange) {
    const Headers& headers = exchange.request().headers;
    exchange.reply(200, {}, std::string(*headers.find("authorization")) + " " + std::string(*headers.find("a")));
  });
  const auto client = client_of(loop, {.bearer = "key", .headers = {{"A", "1"}}});
  CHECK(fetch(loop, *client, get_of(*server)).value().body == "Bearer key 1");
  Request request = get_of(*server);
  request.headers = {{"a", "2"}, {"authorization", "Basic x"}};
  CHECK(fetch(loop, *client, std::move(request)).value().body == "Basic x 2");
  CHECK_FALSE(Client::make(loop, {.bearer = "a\nb"}).ok());
}

TEST_CASE("net: an answer in pieces, and one without a body") {
  Loop loop;
  const auto server = server_of(loop, [](Exchange exchange) {
    if (exchange.request().path == "/none") return exchange.reply(204, {}, "never sent");
    exchange.start(200, {{"Content-Type", "text/event-stream"}});
    exchange.write("one ");
    exchange.write("two");
    exchange.finish();
  });
  const auto client = client_of(loop);
  Recorder recorder(loop);
  const auto call = client->stream(get_of(*server), recorder);
  loop.run();
  CHECK(recorder.ending->status.ok());
  CHECK(recorder.ending->stage == Stage::kDone);
  CHECK(recorder.headers.find("content-type") == "text/event-stream");
  CHECK(recorder.body == "one two");
  CHECK(fetch(loop, *client, get_of(*server, "/none")).value().body.empty());
  Request head = get_of(*server);
  head.method = "HEAD";
  CHECK(fetch(loop, *client, std::move(head)).value().body.empty());
  CHECK(client->connections() == 1);
}

TEST_CASE("net: what one task writes comes whole and in order, however long its pieces are") {
  Loop loop;
  std::string whole;
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < 400; ++i) {
    const std::size_t size = i % 40 == 7 ? 20'000 + 1000 * i : i % 17 + 1;
    pieces.emplace_back(size, static_cast<char>('a' + i % 26));
    whole += pieces.back();
  }
  const auto server = server_of(loop, [&](Exchange exchange) {
    exchange.start(200, {});
    const auto held = std::make_shared<Exchange>(std::move(exchange));
    // First in one task, then in a task for each piece while earlier ones are still on their way.
    for (std::size_t i = 0; i < 200; ++i) held->write(pieces[i]);
    for (std::size_t i = 200; i < pieces.size(); ++i) loop.post([&, i, held] { held->write(pieces[i]); });
    loop.post([held] { held->finish(); });
  });
  const auto client = client_of(loop);
  const Result<Response> response = fetch(loop, *client, get_of(*server));
  REQUIRE(response.ok());
  CHECK((response.value().body == whole));
}

TEST_CASE("net: what was written before a connection is cut reaches the other side") {
  Loop loop;
  const auto server = server_of(loop, [](Exchange exchange) {
    exchange.start(200, {});
    exchange.write("half");
    exchange.abort();
  });
  const auto client = client_of(loop);
  Recorder recorder(loop);
  const auto call = client->stream(get_of(*server), recorder);
  loop.run();
  CHECK(recorder.status == 200);
  CHECK(recorder.body == "half");
  CHECK_FALSE(recorder.ending->status.ok());
}

TEST_CASE("net: destroying a call closes its connection, and the server hears of it") {
  Loop loop;
  std::optional<Exchange> kept;
  const auto server = server_of(loop, [&](Exchange exchange) {
    kept = std::move(exchange);
    kept->on_gone([&] { loop.stop(); });
    kept->start(200, {});
    kept->write("first");
  });
  const auto client = client_of(loop);
  Recorder recorder(loop);
  auto call = client->stream(get_of(*server), recorder);
  recorder.data_seen = [&] { call.reset(); };
  loop.run();
  CHECK(kept->is_gone());
  CHECK(recorder.body == "first");
  CHECK_FALSE(recorder.ending.has_value());
  CHECK(client->connections() == 0);
  kept->write("into nothing");
  kept->finish();
  CHECK(kept->buffered() == 0);
  kept->on_gone([&] { loop.stop(); });  // reported again to a late caller
  loop.run();
}

TEST_CASE("net: a call that is destroyed at once is never sent") {
  Loop loop;
  bool was_called = false;
  const auto server = server_of(loop, [&](Exchange) { was_called = true; });
  const auto client = client_of(loop);
  Recorder recorder(loop);
  client->stream(get_of(*server), recorder).reset();
  testing::settle(loop);
  CHECK_FALSE(was_called);
}

TEST_CASE("net: an exchange that is dropped answers 500, or cuts the connection") {
  Loop loop;
  const auto server = server_of(loop, [&](Exchange exchange) {
    if (exchange.request().path == "/late") {
      exchange.start(200, {});
      exchange.write("half");
    }
  });
  const auto client = client_of(loop);
  CHECK(fetch(loop, *client, get_of(*server)).value().status == 500);
  const Result<Response> cut = fetch(loop, *client, get_of(*server, "/late"));
  REQUIRE_FALSE(cut.ok());
  CHECK(cut.error().code == ErrorCode::kIo);
}

TEST_CASE("net: errors say where it failed") {
  Loop loop;
  std::uint16_t free_port = 0;
  { free_port = server_of(loop, echo)->port(); }
  const auto client = client_of(loop);
  const auto ending_of = [&](const std::string& url) {
    Recorder recorder(loop);
    Request request;
    request.url = url;
    const auto call = client->stream(std::move(request), recorder);
    loop.run();
    REQUIRE(recorder.ending.has_value());
    REQUIRE_FALSE(recorder.ending->status.ok());
    return *recorder.ending;
  };
  const std::string nobody = "http://127.0.0.1:" + std::to_string(free_port);
  const Ending refused = ending_of(nobody + "/x");
  CHECK(refused.stage == Stage::kConnect);
  CHECK_FALSE(refused.answered);
  CHECK(refused.status.error().message == "connect: no connection: Connection refused");
  CHECK(refused.status.error().source == nobody);
  CHECK(ending_of("nonsense").status.error().code == ErrorCode::kInvalidArgument);
  Request odd;
  odd.method = "GET /";
  odd.url = nobody;
  CHECK(fetch(loop, *client, odd).error().message == "queue: `GET /` is not a method");
  odd.method = "GET";
  odd.headers = {{"A", "b\nc"}};
  CHECK(fetch(loop, *client, odd).error().message == "queue: the header `A` has a control character");
  CHECK(ending_of("http://name.invalid/").stage == Stage::kConnect);
}

TEST_CASE("net: a server that closes without an answer, and one that closes within it") {
  Loop loop;
  const auto server = server_of(loop, [](Exchange exchange) {
    if (exchange.request().path == "/within") {
      exchange.start(200, {});
      exchange.write("half");
    }
    exchange.abort();
  });
  const auto client = client_of(loop);
  Recorder before(loop);
  const auto first = client->stream(get_of(*server), before);
  loop.run();
  CHECK(before.ending->stage == Stage::kWait);
  CHECK_FALSE(before.ending->answered);
  Recorder within(loop);
  const auto second = client->stream(get_of(*server, "/within"), within);
  loop.run();
  CHECK(within.ending->answered);
  CHECK(within.ending->stage == Stage::kRead);
  CHECK_FALSE(within.ending->status.ok());
}

TEST_CASE("net: a kept connection that died is replaced once") {
  Loop loop;
  std::size_t requests = 0;
  Server::Handler handler = [&](Exchange exchange) {
    ++requests;
    if (exchange.request().path == "/die") return exchange.abort();
    exchange.reply(200, {}, exchange.request().body);
  };
  const auto server = server_of(loop, handler);
  const auto client = client_of(loop);
  CHECK(fetch(loop, *client, get_of(*server)).ok());
  // The kept connection dies with the request before a byte of the answer, and so does the new one.
  Recorder recorder(loop);
  Request request = get_of(*server, "/die");
  request.body = "body";
  const auto call = client->stream(std::move(request), recorder);
  loop.run();
  CHECK(requests == 3);
  CHECK_FALSE(recorder.ending->status.ok());
  // Alone, it would have been sent once.
  const auto other = client_of(loop);
  CHECK_FALSE(fetch(loop, *other, get_of(*server, "/die")).ok());
  CHECK(requests == 4);
}

TEST_CASE("net: more calls than connections wait for their turn, and too many fail") {
  Loop loop;
  std::vector<Exchange> running;
  const auto server = server_of(loop, [&](Exchange exchange) { running.push_back(std::move(exchange)); });
  const auto client = client_of(loop, {.connections_per_origin = 2, .waiting_per_origin = 2});
  std::vector<std::string> log;
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < 5; ++i) {
    calls.push_back(client->fetch(get_of(*server, "/" + std::to_string(i)), [&, i](Result<Response> response) {
      log.push_back(std::to_string(i) + (response.ok() ? " ok" : " " + response.error().message));
    }));
  }
  testing::settle(loop);
  CHECK(running.size() == 2);
  CHECK(client->connections() == 2);
  REQUIRE(log.size() == 1);
  CHECK(log[0] == "4 queue: all connections are in use, and too many calls wait for one");
  calls[2].reset();  // gives up its place in the queue
  calls.push_back(client->fetch(get_of(*server, "/5"), [&](Result<Response> response) {
    log.push_back(response.ok() ? "5 ok" : "5 " + response.error().message);
  }));
  testing::settle(loop);
  CHECK(log.size() == 1);
  for (int i = 0; i < 4; ++i) {
    if (i < static_cast<int>(running.size())) running[static_cast<std::size_t>(i)].reply(200, {}, "");
    testing::settle(loop);
  }
  CHECK(running.size() == 4);
  REQUIRE(log.size() == 5);
  CHECK(log[4] == "5 ok");
  CHECK(client->connections() == 2);
}

TEST_CASE("net: timeouts of the client") {
  Loop loop;
  std::vector<Exchange> kept;
  const auto server = server_of(loop, [&](Exchange exchange) {
    if (exchange.request().path == "/half") {
      exchange.start(200, {});
      exchange.write("half");
    }
    kept.push_back(std::move(exchange));
  });
  const auto client = client_of(loop);
  const auto failure = [&](const std::string& target, Timeouts timeouts) {
    Request request = get_of(*server, target);
    request.timeouts = timeouts;
    const Result<Response> response = fetch(loop, *client, std::move(request));
    REQUIRE_FALSE(response.ok());
    return response.error().message;
  };
  CHECK(failure("/", {.first_byte = Milliseconds(20)}) == "wait: no answer within 20 ms");
  CHECK(failure("/half", {.idle = Milliseconds(20)}) == "read: nothing more came within 20 ms");
  CHECK(failure("/half", {.whole = Milliseconds(20)}) == "read: the answer was not complete within 20 ms");
  CHECK(client->connections() == 0);
}

TEST_CASE("net: an answer that is too long") {
  Loop loop;
  const auto server = server_of(loop, [](Exchange exchange) { exchange.reply(200, {}, std::string(200'000, 'x')); });
  const auto client = client_of(loop, {.body_bytes = 100'000});
  const Result<Response> response = fetch(loop, *client, get_of(*server));
  REQUIRE_FALSE(response.ok());
  CHECK(response.error().code == ErrorCode::kLimit);
  CHECK(response.error().message == "read: an answer of more than 100000 bytes");
}

TEST_CASE("net: a head that is too long for the client") {
  Loop loop;
  const auto server =
      server_of(loop, [](Exchange exchange) { exchange.reply(200, {{"long", std::string(5000, 'x')}}, ""); });
  const auto client = client_of(loop, {.header_bytes = 1000});
  const Result<Response> response = fetch(loop, *client, get_of(*server));
  REQUIRE_FALSE(response.ok());
  CHECK(response.error().message == "read: a head of more than 1000 bytes");
}

TEST_CASE("net: a paused stream makes the server wait, and loses nothing") {
  Loop loop;
  constexpr std::size_t kPiece = 100'000;
  constexpr std::size_t kPieces = 200;
  std::optional<Exchange> exchange;
  std::size_t written = 0;
  const auto more = [&] {
    while (written < kPieces && exchange->buffered() == 0) {
      exchange->write(std::string(kPiece, static_cast<char>('a' + written % 26)));
      ++written;
    }
    if (written == kPieces) exchange->finish();
  };
  const auto server = server_of(loop, [&](Exchange got) {
    exchange = std::move(got);
    exchange->start(200, {});
    exchange->on_drained(more);
    more();
  });
  const auto client = client_of(loop);
  Recorder recorder(loop);
  auto call = client->stream(get_of(*server), recorder);
  recorder.head_seen = [&] { call->pause(); };
  testing::settle(loop);
  CHECK(recorder.body.empty());
  CHECK(written < kPieces);
  // Again inside the data, several times.
  int pauses = 0;
  recorder.data_seen = [&] {
    if (++pauses > 5) return;
    call->pause();
    loop.post([&] { call->resume(); });
  };
  call->resume();
  loop.run();
  CHECK(recorder.ending->status.ok());
  CHECK(recorder.body.size() == kPiece * kPieces);
  CHECK(recorder.body.substr(kPiece, 2) == "bb");
}

TEST_CASE("net: a client that does not read is cut off") {
  Loop loop;
  std::optional<Exchange> exchange;
  bool was_gone = false;
  const auto server = server_of(loop,
                                [&](Exchange got) {
                                  exchange = std::move(got);
                                  exchange->start(200, {});
                                  exchange->on_gone([&] { was_gone = true; });
                                },
                                {.buffered_bytes = 100'000});
  const auto client = client_of(loop);
  Recorder recorder(loop);
  const auto call = client->stream(get_of(*server), recorder);
  recorder.head_seen = [&] { call->pause(); };
  testing::settle(loop);
  for (int i = 0; i < 1000 && !exchange->is_gone(); ++i) exchange->write(std::string(100'000, 'x'));
  CHECK(exchange->is_gone());
  CHECK_FALSE(was_gone);  // the loop reports it
  testing::settle(loop);
  CHECK(was_gone);
}

TEST_CASE("net: a client that takes no byte for long is cut off, however little waits for it") {
  Loop loop;
  std::optional<Exchange> exchange;
  const auto server = server_of(loop,
                                [&](Exchange got) {
                                  exchange = std::move(got);
                                  exchange->on_gone([&] { loop.stop(); });
                                  exchange->start(200, {});
                                  exchange->write(std::string(20'000'000, 'x'));  // more than the system accepts
                                },
                                {.stall = Milliseconds(20)});
  const auto client = client_of(loop);
  Recorder recorder(loop);
  const auto call = client->stream(get_of(*server), recorder);
  recorder.head_seen = [&] { call->pause(); };
  loop.run();
  CHECK(exchange->is_gone());
}

TEST_CASE("net: an exchange that is replaced by another one answers first") {
  Loop loop;
  std::optional<Exchange> kept;
  const auto server = server_of(loop, [&](Exchange exchange) {
    if (kept) {
      *kept = std::move(exchange);
    } else {
      kept = std::move(exchange);
    }
  });
  const auto client = client_of(loop);
  std::vector<int> statuses;
  const auto note = [&](const Result<Response>& response) {
    statuses.push_back(response.value().status);
    if (statuses.size() == 2) loop.stop();
  };
  const auto first = client->fetch(get_of(*server, "/1"), note);
  testing::settle(loop);
  const auto second = client->fetch(get_of(*server, "/2"), note);
  testing::settle(loop);
  CHECK(statuses == std::vector<int>{500});
  CHECK(std::as_const(*kept).request().path == "/2");
  kept->reply({.status = 201});
  loop.run();
  CHECK(statuses == std::vector<int>{500, 201});
}

TEST_CASE("net: drain lets running answers end, and refuses new connections") {
  Loop loop;
  std::optional<Exchange> exchange;
  const auto server = server_of(loop, [&](Exchange got) { exchange = std::move(got); });
  const auto client = client_of(loop);
  std::string body;
  const auto call = client->fetch(get_of(*server), [&](Result<Response> response) {
    REQUIRE(response.ok());
    CHECK(response.value().headers.find("connection") == "close");
    body = response.value().body;
  });
  testing::settle(loop);
  REQUIRE(exchange.has_value());
  std::optional<std::size_t> cut;
  server->drain(Milliseconds(60'000), [&](std::size_t count) {
    cut = count;
    loop.stop();
  });
  testing::settle(loop);
  CHECK_FALSE(cut.has_value());
  const auto other = client_of(loop);
  CHECK_FALSE(fetch(loop, *other, get_of(*server)).ok());
  exchange->reply(200, {}, "the last words");
  loop.run();
  CHECK(cut == 0);
  testing::settle(loop);
  CHECK(body == "the last words");
}

TEST_CASE("net: drain cuts what runs too long, and idle connections at once") {
  Loop loop;
  std::vector<Exchange> kept;
  const auto server = server_of(loop, [&](Exchange exchange) {
    if (exchange.request().path == "/short") return exchange.reply(200, {}, "");
    kept.push_back(std::move(exchange));
  });
  const auto client = client_of(loop);
  CHECK(fetch(loop, *client, get_of(*server, "/short")).ok());
  const auto other = client_of(loop);
  Recorder recorder(loop);
  const auto call = other->stream(get_of(*server), recorder);
  testing::settle(loop);
  CHECK(server->connections() == 2);
  std::optional<std::size_t> cut;
  server->drain(Milliseconds(50), [&](std::size_t count) { cut = count; });
  loop.run();  // to the end of the stream
  testing::settle(loop);
  CHECK(cut == 1);
  CHECK_FALSE(recorder.ending->status.ok());
}

TEST_CASE("net: a server can be destroyed in its handler's answer, a client in its callback") {
  Loop loop;
  auto server = server_of(loop, [](Exchange exchange) { exchange.reply(200, {}, "x"); });
  auto client = client_of(loop);
  std::unique_ptr<Call> call;
  call = client->fetch(get_of(*server), [&](const Result<Response>& response) {
    CHECK(response.ok());
    server.reset();
    client.reset();
    call.reset();
    loop.stop();
  });
  loop.run();
  CHECK(call == nullptr);
}

TEST_CASE("net: a loop can be destroyed with everything in flight") {
  std::optional<Exchange> kept;
  Recorder* listener = nullptr;
  {
    Loop loop;
    Recorder recorder(loop);
    listener = &recorder;
    const auto server = server_of(loop, [&](Exchange exchange) { kept = std::move(exchange); });
    const auto client = client_of(loop);
    const auto call = client->stream(get_of(*server), *listener);
    testing::settle(loop);
    kept.reset();
  }
  CHECK_FALSE(kept.has_value());
}

TEST_CASE("net: several loops share a port") {
  Loop first;
  Loop second;
  const auto one = server_of(first, echo, {.reuse_port = true});
  const auto two = Server::make(second, {.port = one->port(), .reuse_port = true}, echo);
  CHECK(two.ok());
  const auto refused = Server::make(second, {.port = one->port()}, echo);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message ==
        "cannot listen on 127.0.0.1 port " + std::to_string(one->port()) + ": Address already in use");
}

TEST_CASE("net: IPv6, and a name for both") {
  Loop loop;
  const auto server = Server::make(loop, {.host = "::"}, echo);
  if (!server.ok()) {
    MESSAGE("skipped: no IPv6 here");
    return;
  }
  const auto client = client_of(loop);
  CHECK(fetch(loop, *client, get_of(*server.value())).ok());
  CHECK(server.value()->url().starts_with("http://[::1]:"));
  CHECK(testing::get(loop, *client, "http://127.0.0.1:" + std::to_string(server.value()->port()) + "/").ok());
  CHECK(testing::get(loop, *client, "http://localhost:" + std::to_string(server.value()->port()) + "/").ok());
}

TEST_CASE("net: tasks of a loop run in order, timers can be taken back, and signals are tasks") {
  Loop loop;
  std::string log;
  loop.post([&] { log += "a"; });
  loop.post([&] {
    log += "b";
    loop.post([&] { log += "d"; });
    log += "c";
  });
  Timer never = loop.after(Milliseconds(1), [&] { log += "!"; });
  never.cancel();
  const Timer later = loop.after(Milliseconds(2), [&] {
    log += "e";
    std::raise(SIGUSR1);
  });
  const std::vector<int> signals = {SIGUSR1};
  CHECK(loop.on_signals(signals,
                        [&](int signal) {
                          CHECK(signal == SIGUSR1);
                          log += "f";
                          loop.stop();
                        })
            .ok());
  loop.run();
  CHECK(log == "abcdef");
  std::thread other([&] { loop.post([&] { loop.stop(); }); });
  loop.run();
  other.join();
}

}  // namespace
}  // namespace rondo::net
