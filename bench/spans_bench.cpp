// Stores of turns: puts, lookups and memory at a million turns (--quick: fifty thousand; --turns N).
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "spans/memory_store.h"
#include "spans/planner.h"
#include "spans/redis_store.h"
#include "spans/span.h"
#include "spans/sqlite_store.h"
#include "spans/visible.h"

namespace {

using namespace rondo;         // NOLINT(google-build-using-namespace)
using namespace rondo::spans;  // NOLINT(google-build-using-namespace)
using Clock = std::chrono::steady_clock;

constexpr int kTurnsOfSession = 20;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

Digest digest(char kind, int number) { return keyed_hash({}, kind + std::to_string(number)); }

// A turn of an agent: 60 ids and a result, 90 sampled.
std::string record_of(int number) {
  Record out;
  out.key.bytes = {static_cast<std::uint8_t>(number)};
  if (number % kTurnsOfSession != 0) out.parent = out.key;
  std::mt19937 random(static_cast<std::uint32_t>(number));
  for (int i = 0; i < 90; ++i) out.completion.push_back(static_cast<TokenId>(random() % 50'000));
  for (int i = 0; i < 60; ++i) out.ids.push_back(static_cast<TokenId>(random() % 50'000));
  out.stretches = {{5, -1, false}, {50, 2, false}, {5, -1, false}};
  out.message =
      R"({"role":"assistant","content":null,"tool_calls":[{"id":"call_aaaaaaaaaaaaaaaaaaaaaaa","type":"function"}]})";
  out.messages = {std::string(200, 'x')};
  return encode_record(out);
}

StoredTurn turn_of(int number) {
  StoredTurn out;
  out.scope = digest('o', 0);
  out.session = digest('s', number / kTurnsOfSession);
  out.turn = digest('t', number);
  if (number % kTurnsOfSession != 0) out.parent = digest('t', number - 1);
  out.hashes = {digest('v', number), digest('a', number), digest('p', number)};
  out.record = record_of(number);
  out.time_ms = number;
  return out;
}

void measure(const char* name, Store& store, int turns) {
  const std::size_t before = resident_bytes();
  double putting = 0;
  std::size_t record_bytes = 0;
  for (int begin = 0; begin < turns; begin += 10'000) {
    std::vector<StoredTurn> batch;
    for (int i = begin; i < std::min(begin + 10'000, turns); ++i) batch.push_back(turn_of(i));
    for (const StoredTurn& turn : batch) record_bytes += turn.record.size();
    const auto start = Clock::now();
    for (StoredTurn& turn : batch) store.put(std::move(turn), {});
    store.flush();
    putting += seconds_since(start);
  }
  const double count = turns;
  std::printf("%-8s put: %9.0f turns/s; %.0f bytes a turn, of which its record %.0f\n", name, count / putting,
              static_cast<double>(resident_bytes() - before) / count, static_cast<double>(record_bytes) / count);
  std::mt19937 random(7);
  const int lookups = std::min(turns, 100'000);
  std::vector<Digest> hashes;
  std::vector<Digest> keys;
  for (int i = 0; i < lookups; ++i) {
    const int number = static_cast<int>(random() % static_cast<unsigned>(turns));
    hashes.push_back(digest('v', number));
    keys.push_back(digest('t', number));
  }
  const Digest scope = digest('o', 0);
  std::size_t found = 0;
  auto start = Clock::now();
  for (const Digest& hash : hashes) found += store.find(scope, {&hash, 1}).value().size();
  const double finding = seconds_since(start) * 1e6 / lookups;
  start = Clock::now();
  for (const Digest& key : keys) found += store.get(scope, {&key, 1}).value().size();
  const double getting = seconds_since(start) * 1e6 / lookups;
  start = Clock::now();
  std::size_t records = 0;
  for (int i = 0; i < lookups / 10; ++i)
    records += store.lineage(scope, keys[static_cast<std::size_t>(i)]).value().size();
  const double lines = seconds_since(start) * 1e6 / (lookups / 10.0);
  std::printf("%-8s find by hash: %6.2f us; record by key: %6.2f us; with its ancestors (%.1f records): %6.2f us%s\n",
              name, finding, getting, static_cast<double>(records) / (lookups / 10.0), lines,
              found == 2 * static_cast<std::size_t>(lookups) ? "" : "  NOT ALL FOUND");
}

// What a process that has just started pays for a session of 200 turns: its last one, put together of all of them.
void measure_cold(const char* name, Store& store) {
  constexpr int kDepth = 200;
  const Scope scope({}, "", "model");
  Record record;
  std::vector<TurnKey> keys;
  for (int i = 0; i < kDepth; ++i) {
    auto decoded = decode_record(record_of(i));
    record = std::move(decoded).value();
    record.key.bytes = {1, static_cast<std::uint8_t>(i)};
    record.parent = i == 0 ? std::nullopt : std::optional(keys.back());
    record.kept_ids = static_cast<std::size_t>(i) * (record.ids.size() + record.completion.size());
    record.kept_messages = static_cast<std::size_t>(i) * 2;
    keys.push_back(record.key);
    StoredTurn turn;
    turn.scope = scope.id();
    turn.session = digest('s', -1);
    turn.turn = turn_digest(scope, record.key);
    if (record.parent) turn.parent = turn_digest(scope, *record.parent);
    turn.record = encode_record(record);
    store.put(std::move(turn), {});
  }
  store.flush();
  constexpr int kTimes = 100;
  std::size_t ids = 0;
  const auto start = Clock::now();
  for (int i = 0; i < kTimes; ++i) {
    TurnCache cache(1);
    const auto turn = load_turn(store, cache, scope, turn_digest(scope, keys.back()));
    ids = turn.ok() && turn.value() != nullptr ? turn.value()->ids().size() : 0;
  }
  std::printf("%-8s a session of %d turns (%zu ids) of which nothing is in memory: %.0f us\n", name, kDepth, ids,
              seconds_since(start) * 1e6 / kTimes);
}

// One that waits for each turn, as a single agent does.
void measure_alone(const char* name, Store& store) {
  constexpr int kTurns = 500;
  const auto start = Clock::now();
  for (int i = 0; i < kTurns; ++i) {
    StoredTurn turn = turn_of(i);
    turn.scope = digest('o', 1);
    turn.turn = digest('T', i);
    turn.parent.reset();
    store.put(std::move(turn), {});
    store.flush();
  }
  std::printf("%-8s each put waits for the one before: %.0f us\n", name, seconds_since(start) * 1e6 / kTurns);
}

// On the server that RONDO_BENCH_REDIS names: an empty database of it.
void measure_redis(int turns) {
  const char* url = std::getenv("RONDO_BENCH_REDIS");
  if (url == nullptr) {
    std::printf("redis    not measured: RONDO_BENCH_REDIS names no server\n");
    return;
  }
  const auto address = RedisAddress::parse(url);
  auto redis = address.ok() ? RedisStore::open(address.value()) : Result<std::unique_ptr<RedisStore>>(address.error());
  if (!redis.ok()) {
    std::printf("%s\n", redis.error().to_string().c_str());
    return;
  }
  measure("redis", *redis.value(), turns);
  measure_alone("redis", *redis.value());
  measure_cold("redis", *redis.value());
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const bool given = argc > 2 && std::strcmp(argv[1], "--turns") == 0;
  const int turns = given ? std::atoi(argv[2]) : quick ? 50'000 : 1'000'000;
  {
    MemoryStore memory;
    measure("memory", memory, turns);
    measure_cold("memory", memory);
  }
  const auto path = std::filesystem::temp_directory_path() / ("rondo-spans-bench-" + std::to_string(::getpid()));
  {
    auto sqlite = SqliteStore::open(path.string());
    if (!sqlite.ok()) {
      std::printf("%s\n", sqlite.error().to_string().c_str());
      return 1;
    }
    measure("sqlite", *sqlite.value(), turns);
    measure_alone("sqlite", *sqlite.value());
    measure_cold("sqlite", *sqlite.value());
  }
  measure_redis(turns);
  std::error_code ignored;
  std::printf("sqlite   file: %.0f bytes a turn\n",
              static_cast<double>(std::filesystem::file_size(path, ignored)) / turns);
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path.string() + suffix, ignored);
}
