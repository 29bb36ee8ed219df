#include "spans/store.h"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "base/files.h"
#include "spans/digest_table.h"
#include "spans/memory_store.h"
#include "spans/open_store.h"
#include "spans/redis_store.h"
#include "spans/sqlite_statement.h"
#include "spans/sqlite_store.h"
#include "tests/support/own_folder.h"
#include "tests/support/redis_server.h"

namespace rondo::spans {
namespace {

Digest digest_of(int number) { return keyed_hash({}, std::to_string(number)); }

StoredTurn turn(int number, int session, std::optional<int> parent, std::int64_t time_ms = 0, int scope = -1) {
  StoredTurn out;
  out.scope = digest_of(scope);
  out.session = digest_of(10'000 + session);
  out.turn = digest_of(number);
  if (parent) out.parent = digest_of(*parent);
  out.hashes = {digest_of(20'000 + number), digest_of(30'000)};
  out.record = "record " + std::to_string(number);
  out.name = "name";
  out.time_ms = time_ms;
  return out;
}

bool was_put(Store& store, StoredTurn what) {
  std::atomic<bool> ok = false;
  store.put(std::move(what), [&ok](const Status& done) { ok = done.ok(); });
  store.flush();
  return ok;
}

// All stores keep the same law.
void for_each_store(const std::function<void(Store&)>& law) {
  MemoryStore memory;
  law(memory);
  const testing::OwnFolder folder("store");
  auto sqlite = SqliteStore::open(folder.path("turns.sqlite"), {.sync = false});
  REQUIRE_MESSAGE(sqlite.ok(), sqlite.error().to_string());
  law(*sqlite.value());
  if (auto server = testing::RedisServer::start()) {
    auto redis = RedisStore::open(server->address());
    REQUIRE_MESSAGE(redis.ok(), redis.error().to_string());
    law(*redis.value());
  }
}

using Texts = std::vector<std::string>;

TEST_CASE("a turn is found by its key, its hashes and its session, in its scope alone") {
  for_each_store([](Store& store) {
    CHECK(was_put(store, turn(1, 1, {}, 100)));
    CHECK(was_put(store, turn(2, 1, 1, 200)));
    CHECK(was_put(store, turn(3, 1, 1, 300)));
    CHECK(was_put(store, turn(4, 2, {}, 150)));
    CHECK(was_put(store, turn(1, 1, {}, 100)));  // once more
    const Digest scope = digest_of(-1);
    CHECK(store.lineage(scope, digest_of(3)).value() == Texts{"record 3", "record 1"});
    CHECK(store.lineage(digest_of(-2), digest_of(3)).value().empty());
    CHECK(store.lineage(scope, digest_of(9)).value().empty());
    const std::vector<Digest> hashes = {digest_of(20'002), digest_of(77), digest_of(30'000)};
    const auto hits = store.find(scope, hashes).value();
    REQUIRE(hits.size() == 5);
    CHECK(hits[0] == Hit{0, digest_of(2), digest_of(10'001)});
    CHECK(hits[1] == Hit{2, digest_of(1), digest_of(10'001)});
    CHECK(hits[4] == Hit{2, digest_of(4), digest_of(10'002)});
    CHECK(store.find(digest_of(-2), hashes).value().empty());
    const std::vector<Digest> turns = {digest_of(9), digest_of(4)};
    const auto got = store.get(scope, turns).value();
    REQUIRE(got.size() == 1);
    CHECK(got[0].turn == 1);
    CHECK(got[0].record == "record 4");
    CHECK(got[0].session == digest_of(10'002));
    CHECK(store.get(digest_of(-2), turns).value().empty());
    CHECK(store.turns(scope, digest_of(10'001)).value() == Texts{"record 1", "record 2", "record 3"});
    CHECK(store.turns(digest_of(-2), digest_of(10'001)).value().empty());
  });
}

TEST_CASE("a turn whose parent is not in its session is refused") {
  for_each_store([](Store& store) {
    CHECK(was_put(store, turn(1, 1, {})));
    CHECK(!was_put(store, turn(2, 1, 9)));
    CHECK(!was_put(store, turn(2, 2, 1)));
    CHECK(was_put(store, turn(2, 1, 1)));
    CHECK(store.sessions(digest_of(-1), 10, 0).value().size() == 1);
  });
}

TEST_CASE("sessions are listed by pages, the newest first, and forgotten as a whole") {
  for_each_store([](Store& store) {
    for (int i = 0; i < 5; ++i) CHECK(was_put(store, turn(i, i, {}, i)));
    CHECK(was_put(store, turn(7, 7, {}, 7, -2)));
    CHECK(was_put(store, turn(8, 2, 2, 8)));
    const Digest scope = digest_of(-1);
    const auto page = store.sessions(scope, 2, 0).value();
    REQUIRE(page.size() == 2);
    CHECK(page[0].session == digest_of(10'004));
    CHECK(page[0].name == "name");
    const auto next = store.sessions(scope, 9, page[1].order).value();
    REQUIRE(next.size() == 3);
    CHECK(next[0].session == digest_of(10'002));
    CHECK(next[0].turns == 2);
    CHECK(next[0].first_ms == 2);
    CHECK(next[0].last_ms == 8);
    CHECK(!store.erase(digest_of(-2), digest_of(10'002)).value());
    CHECK(store.erase(scope, digest_of(10'002)).value());
    CHECK(!store.erase(scope, digest_of(10'002)).value());
    CHECK(store.lineage(scope, digest_of(8)).value().empty());
    const std::vector<Digest> hashes = {digest_of(20'008), digest_of(30'000)};
    CHECK(store.find(scope, hashes).value().size() == 4);
    CHECK(was_put(store, turn(2, 2, {})));
    CHECK(store.sessions(scope, 9, 0).value().size() == 5);
  });
}

TEST_CASE("what is too old, and then the oldest until the rest fits, is forgotten") {
  for_each_store([](Store& store) {
    for (int i = 0; i < 6; ++i) CHECK(was_put(store, turn(i, i, {}, i * 100)));
    CHECK(was_put(store, turn(10, 0, 0, 1000)));
    CHECK(store.expire(1000, {}).value() == 0);
    CHECK(store.expire(1000, {.ttl_ms = 850}).value() == 1);
    const Digest scope = digest_of(-1);
    CHECK(store.turns(scope, digest_of(10'001)).value().empty());
    std::size_t bytes = 0;
    const std::vector<SessionInfo> left = store.sessions(scope, 9, 0).value();
    for (const SessionInfo& info : left) bytes += info.bytes;
    CHECK(store.expire(1000, {.max_bytes = bytes}).value() == 0);
    CHECK(store.expire(1000, {.max_bytes = bytes - 1}).value() == 1);
    CHECK(store.turns(scope, digest_of(10'002)).value().empty());
    CHECK(store.turns(scope, digest_of(10'000)).value().size() == 2);
    CHECK(store.expire(1000, {.max_bytes = 1}).value() == 4);
    CHECK(store.sessions(scope, 9, 0).value().empty());
  });
}

StoredObject object(int number, int group, const std::string& bytes, std::int64_t time_ms = 0, int scope = -1) {
  return {digest_of(scope), digest_of(40'000 + number), digest_of(50'000 + group), bytes, time_ms};
}

bool was_put(Store& store, std::vector<StoredObject> what) {
  std::atomic<bool> ok = false;
  store.put_objects(std::move(what), [&ok](const Status& done) { ok = done.ok(); });
  store.flush();
  return ok;
}

TEST_CASE("objects are replaced in their place, listed by group, and nobody else's") {
  for_each_store([](Store& store) {
    const Digest scope = digest_of(-1);
    const auto get = [&](int number, int of = -1) {
      const std::vector<Digest> one = {digest_of(40'000 + number)};
      return store.objects(digest_of(of), one).value()[0].value_or("none");
    };
    CHECK(was_put(store, {object(1, 1, "a"), object(2, 1, "b"), object(3, 2, "c")}));
    CHECK(was_put(store, {object(1, 1, "a2"), object(4, 1, "d")}));
    CHECK(get(1) == "a2");
    CHECK(get(3) == "c");
    CHECK(get(9) == "none");
    CHECK(get(1, -2) == "none");
    CHECK(store.group(scope, digest_of(50'001)).value() == Texts{"a2", "b", "d"});
    CHECK(store.group(digest_of(-2), digest_of(50'001)).value().empty());
    const std::vector<Digest> gone = {digest_of(40'002), digest_of(40'003), digest_of(40'009)};
    CHECK(store.erase_objects(digest_of(-2), gone).value() == 0);
    CHECK(store.erase_objects(scope, gone).value() == 2);
    CHECK(store.group(scope, digest_of(50'001)).value() == Texts{"a2", "d"});
    CHECK(store.sessions(scope, 9, 0).value().size() == 1);  // a group without objects is gone
    CHECK(store.erase(scope, digest_of(50'001)).value());
    CHECK(get(1) == "none");
    CHECK(get(4) == "none");
  });
}

TEST_CASE("objects are forgotten with their group, and count as turns do") {
  for_each_store([](Store& store) {
    const Digest scope = digest_of(-1);
    CHECK(was_put(store, {object(1, 1, std::string(1000, 'x'), 100), object(2, 2, std::string(1000, 'y'), 200)}));
    CHECK(was_put(store, turn(1, 1, {}, 300)));
    CHECK(was_put(store, {object(3, 1, "z", 400)}));
    CHECK(store.expire(500, {.ttl_ms = 250}).value() == 1);
    CHECK(store.group(scope, digest_of(50'002)).value().empty());
    CHECK(store.group(scope, digest_of(50'001)).value().size() == 2);
    CHECK(store.expire(500, {.max_bytes = 1100}).value() == 1);  // the turn was older
    CHECK(store.expire(500, {.max_bytes = 500}).value() == 1);
    const std::vector<Digest> all = {digest_of(40'001), digest_of(40'003)};
    CHECK(store.objects(scope, all).value() == std::vector<std::optional<std::string>>(2));
  });
}

TEST_CASE("many threads put and look at once") {
  for_each_store([](Store& store) {
    std::vector<std::thread> threads;
    std::atomic<int> kept = 0;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&store, &kept, t] {
        for (int i = 0; i < 50; ++i) {
          const int number = t * 100 + i;
          store.put(turn(number, t, i == 0 ? std::optional<int>() : number - 1),
                    [&kept](const Status& done) { kept += done.ok() ? 1 : 0; });
          (void)store.lineage(digest_of(-1), digest_of(number));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    store.flush();
    CHECK(kept == 200);
    CHECK(store.lineage(digest_of(-1), digest_of(349)).value().size() == 50);
  });
}

TEST_CASE("a file is read again, by several stores at once, and foreign files are refused") {
  const testing::OwnFolder folder("store");
  const std::string path = folder.path("turns.sqlite");
  {
    auto one = SqliteStore::open(path);
    auto two = SqliteStore::open(path);
    REQUIRE(one.ok());
    REQUIRE(two.ok());
    CHECK(was_put(*one.value(), turn(1, 1, {})));
    CHECK(was_put(*two.value(), turn(2, 1, 1)));
    CHECK(one.value()->lineage(digest_of(-1), digest_of(2)).value().size() == 2);
  }
  auto again = SqliteStore::open(path);
  REQUIRE(again.ok());
  CHECK(again.value()->lineage(digest_of(-1), digest_of(2)).value().size() == 2);
  CHECK(SqliteStore::open(folder.path("no/such/folder/x")).error().code == ErrorCode::kIo);
  const std::string text = folder.file("text", std::string(5000, 'x'));
  CHECK(!SqliteStore::open(text).ok());
}

TEST_CASE("a store is opened by its name, and a file keeps the secret that it began with") {
  const testing::OwnFolder folder("store");
  const std::string named = "sqlite:" + folder.path("turns.sqlite");
  auto first = open_store(named, HashKey{1});
  REQUIRE_MESSAGE(first.ok(), first.error().to_string());
  CHECK(first.value().secret == HashKey{1});
  CHECK(was_put(*first.value().store, turn(1, 1, {})));
  first.value().store.reset();
  auto again = open_store(named, HashKey{2});
  REQUIRE(again.ok());
  CHECK(again.value().secret == HashKey{1});
  CHECK(again.value().store->lineage(digest_of(-1), digest_of(1)).value().size() == 1);
  folder.file("turns.sqlite.key", "short");
  CHECK(open_store(named, HashKey{3}).error().message == "a key of 16 bytes was expected");
  CHECK(open_store("sqlite:" + folder.path("no/such/folder/x"), HashKey{}).error().code == ErrorCode::kIo);
  const auto memory = open_store("memory", HashKey{4});
  REQUIRE(memory.ok());
  CHECK(memory.value().secret == HashKey{4});
  CHECK(open_store("disk", HashKey{}).error().code == ErrorCode::kInvalidArgument);
}

TEST_CASE("a file of the version without objects gets them") {
  const testing::OwnFolder folder("store");
  const std::string path = folder.path("turns.sqlite");
  CHECK(was_put(*SqliteStore::open(path).value(), turn(1, 1, {})));
  sqlite3* opened = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &opened) == SQLITE_OK);
  const Database database(opened);
  CHECK(sqlite3_exec(opened, "DROP TABLE objects; PRAGMA user_version = 1", nullptr, nullptr, nullptr) == SQLITE_OK);
  auto store = SqliteStore::open(path);
  REQUIRE(store.ok());
  CHECK(was_put(*store.value(), {object(1, 1, "a")}));
  CHECK(store.value()->group(digest_of(-1), digest_of(50'001)).value() == Texts{"a"});
  CHECK(store.value()->lineage(digest_of(-1), digest_of(1)).value().size() == 1);
}

using Open = std::function<Result<std::unique_ptr<Store>>()>;

// Runs in the child: puts turns until it is killed, and reports each one that is kept.
[[noreturn]] void put_until_killed(const Open& open, int acknowledged) {
  auto store = open();
  for (int number = 0; store.ok() && number < 1'000'000; ++number) {
    const std::optional<int> parent = number % 10 == 0 ? std::optional<int>() : number - 1;
    store.value()->put(turn(number, number / 10, parent), [acknowledged, number](const Status& done) {
      if (done.ok()) (void)!::write(acknowledged, &number, sizeof(number));
    });
    if (number % 64 == 63) store.value()->flush();
  }
  ::_exit(0);
}

// Kills a writing process once it has reported this many turns.  The reported turns are in the store.
void kill_writer(const Open& open, std::size_t after) {
  std::array<int, 2> pipe{};
  REQUIRE(::pipe(pipe.data()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) put_until_killed(open, pipe[1]);
  ::close(pipe[1]);
  std::vector<int> kept;
  int number = 0;
  while (::read(pipe[0], &number, sizeof(number)) == sizeof(number)) {
    kept.push_back(number);
    if (kept.size() == after) ::kill(child, SIGKILL);
  }
  ::close(pipe[0]);
  ::waitpid(child, nullptr, 0);
  CHECK(kept.size() >= after);
  auto store = open();
  REQUIRE(store.ok());
  for (const int turn_number : kept) {
    const auto lineage = store.value()->lineage(digest_of(-1), digest_of(turn_number));
    REQUIRE(lineage.ok());
    CHECK(lineage.value().size() == static_cast<std::size_t>(turn_number % 10) + 1);
  }
  CHECK(was_put(*store.value(), turn(2'000'000, 5'000, {})));
}

template <typename Opened>
Result<std::unique_ptr<Store>> as_store(Opened opened) {
  if (!opened.ok()) return opened.error();
  return std::unique_ptr<Store>(std::move(opened).value());
}

TEST_CASE("nothing that was acknowledged is lost when the process is killed") {
  const testing::OwnFolder folder("store");
  for (const std::size_t after : {100U, 177U, 254U}) {
    const std::string file = folder.path("turns.sqlite" + std::to_string(after));
    kill_writer([&file] { return as_store(SqliteStore::open(file)); }, after);
    if (const auto server = testing::RedisServer::start())
      kill_writer([&server] { return as_store(RedisStore::open(server->address())); }, after);
  }
}

TEST_CASE("a table of digests is what a list of pairs is") {
  DigestTable table;
  std::vector<std::pair<int, std::uint32_t>> pairs;
  std::uint32_t random = 1;
  for (int i = 0; i < 3000; ++i) {
    random = random * 1664525U + 1013904223U;
    const int number = static_cast<int>((random >> 8U) % 200);
    if ((random >> 20U) % 3 != 0 || pairs.empty()) {
      table.add(digest_of(number), static_cast<std::uint32_t>(i));
      pairs.emplace_back(number, i);
    } else {
      const auto at = pairs.begin() + static_cast<std::ptrdiff_t>((random >> 4U) % pairs.size());
      table.remove(digest_of(at->first), at->second);
      pairs.erase(at);
    }
  }
  CHECK(table.size() == pairs.size());
  for (int number = 0; number < 200; ++number) {
    std::vector<std::uint32_t> expected;
    for (const auto& [of, put] : pairs) {
      if (of == number) expected.push_back(put);
    }
    std::vector<std::uint32_t> found;
    table.each(digest_of(number), [&](std::uint32_t entry) {
      found.push_back(entry);
      return false;
    });
    std::ranges::sort(found);
    CHECK(found == expected);
  }
}

TEST_CASE("lists of entries by their digests keep their order whatever is removed") {
  DigestLists lists;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> expected(5);  // entry and link
  std::uint32_t random = 1;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    random = random * 1664525U + 1013904223U;
    auto& list = expected[(random >> 8U) % expected.size()];
    const Digest of = digest_of(static_cast<int>(&list - expected.data()));
    if ((random >> 20U) % 3 != 0 || list.empty()) {
      list.emplace_back(i, lists.add(of, i));
    } else {
      const auto at = list.begin() + static_cast<std::ptrdiff_t>((random >> 4U) % list.size());
      lists.remove(of, at->second);
      list.erase(at);
    }
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::size_t count = 0;
    lists.each(digest_of(static_cast<int>(i)), [&](std::uint32_t entry) {
      REQUIRE(count < expected[i].size());
      CHECK(entry == expected[i][count++].first);
      return false;
    });
    CHECK(count == expected[i].size());
  }
  bool is_there = false;
  lists.each(digest_of(99), [&](std::uint32_t) { return is_there = true; });
  CHECK(!is_there);
}

}  // namespace
}  // namespace rondo::spans
