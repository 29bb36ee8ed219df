#include "spans/redis_store.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>

#include "spans/open_store.h"
#include "tests/support/redis_server.h"

namespace rondo::spans {
namespace {

Digest digest(int number) { return keyed_hash({}, std::to_string(number)); }

StoredTurn turn(int number, std::optional<int> parent = {}) {
  StoredTurn out;
  out.scope = digest(-1);
  out.session = digest(-2);
  out.turn = digest(number);
  if (parent) out.parent = digest(*parent);
  out.hashes = {digest(1000 + number)};
  out.record = "record " + std::to_string(number);
  return out;
}

Status put(Store& store, StoredTurn what) {
  std::optional<Status> out;
  store.put(std::move(what), [&out](const Status& done) { out = done; });
  store.flush();
  return *out;
}

std::unique_ptr<RedisStore> opened(const testing::RedisServer& server) {
  auto store = RedisStore::over([address = server.address()] { return RedisConnection::open(address); },
                                std::chrono::milliseconds(0));
  REQUIRE_MESSAGE(store.ok(), store.error().to_string());
  return std::move(store).value();
}

TEST_CASE("an address of Redis says where, as whom and which database") {
  const auto whole = RedisAddress::parse("redis://me:p%40ss:w@[::1]:7000/3").value();
  CHECK(whole.host == "::1");
  CHECK(whole.port == 7000);
  CHECK(whole.user == "me");
  CHECK(whole.password == "p@ss:w");
  CHECK(whole.database == 3);
  CHECK(whole.name() == "redis://[::1]:7000/3");
  const auto short_one = RedisAddress::parse("redis://:secret@cache").value();
  CHECK(short_one.host == "cache");
  CHECK(short_one.port == 6379);
  CHECK(short_one.user.empty());
  CHECK(short_one.password == "secret");
  CHECK(short_one.name().find("secret") == std::string::npos);
  const auto socket = RedisAddress::parse("unix:///run/redis.sock?db=2").value();
  CHECK(socket.socket == "/run/redis.sock");
  CHECK(socket.database == 2);
  for (const char* wrong : {"redis://", "redis://host:x", "redis://host:70000", "redis://host/x", "redis://me@host",
                            "redis://:%4@host", "unix://path", "unix:///path?x=1", "http://host"}) {
    CHECK_MESSAGE(!RedisAddress::parse(wrong).ok(), wrong);
  }
  CHECK(RedisAddress::parse("rediss://host").error().code == ErrorCode::kUnsupported);
}

TEST_CASE("gateways on one server are as one: turns, order and secret") {
  const auto server = testing::RedisServer::start();
  if (server == nullptr) return;
  auto one = open_store(server->url(), HashKey{1});
  auto two = open_store(server->url(), HashKey{2});
  REQUIRE_MESSAGE(one.ok(), one.error().to_string());
  REQUIRE(two.ok());
  CHECK(one.value().secret == HashKey{1});
  CHECK(two.value().secret == HashKey{1});
  CHECK(put(*one.value().store, turn(1)).ok());
  CHECK(put(*two.value().store, turn(2, 1)).ok());
  CHECK(put(*two.value().store, turn(1)).ok());
  CHECK(one.value().store->lineage(digest(-1), digest(2)).value().size() == 2);
  CHECK(two.value().store->turns(digest(-1), digest(-2)).value().size() == 2);
  CHECK(one.value().store->erase(digest(-1), digest(-2)).value());
  CHECK(two.value().store->lineage(digest(-1), digest(2)).value().empty());
  auto connection = RedisConnection::open(server->address());
  REQUIRE(connection.ok());
  // What remains of an empty store: its type, its counters, its secret.
  CHECK(connection.value()->ask({"DBSIZE"}).value().number == 4);
  CHECK(connection.value()->ask({"GET", "rondo:bytes"}).value().text == "0");
}

TEST_CASE("a server that is gone is an error, and is found again") {
  const auto server = testing::RedisServer::start();
  if (server == nullptr) return;
  const auto store = opened(*server);
  CHECK(put(*store, turn(1)).ok());
  server->stop();
  const Status lost = put(*store, turn(2, 1));
  REQUIRE(!lost.ok());
  CHECK(lost.error().code == ErrorCode::kIo);
  const auto found = store->lineage(digest(-1), digest(1));
  REQUIRE(!found.ok());
  CHECK(found.error().to_string().find("the store of turns cannot be reached") != std::string::npos);
  REQUIRE(server->run());
  CHECK(store->lineage(digest(-1), digest(1)).value().size() == 1);
  CHECK(put(*store, turn(2, 1)).ok());
  CHECK(store->lineage(digest(-1), digest(2)).value().size() == 2);
}

TEST_CASE("scripts that the server has forgotten are told it again") {
  const auto server = testing::RedisServer::start();
  if (server == nullptr) return;
  const auto store = opened(*server);
  CHECK(put(*store, turn(1)).ok());
  CHECK(store->lineage(digest(-1), digest(1)).value().size() == 1);
  const auto forget = [&] { CHECK(RedisConnection::open(server->address()).value()->ask({"SCRIPT", "FLUSH"}).ok()); };
  forget();
  CHECK(store->lineage(digest(-1), digest(1)).value().size() == 1);
  forget();
  CHECK(!put(*store, turn(3, 9)).ok());
  CHECK(put(*store, turn(2, 1)).ok());
}

TEST_CASE("turns of a later version, and a password that is not told, are refused") {
  const auto server = testing::RedisServer::start();
  if (server == nullptr) return;
  auto connection = RedisConnection::open(server->address());
  REQUIRE(connection.ok());
  REQUIRE(connection.value()->ask({"SET", "rondo:version", "2"}).ok());
  CHECK(RedisStore::open(server->address()).error().code == ErrorCode::kUnsupported);
  REQUIRE(connection.value()->ask({"CONFIG", "SET", "requirepass", "pass"}).ok());
  CHECK(RedisStore::open(server->address()).error().message.find("NOAUTH") != std::string::npos);
  RedisAddress address = server->address();
  address.password = "wrong";
  CHECK(RedisConnection::open(address).error().message.find("pass") != std::string::npos);
  address.password = "pass";
  address.user = "default";
  address.database = 1;
  CHECK(RedisStore::open(address).ok());
}

TEST_CASE("a server that takes no more keeps what it has") {
  const auto server = testing::RedisServer::start();
  if (server == nullptr) return;
  const auto store = opened(*server);
  CHECK(put(*store, turn(1)).ok());
  auto connection = RedisConnection::open(server->address());
  REQUIRE(connection.value()->ask({"CONFIG", "SET", "maxmemory", "1"}).ok());
  const Status full = put(*store, turn(2, 1));
  REQUIRE(!full.ok());
  CHECK(full.error().code == ErrorCode::kIo);
  CHECK(store->lineage(digest(-1), digest(1)).value().size() == 1);
  REQUIRE(connection.value()->ask({"CONFIG", "SET", "maxmemory", "0"}).ok());
  CHECK(put(*store, turn(2, 1)).ok());
}

// A connection to a server that answers with these bytes, whatever it is asked; its end is `server`.
std::unique_ptr<RedisConnection> saying(const std::string& bytes, int& server) {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
  REQUIRE(::write(ends[1], bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  ::shutdown(ends[1], SHUT_WR);
  auto out = RedisConnection::over(ends[0], "a test");
  REQUIRE(out.ok());
  server = ends[1];
  return std::move(out).value();
}

TEST_CASE("answers of another kind than expected are errors or nothing, never a crash") {
  const std::string scripts = "+a\r\n+b\r\n+c\r\n+d\r\n+e\r\n+f\r\n";
  const std::string greeting = scripts + "+OK\r\n$1\r\n1\r\n";
  for (const std::string& answer :
       {std::string(":7\r\n"), std::string("$-1\r\n"), std::string("*2\r\n$3\r\nabc\r\n*0\r\n"),
        std::string("-ERR no\r\n"), std::string("nonsense\r\n"), std::string(),
        std::string("*1\r\n$40\r\n") + std::string(40, '\xFF') + "\r\n"}) {
    std::vector<int> servers;
    const auto connect = [&]() -> Result<std::unique_ptr<RedisConnection>> {
      const bool is_first = servers.empty();
      return saying((is_first ? greeting : scripts) + answer, servers.emplace_back());
    };
    auto store = RedisStore::over(connect, std::chrono::milliseconds(0));
    REQUIRE(store.ok());
    const std::array<Digest, 1> one = {digest(1)};
    (void)store.value()->lineage(digest(-1), digest(1));
    (void)store.value()->find(digest(-1), one);
    (void)store.value()->get(digest(-1), one);
    (void)store.value()->sessions(digest(-1), 3, 0);
    (void)store.value()->turns(digest(-1), digest(-2));
    (void)store.value()->erase(digest(-1), digest(-2));
    (void)store.value()->objects(digest(-1), one);
    (void)store.value()->group(digest(-1), digest(-2));
    (void)store.value()->erase_objects(digest(-1), one);
    (void)store.value()->expire(1, {.ttl_ms = 1});
    CHECK(put(*store.value(), turn(1)).ok() == (answer == ":7\r\n"));
    for (const int server : servers) ::close(server);
  }
}

}  // namespace
}  // namespace rondo::spans
