#include "spans/redis_store.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <thread>
#include <utility>

#include "spans/redis_scripts.h"

namespace rondo::spans {
namespace {

constexpr std::size_t kMostAtOnce = 1024;
constexpr std::size_t kMostIdle = 8;
constexpr std::size_t kMostExpired = 100;  // in one step, during which the server serves nobody else
constexpr std::chrono::milliseconds kBetweenTries{50};
constexpr std::string_view kLayout = "1";
constexpr std::size_t kHeadBytes = 35;  // of a turn's value, before its hashes

enum Script : std::uint8_t { kPutTurn, kPutObjects, kReadLine, kForget, kForgetSome, kExpire, kScripts };

std::string key_of(std::string_view kind, const Digest& scope, const Digest& what) {
  std::string out = "rondo:";
  out += kind;
  out += scope.view();
  out += what.view();
  return out;
}

struct Value {
  Digest session;
  std::string_view record;
};

// A turn as the server stores it.
std::optional<Value> value_of(std::string_view text) {
  if (text.size() < kHeadBytes) return std::nullopt;
  const std::size_t hashes =
      static_cast<unsigned char>(text[33]) + (std::size_t{256} * static_cast<unsigned char>(text[34]));
  if (text.size() < kHeadBytes + (hashes * sizeof(Digest))) return std::nullopt;
  return Value{digest_of(text.substr(1, sizeof(Digest))), text.substr(kHeadBytes + (hashes * sizeof(Digest)))};
}

template <typename Number>
Number number_of(const RedisReply& reply) {
  if (reply.kind == RedisReply::Kind::kNumber) return static_cast<Number>(reply.number);
  Number out{};
  std::from_chars(reply.text.data(), reply.text.data() + reply.text.size(), out);
  return out;
}

// The count in the server's reply.
Result<std::size_t> count_of(const Result<RedisReply>& reply) {
  if (!reply.ok()) return reply.error();
  return static_cast<std::size_t>(std::max<std::int64_t>(0, reply.value().number));
}

// Whether the server has forgotten the scripts.  A new connection loads them again.
bool asks_for_scripts(const RedisReply& reply) {
  return reply.kind == RedisReply::Kind::kError && reply.text.starts_with("NOSCRIPT");
}

}  // namespace

// A connection whose server knows the scripts.
struct RedisStore::Ready {
  std::unique_ptr<RedisConnection> connection;
  std::array<std::string, kScripts> scripts;
  bool is_useless = false;  // it is lost, or its scripts are

  void run(Script script, std::span<const std::string_view> arguments) const {
    std::vector<std::string_view> command = {"EVALSHA", scripts[script], "0"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    connection->say(command);
  }
  void run(Script script, std::initializer_list<std::string_view> arguments) const {
    run(script, std::span(arguments.begin(), arguments.size()));
  }
  void say(const StoredTurn& turn) const {
    std::string hashes;
    for (const Digest& hash : turn.hashes) hashes += hash.view();
    const std::string_view parent = turn.parent ? turn.parent->view() : std::string_view();
    run(kPutTurn, {turn.scope.view(), turn.session.view(), turn.turn.view(), parent, hashes, turn.record, turn.name,
                   std::to_string(turn.time_ms)});
  }
  void say(const std::vector<StoredObject>& objects) const {
    std::vector<std::string> times;
    for (const StoredObject& object : objects) times.push_back(std::to_string(object.time_ms));
    std::vector<std::string_view> arguments;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const StoredObject& object = objects[i];
      arguments.insert(arguments.end(), {object.scope.view(), object.group.view(), object.object.view(), object.bytes,
                                         std::string_view(times[i])});
    }
    run(kPutObjects, arguments);
  }
  // An error reply of the server counts as an error too.
  [[nodiscard]] Result<RedisReply> read() {
    Result<RedisReply> reply = connection->read();
    is_useless = is_useless || !reply.ok() || asks_for_scripts(reply.value());
    if (reply.ok() && reply.value().kind == RedisReply::Kind::kError) return connection->error(reply.value().text);
    return reply;
  }
};

RedisStore::RedisStore(Connect connect, std::chrono::milliseconds patience)
    : connect_(std::move(connect)), patience_(patience) {}

RedisStore::~RedisStore() = default;

Result<std::unique_ptr<RedisStore>> RedisStore::open(const RedisAddress& address) {
  return over([address] { return RedisConnection::open(address); });
}

Result<std::unique_ptr<RedisStore>> RedisStore::over(Connect connect, std::chrono::milliseconds patience) {
  std::unique_ptr<RedisStore> out(new RedisStore(std::move(connect), patience));
  auto ready = out->connect();
  if (!ready.ok()) return ready.error();
  RedisConnection& connection = *ready.value()->connection;
  if (auto marked = connection.ask({"SET", "rondo:version", kLayout, "NX"}); !marked.ok()) return marked.error();
  const auto version = connection.ask({"GET", "rondo:version"});
  if (!version.ok()) return version.error();
  if (version.value().text != kLayout)
    return Error(ErrorCode::kUnsupported, "the store of turns has version " + version.value().text, connection.name());
  out->writer_ = std::move(ready).value();
  out->queue_ =
      std::make_unique<WriteQueue>(kMostAtOnce, [store = out.get()](const auto batch) { return store->write(batch); });
  return out;
}

Result<std::unique_ptr<RedisStore::Ready>> RedisStore::connect() const {
  auto connection = connect_();
  if (!connection.ok()) return connection.error();
  auto out = std::make_unique<Ready>();
  out->connection = std::move(connection).value();
  for (const StoredScript& script :
       {kPutScript, kPutObjectsScript, kLineageScript, kEraseScript, kEraseObjectsScript, kExpireScript})
    out->connection->say({"SCRIPT", "LOAD", std::string(script.function) + script.body});
  for (std::string& script : out->scripts) {
    auto loaded = out->read();
    if (!loaded.ok()) return loaded.error();
    script = loaded.value().text;
  }
  return out;
}

Result<std::unique_ptr<RedisStore::Ready>> RedisStore::take(bool is_new) {
  if (!is_new) {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      auto out = std::move(idle_.back());
      idle_.pop_back();
      return out;
    }
  }
  return connect();
}

// ask(ready) returns a Result.  If the connection was lost, it is called once more with a new one.
template <typename Ask>
auto RedisStore::with_connection(const Ask& ask) {
  using Answer = decltype(ask(std::declval<Ready&>()));
  for (const bool is_new : {false, true}) {
    auto ready = take(is_new);
    if (!ready.ok()) return Answer(ready.error());
    Answer answer = ask(*ready.value());
    if (!ready.value()->is_useless) {
      const std::scoped_lock lock(mutex_);
      if (idle_.size() < kMostIdle) idle_.push_back(std::move(ready).value());
      return answer;
    }
    const std::scoped_lock lock(mutex_);
    idle_.clear();  // the others are as old
    if (is_new) return answer;
  }
  return Answer(Error());
}

Result<HashKey> RedisStore::secret(const HashKey& made) {
  return with_connection([&](Ready& ready) -> Result<HashKey> {
    const std::string_view bytes(reinterpret_cast<const char*>(made.data()), made.size());
    ready.connection->say({"SET", "rondo:secret", bytes, "NX"});
    ready.connection->say({"GET", "rondo:secret"});
    if (auto set = ready.read(); !set.ok()) return set.error();
    auto there = ready.read();
    if (!there.ok()) return there.error();
    HashKey out{};
    if (there.value().text.size() != out.size()) return ready.connection->error("its secret has not 16 bytes");
    std::copy(there.value().text.begin(), there.value().text.end(), out.begin());
    return out;
  });
}

// --- Writing

void RedisStore::put(StoredTurn turn, Kept kept) { queue_->put({std::move(turn), {}, std::move(kept)}); }

void RedisStore::put_objects(std::vector<StoredObject> objects, Kept kept) {
  queue_->put({std::nullopt, std::move(objects), std::move(kept)});
}

void RedisStore::flush() { queue_->flush(); }

std::vector<Status> RedisStore::write(std::span<const WriteQueue::Waiting> batch) {
  std::vector<Status> each;
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const Status written = write_rest(batch, each);
    if (each.size() == batch.size()) return each;
    writer_.reset();
    if (queue_->ends() || std::chrono::steady_clock::now() - begin > patience_) {
      each.resize(batch.size(), written);
      return each;
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

// Writes the turns after those in `each`, and adds their results to it.  A turn that was written before the connection
// was lost already exists when it is put again; that counts as kept.
Status RedisStore::write_rest(std::span<const WriteQueue::Waiting> batch, std::vector<Status>& each) {
  if (writer_ == nullptr) {
    auto ready = connect();
    if (!ready.ok()) return ready.error();
    writer_ = std::move(ready).value();
  }
  for (const WriteQueue::Waiting& waiting : batch.subspan(each.size())) {
    if (waiting.turn) {
      writer_->say(*waiting.turn);
    } else {
      writer_->say(waiting.objects);
    }
  }
  while (each.size() < batch.size()) {
    const auto reply = writer_->read();
    if (writer_->is_useless) return reply.error();
    if (!reply.ok()) {
      each.emplace_back(reply.error());
    } else if (reply.value().kind != RedisReply::Kind::kNumber) {
      each.emplace_back(writer_->connection->error("its answer is of another kind than expected"));
    } else if (reply.value().number < 0) {
      each.emplace_back(Error(ErrorCode::kNotFound, "the turn that this one goes on from is not in the store"));
    } else {
      each.emplace_back(Done{});
    }
  }
  return Done{};
}

// --- Reading

Result<std::vector<std::string>> RedisStore::lineage(const Digest& scope, const Digest& turn) {
  return with_connection([&](Ready& ready) -> Result<std::vector<std::string>> {
    ready.run(kReadLine, {scope.view(), turn.view(), std::to_string(kMostAncestors)});
    auto reply = ready.read();
    if (!reply.ok()) return reply.error();
    std::vector<std::string> out;
    for (RedisReply& record : reply.value().list) out.push_back(std::move(record.text));
    return out;
  });
}

Result<std::vector<Hit>> RedisStore::find(const Digest& scope, std::span<const Digest> hashes) {
  return with_connection([&](Ready& ready) -> Result<std::vector<Hit>> {
    const std::string last = std::to_string(kMostHits - 1);
    for (const Digest& hash : hashes) ready.connection->say({"ZRANGE", key_of("h:", scope, hash), "0", last});
    std::vector<Hit> out;
    std::optional<Error> refused;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      auto reply = ready.read();
      if (!reply.ok() && ready.is_useless) return reply.error();
      if (!reply.ok()) {
        refused = reply.error();
        continue;
      }
      for (const RedisReply& hit : reply.value().list) {
        const std::string_view text = hit.text;
        if (text.size() != 2 * sizeof(Digest)) continue;
        out.push_back({i, digest_of(text.substr(0, sizeof(Digest))), digest_of(text.substr(sizeof(Digest)))});
      }
    }
    if (refused) return *refused;
    return out;
  });
}

Result<std::vector<std::string>> RedisStore::values(std::string_view kind, const Digest& scope,
                                                    std::span<const Digest> of) {
  if (of.empty()) return std::vector<std::string>();
  return with_connection([&](Ready& ready) -> Result<std::vector<std::string>> {
    std::vector<std::string> keys;
    for (const Digest& one : of) keys.push_back(key_of(kind, scope, one));
    std::vector<std::string_view> command = {"MGET"};
    command.insert(command.end(), keys.begin(), keys.end());
    ready.connection->say(command);
    auto reply = ready.read();
    if (!reply.ok()) return reply.error();
    std::vector<std::string> out;
    for (RedisReply& value : reply.value().list) out.push_back(std::move(value.text));
    out.resize(of.size());
    return out;
  });
}

Result<std::vector<Digest>> RedisStore::listed(std::string_view command, const std::string& key) {
  return with_connection([&](Ready& ready) -> Result<std::vector<Digest>> {
    ready.connection->say({command, key, "0", "-1"});
    auto reply = ready.read();
    if (!reply.ok()) return reply.error();
    std::vector<Digest> out;
    for (const RedisReply& one : reply.value().list) {
      if (one.text.size() == sizeof(Digest)) out.push_back(digest_of(one.text));
    }
    return out;
  });
}

Result<std::vector<Got>> RedisStore::get(const Digest& scope, std::span<const Digest> turns) {
  const auto there = values("t:", scope, turns);
  if (!there.ok()) return there.error();
  std::vector<Got> out;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (const auto value = value_of(there.value()[i])) out.push_back({i, value->session, std::string(value->record)});
  }
  return out;
}

Result<std::vector<SessionInfo>> RedisStore::sessions(const Digest& scope, std::size_t limit, std::uint64_t after) {
  return with_connection([&](Ready& ready) -> Result<std::vector<SessionInfo>> {
    const std::string first = after == 0 ? "+inf" : "(" + std::to_string(after);
    constexpr std::size_t kMost = 1'000'000;
    ready.connection->say({"ZREVRANGEBYSCORE", std::string("rondo:o:").append(scope.view()), first, "-inf", "LIMIT",
                           "0", std::to_string(std::min(limit, kMost))});
    auto listed = ready.read();
    if (!listed.ok()) return listed.error();
    std::vector<SessionInfo> out;
    for (const RedisReply& session : listed.value().list) {
      if (session.text.size() != sizeof(Digest)) continue;
      SessionInfo& info = out.emplace_back();
      info.session = digest_of(session.text);
      ready.connection->say(
          {"HMGET", key_of("s:", scope, info.session), "name", "turns", "bytes", "first", "last", "order"});
    }
    for (SessionInfo& info : out) {
      auto reply = ready.read();
      if (!reply.ok()) {
        ready.is_useless = true;  // answers to the others are still on their way
        return reply.error();
      }
      std::vector<RedisReply>& fields = reply.value().list;
      fields.resize(6);
      info.name = std::move(fields[0].text);
      info.turns = number_of<std::size_t>(fields[1]);
      info.bytes = number_of<std::size_t>(fields[2]);
      info.first_ms = number_of<std::int64_t>(fields[3]);
      info.last_ms = number_of<std::int64_t>(fields[4]);
      info.order = number_of<std::uint64_t>(fields[5]);
    }
    std::erase_if(out, [](const SessionInfo& info) { return info.order == 0; });  // forgotten in the meantime
    return out;
  });
}

Result<std::vector<std::string>> RedisStore::turns(const Digest& scope, const Digest& session) {
  const auto known = listed("LRANGE", key_of("l:", scope, session));
  if (!known.ok()) return known.error();
  auto got = get(scope, known.value());
  if (!got.ok()) return got.error();
  std::vector<std::string> out;
  for (Got& one : got.value()) out.push_back(std::move(one.record));
  return out;
}

Result<std::vector<std::optional<std::string>>> RedisStore::objects(const Digest& scope,
                                                                    std::span<const Digest> objects) {
  const auto there = values("b:", scope, objects);
  if (!there.ok()) return there.error();
  std::vector<std::optional<std::string>> out;
  for (const std::string& value : there.value()) {
    const bool is_there = value.size() >= sizeof(Digest);
    out.push_back(is_there ? std::optional(value.substr(sizeof(Digest))) : std::nullopt);
  }
  return out;
}

Result<std::vector<std::string>> RedisStore::group(const Digest& scope, const Digest& group) {
  const auto known = listed("ZRANGE", key_of("g:", scope, group));
  if (!known.ok()) return known.error();
  auto got = objects(scope, known.value());
  if (!got.ok()) return got.error();
  std::vector<std::string> out;
  for (std::optional<std::string>& one : got.value()) {
    if (one) out.push_back(std::move(*one));
  }
  return out;
}

Result<std::size_t> RedisStore::erase_objects(const Digest& scope, std::span<const Digest> objects) {
  return with_connection([&](Ready& ready) -> Result<std::size_t> {
    std::vector<std::string_view> arguments = {scope.view()};
    for (const Digest& object : objects) arguments.push_back(object.view());
    ready.run(kForgetSome, arguments);
    return count_of(ready.read());
  });
}

Result<bool> RedisStore::erase(const Digest& scope, const Digest& session) {
  return with_connection([&](Ready& ready) -> Result<bool> {
    ready.run(kForget, {scope.view(), session.view()});
    auto reply = ready.read();
    if (!reply.ok()) return reply.error();
    return reply.value().number == 1;
  });
}

Result<std::size_t> RedisStore::expire(std::int64_t now_ms, const Bounds& bounds) {
  std::size_t gone = 0;
  while (true) {
    const auto some = with_connection([&](Ready& ready) -> Result<std::size_t> {
      ready.run(kExpire, {std::to_string(now_ms), std::to_string(bounds.ttl_ms), std::to_string(bounds.max_bytes),
                          std::to_string(kMostExpired)});
      return count_of(ready.read());
    });
    if (!some.ok()) return some.error();
    gone += some.value();
    if (some.value() < kMostExpired) return gone;
  }
}

}  // namespace rondo::spans
