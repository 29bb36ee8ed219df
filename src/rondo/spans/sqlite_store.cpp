#include "spans/sqlite_store.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "spans/sqlite_queries.h"
#include "spans/sqlite_statement.h"

namespace rondo::spans {
namespace {

// Identifies the file type: "RSPN".
constexpr std::int64_t kApplication = 0x5253504E;
constexpr std::int64_t kSchemaVersion = 2;  // version 1 had no objects
constexpr std::size_t kMostInTransaction = 4096;

// Look-ups are spread over the whole file, so the pages of its indexes stay in memory.  Each constant sets how many KiB
// of pages a connection keeps.  The writer's pages hold the places where turns are inserted.  There are as many readers
// as threads that read at once; they find other pages in the system's memory.
constexpr const char* kWriterMemory = "PRAGMA cache_size = -32768;";
constexpr const char* kReaderMemory = "PRAGMA cache_size = -2048;";

// Hashes are stored one after the other.
template <typename Take>
void each_hash(std::string_view hashes, const Take& take) {
  for (; hashes.size() >= sizeof(Digest); hashes.remove_prefix(sizeof(Digest)))
    take(digest_of(hashes.substr(0, sizeof(Digest))));
}

}  // namespace

// A connection with its statements, used by one thread at a time.
class SqliteStore::Connection : public SqliteQueries {
 public:
  Connection(Database database, std::string path) : database_(std::move(database)), path_(std::move(path)) {}

  [[nodiscard]] Error error() const { return database_error(database_.get(), path_); }
  [[nodiscard]] bool execute(const char* sql) {
    return sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  [[nodiscard]] std::int64_t last_number() const { return sqlite3_last_insert_rowid(database_.get()); }

  // Prepared when it is first needed; nullptr if that fails.
  [[nodiscard]] Statement* operator[](Query query);

  // Steps through all rows.
  template <typename Take>
  [[nodiscard]] Status rows(Statement& statement, const Take& take) {
    while (statement.step()) take(statement);
    const bool failed = statement.failed();
    const Error what = failed ? error() : Error();
    statement.reset();
    if (failed) return what;
    return Done{};
  }

  [[nodiscard]] Status prepare_file(const SqliteOptions& options, bool makes);
  [[nodiscard]] Status add(const StoredTurn& turn);
  [[nodiscard]] Status add(const StoredObject& object);
  // True if it existed.
  [[nodiscard]] Result<bool> forget(const Digest& scope, const Digest& object);
  [[nodiscard]] Status forget(std::int64_t session);
  // Runs `work` in a transaction, which is rolled back if it fails.
  template <typename Work>
  [[nodiscard]] Status in_transaction(const Work& work) {
    if (!execute("BEGIN IMMEDIATE")) return error();
    Status done = work();
    if (done.ok() && !execute("COMMIT")) done = error();
    if (!done.ok()) (void)execute("ROLLBACK");
    return done;
  }

 private:
  [[nodiscard]] std::optional<std::int64_t> pragma(const char* sql);
  static constexpr std::int64_t kNoSession = -1;
  struct NewSession {
    std::string_view name;
    std::int64_t time_ms = 0;
  };
  // Creates one if there is none; without `made` it is kNoSession then.
  [[nodiscard]] Result<std::int64_t> session_number(const Digest& scope, const Digest& session,
                                                    const std::optional<NewSession>& made);
  struct KnownObject {
    std::int64_t number = 0;
    std::int64_t session = 0;
    std::int64_t bytes = 0;
  };
  // nullopt if `scope` has none.
  [[nodiscard]] Result<std::optional<KnownObject>> known(const Digest& scope, const Digest& object);

  Database database_;
  std::string path_;
  std::array<std::unique_ptr<Statement>, kQueries> statements_;
};

Statement* SqliteStore::Connection::operator[](Query query) {
  std::unique_ptr<Statement>& statement = statements_[query];
  if (statement == nullptr) {
    auto made = std::make_unique<Statement>();
    if (!made->prepare(database_.get(), kSql.at(query))) return nullptr;
    statement = std::move(made);
  }
  return statement.get();
}

std::optional<std::int64_t> SqliteStore::Connection::pragma(const char* sql) {
  Statement statement;
  if (!statement.prepare(database_.get(), sql) || !statement.step()) return std::nullopt;
  return statement.number(0);
}

Status SqliteStore::Connection::prepare_file(const SqliteOptions& options, bool makes) {
  sqlite3_busy_timeout(database_.get(), options.busy_timeout_ms);
  if (!execute("PRAGMA journal_mode = WAL") ||
      !execute(options.sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL") ||
      !execute(makes ? kWriterMemory : kReaderMemory))
    return error();
  if (!makes) return Done{};
  return in_transaction([&]() -> Status {
    const auto application = pragma("PRAGMA application_id");
    const auto version = pragma("PRAGMA user_version");
    const auto tables = pragma("SELECT count(*) FROM sqlite_master");
    if (!application || !version || !tables) return error();
    if (*tables > 0 && *application != kApplication)
      return Error(ErrorCode::kIo, "the file is a database of another program", path_);
    if (*version > kSchemaVersion)
      return Error(ErrorCode::kUnsupported, "the store of turns has version " + std::to_string(*version), path_);
    if (*tables > 0 && *version == kSchemaVersion) return Done{};
    const std::string marks = "PRAGMA application_id = " + std::to_string(kApplication) +
                              "; PRAGMA user_version = " + std::to_string(kSchemaVersion) + ";";
    if (!execute(kSqliteSchema) || !execute(marks.c_str())) return error();
    return Done{};
  });
}

Result<std::int64_t> SqliteStore::Connection::session_number(const Digest& scope, const Digest& session,
                                                             const std::optional<NewSession>& made) {
  Statement* find = (*this)[kSessionOf];
  Statement* add = (*this)[kAddSession];
  if (find == nullptr || add == nullptr) return error();
  std::optional<std::int64_t> number;
  const Status found = rows(find->bind(1, scope).bind(2, session), [&](Statement& row) { number = row.number(0); });
  if (!found.ok()) return found.error();
  if (number) return *number;
  if (!made) return kNoSession;
  add->bind(1, scope).bind(2, session).bind(3, made->name).bind(4, made->time_ms);
  if (!add->run()) return error();
  return last_number();
}

Status SqliteStore::Connection::add(const StoredTurn& turn) {
  Statement* find = (*this)[kTurnOf];
  Statement* put = (*this)[kAddTurn];
  Statement* put_hash = (*this)[kAddHash];
  Statement* count = (*this)[kCountTurn];
  if (find == nullptr || put == nullptr || put_hash == nullptr || count == nullptr) return error();
  bool is_there = false;
  Status looked = rows(find->bind(1, turn.turn), [&](Statement&) { is_there = true; });
  if (!looked.ok() || is_there) return looked;
  std::optional<std::pair<std::int64_t, std::int64_t>> parent;
  if (turn.parent) {
    looked = rows(find->bind(1, *turn.parent), [&](Statement& row) { parent = {row.number(0), row.number(1)}; });
    if (!looked.ok()) return looked;
  }
  // A turn without a parent may be the first of its session.
  std::optional<NewSession> made;
  if (!turn.parent) made = {turn.name, turn.time_ms};
  const Result<std::int64_t> session = session_number(turn.scope, turn.session, made);
  if (!session.ok()) return session.error();
  if (turn.parent && (!parent || parent->second != session.value()))
    return Error(ErrorCode::kNotFound, "the turn that this one goes on from is not in the store");
  std::string hashes;
  for (const Digest& hash : turn.hashes) hashes += hash.view();
  put->bind(1, turn.turn).bind(2, session.value()).bind(4, hashes).bind(5, turn.record);
  if (parent) put->bind(3, parent->first);
  if (!put->run()) return error();
  const std::int64_t number = last_number();
  for (const Digest& hash : turn.hashes) {
    if (!put_hash->bind(1, hash).bind(2, number).run()) return error();
  }
  const std::size_t bytes = turn.record.size() + (2 * hashes.size()) + (2 * sizeof(Digest));
  count->bind(1, session.value()).bind(2, static_cast<std::int64_t>(bytes)).bind(3, turn.time_ms);
  if (!count->run()) return error();
  return Done{};
}

Result<std::optional<SqliteStore::Connection::KnownObject>> SqliteStore::Connection::known(const Digest& scope,
                                                                                           const Digest& object) {
  Statement* find = (*this)[kObjectOf];
  if (find == nullptr) return error();
  std::optional<KnownObject> out;
  const Status read = rows(find->bind(1, object), [&](Statement& row) {
    if (row.digest(3) == scope) out = {row.number(0), row.number(1), row.number(2)};
  });
  if (!read.ok()) return read.error();
  return out;
}

Status SqliteStore::Connection::add(const StoredObject& object) {
  Statement* put = (*this)[kAddObject];
  Statement* replace = (*this)[kReplaceObject];
  Statement* count = (*this)[kCountObject];
  if (put == nullptr || replace == nullptr || count == nullptr) return error();
  const auto there = known(object.scope, object.object);
  if (!there.ok()) return there.error();
  auto bytes = static_cast<std::int64_t>(object.bytes.size());
  std::int64_t session = 0;
  if (there.value()) {
    if (!replace->bind(1, there.value()->number).bind(2, object.bytes).run()) return error();
    session = there.value()->session;
    bytes -= there.value()->bytes;
  } else {
    const auto number = session_number(object.scope, object.group, NewSession{"", object.time_ms});
    if (!number.ok()) return number.error();
    session = number.value();
    if (!put->bind(1, object.object).bind(2, session).bind(3, object.bytes).run()) return error();
  }
  if (!count->bind(1, session).bind(2, bytes).bind(3, object.time_ms).run()) return error();
  return Done{};
}

Result<bool> SqliteStore::Connection::forget(const Digest& scope, const Digest& object) {
  Statement* remove = (*this)[kForgetObject];
  Statement* count = (*this)[kCountObject];
  Statement* empty = (*this)[kForgetEmpty];
  if (remove == nullptr || count == nullptr || empty == nullptr) return error();
  const auto there = known(scope, object);
  if (!there.ok()) return there.error();
  if (!there.value()) return false;
  if (!remove->bind(1, there.value()->number).run()) return error();
  count->bind(1, there.value()->session).bind(2, -there.value()->bytes).bind(3, std::int64_t{0});
  if (!count->run() || !empty->bind(1, there.value()->session).run()) return error();
  return true;
}

Status SqliteStore::Connection::forget(std::int64_t session) {
  Statement* turns = (*this)[kTurnsToForget];
  Statement* forget_hash = (*this)[kForgetHash];
  Statement* forget_turns = (*this)[kForgetTurns];
  Statement* forget_session = (*this)[kForgetSession];
  Statement* forget_objects = (*this)[kForgetObjects];
  if (turns == nullptr || forget_hash == nullptr || forget_turns == nullptr || forget_session == nullptr ||
      forget_objects == nullptr)
    return error();
  bool failed = false;
  Status gone = rows(turns->bind(1, session), [&](Statement& row) {
    each_hash(row.bytes(1),
              [&](const Digest& hash) { failed = !forget_hash->bind(1, hash).bind(2, row.number(0)).run() || failed; });
  });
  if (!gone.ok()) return gone;
  if (failed || !forget_turns->bind(1, session).run() || !forget_objects->bind(1, session).run() ||
      !forget_session->bind(1, session).run())
    return error();
  return Done{};
}

// --- The store

// Borrows a reader's connection and returns it at the end.
class SqliteStore::Reading {
 public:
  explicit Reading(SqliteStore& store) : store_(store), connection_(store.take_reader()) {}
  ~Reading() {
    if (!connection_.ok()) return;
    const std::scoped_lock lock(store_.mutex_);
    store_.readers_.push_back(std::move(connection_).value());
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  [[nodiscard]] bool ok() const { return connection_.ok(); }
  [[nodiscard]] const rondo::Error& error() const { return connection_.error(); }
  [[nodiscard]] Connection& operator*() { return *connection_.value(); }

  // The rows of `query`, bound by `bind`.
  template <typename Bind, typename Take>
  [[nodiscard]] Status rows(Connection::Query query, const Bind& bind, const Take& take) {
    if (!connection_.ok()) return connection_.error();
    Statement* statement = (*connection_.value())[query];
    if (statement == nullptr) return connection_.value()->error();
    bind(*statement);
    return connection_.value()->rows(*statement, take);
  }

 private:
  SqliteStore& store_;
  Result<std::unique_ptr<Connection>> connection_;
};

SqliteStore::SqliteStore(std::string path, const SqliteOptions& options) : path_(std::move(path)), options_(options) {}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path, const SqliteOptions& options) {
  std::unique_ptr<SqliteStore> out(new SqliteStore(path, options));
  Result<std::unique_ptr<Connection>> writer = out->connect(true);
  if (!writer.ok()) return writer.error();
  out->writer_ = std::move(writer).value();
  out->queue_ = std::make_unique<WriteQueue>(kMostInTransaction,
                                             [store = out.get()](const auto batch) { return store->write(batch); });
  return out;
}

SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore::Connection>> SqliteStore::connect(bool makes) {
  sqlite3* opened = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (makes ? SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(path_.c_str(), &opened, flags, nullptr);
  Database database(opened);
  if (code != SQLITE_OK) return database_error(opened, path_);
  auto out = std::make_unique<Connection>(std::move(database), path_);
  if (Status ready = out->prepare_file(options_, makes); !ready.ok()) return ready.error();
  return out;
}

Result<std::unique_ptr<SqliteStore::Connection>> SqliteStore::take_reader() {
  {
    const std::scoped_lock lock(mutex_);
    if (!readers_.empty()) {
      auto out = std::move(readers_.back());
      readers_.pop_back();
      return out;
    }
  }
  return connect(false);
}

void SqliteStore::put(StoredTurn turn, Kept kept) { queue_->put({std::move(turn), {}, std::move(kept)}); }

void SqliteStore::put_objects(std::vector<StoredObject> objects, Kept kept) {
  queue_->put({std::nullopt, std::move(objects), std::move(kept)});
}

std::vector<Status> SqliteStore::write(std::span<const WriteQueue::Waiting> batch) {
  std::vector<Status> each;
  const std::scoped_lock writing(writer_mutex_);
  const Status all = writer_->in_transaction([&]() -> Status {
    for (const WriteQueue::Waiting& waiting : batch) {
      each.push_back(waiting.turn ? writer_->add(*waiting.turn) : Status(Done{}));
      for (const StoredObject& object : waiting.objects) {
        if (each.back().ok()) each.back() = writer_->add(object);
      }
      // A missing parent is the fault of that turn.  Any other error is the file's.
      if (!each.back().ok() && each.back().error().code != ErrorCode::kNotFound) return each.back();
    }
    return Done{};
  });
  if (!all.ok()) each.assign(batch.size(), all);
  return each;
}

void SqliteStore::flush() { queue_->flush(); }

Result<std::vector<std::string>> SqliteStore::lineage(const Digest& scope, const Digest& turn) {
  std::vector<std::string> out;
  Reading reading(*this);
  const Status read = reading.rows(
      Connection::kLineage,
      [&](Statement& query) { query.bind(1, turn).bind(2, scope).bind(3, static_cast<std::int64_t>(kMostAncestors)); },
      [&](const Statement& row) { out.emplace_back(row.bytes(0)); });
  if (!read.ok()) return read.error();
  return out;
}

Result<std::vector<Hit>> SqliteStore::find(const Digest& scope, std::span<const Digest> hashes) {
  std::vector<Hit> out;
  Reading reading(*this);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const Status read = reading.rows(
        Connection::kFind,
        [&](Statement& query) {
          query.bind(1, hashes[i]).bind(2, scope).bind(3, static_cast<std::int64_t>(kMostHits));
        },
        [&](const Statement& row) { out.push_back({i, row.digest(0), row.digest(1)}); });
    if (!read.ok()) return read.error();
  }
  return out;
}

Result<std::vector<Got>> SqliteStore::get(const Digest& scope, std::span<const Digest> turns) {
  std::vector<Got> out;
  Reading reading(*this);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const Status read = reading.rows(
        Connection::kGet, [&](Statement& query) { query.bind(1, turns[i]).bind(2, scope); },
        [&](const Statement& row) { out.push_back({i, row.digest(0), std::string(row.bytes(1))}); });
    if (!read.ok()) return read.error();
  }
  return out;
}

Result<std::vector<SessionInfo>> SqliteStore::sessions(const Digest& scope, std::size_t limit, std::uint64_t after) {
  std::vector<SessionInfo> out;
  Reading reading(*this);
  const auto bind = [&](Statement& query) {
    constexpr std::size_t kMost = 1'000'000;
    query.bind(1, scope)
        .bind(2, static_cast<std::int64_t>(after))
        .bind(3, static_cast<std::int64_t>(std::min(limit, kMost)));
  };
  const Status read = reading.rows(Connection::kSessions, bind, [&](const Statement& row) {
    SessionInfo info;
    info.order = static_cast<std::uint64_t>(row.number(0));
    info.session = row.digest(1);
    info.name = row.bytes(2);
    info.turns = static_cast<std::size_t>(row.number(3));
    info.bytes = static_cast<std::size_t>(row.number(4));
    info.first_ms = row.number(5);
    info.last_ms = row.number(6);
    out.push_back(std::move(info));
  });
  if (!read.ok()) return read.error();
  return out;
}

Result<std::vector<std::string>> SqliteStore::turns(const Digest& scope, const Digest& session) {
  std::vector<std::string> out;
  Reading reading(*this);
  const Status read = reading.rows(
      Connection::kTurns, [&](Statement& query) { query.bind(1, scope).bind(2, session); },
      [&](const Statement& row) { out.emplace_back(row.bytes(0)); });
  if (!read.ok()) return read.error();
  return out;
}

Result<std::vector<std::optional<std::string>>> SqliteStore::objects(const Digest& scope,
                                                                     std::span<const Digest> objects) {
  std::vector<std::optional<std::string>> out(objects.size());
  Reading reading(*this);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const Status read = reading.rows(
        Connection::kGetObject, [&](Statement& query) { query.bind(1, objects[i]).bind(2, scope); },
        [&](const Statement& row) { out[i] = std::string(row.bytes(0)); });
    if (!read.ok()) return read.error();
  }
  return out;
}

Result<std::vector<std::string>> SqliteStore::group(const Digest& scope, const Digest& group) {
  std::vector<std::string> out;
  Reading reading(*this);
  const Status read = reading.rows(
      Connection::kGroup, [&](Statement& query) { query.bind(1, scope).bind(2, group); },
      [&](const Statement& row) { out.emplace_back(row.bytes(0)); });
  if (!read.ok()) return read.error();
  return out;
}

Result<std::size_t> SqliteStore::erase_objects(const Digest& scope, std::span<const Digest> objects) {
  const std::scoped_lock lock(writer_mutex_);
  std::size_t gone = 0;
  const Status done = writer_->in_transaction([&]() -> Status {
    for (const Digest& object : objects) {
      const Result<bool> forgotten = writer_->forget(scope, object);
      if (!forgotten.ok()) return forgotten.error();
      gone += forgotten.value() ? 1 : 0;
    }
    return Done{};
  });
  if (!done.ok()) return done.error();
  return gone;
}

Result<bool> SqliteStore::erase(const Digest& scope, const Digest& session) {
  const std::scoped_lock lock(writer_mutex_);
  bool is_there = false;
  const Status done = writer_->in_transaction([&]() -> Status {
    Statement* find = (*writer_)[Connection::kSessionOf];
    if (find == nullptr) return writer_->error();
    std::int64_t number = 0;
    Status found = writer_->rows(find->bind(1, scope).bind(2, session), [&](const Statement& row) {
      number = row.number(0);
      is_there = true;
    });
    return found.ok() && is_there ? writer_->forget(number) : found;
  });
  if (!done.ok()) return done.error();
  return is_there;
}

Result<std::size_t> SqliteStore::expire(std::int64_t now_ms, const Bounds& bounds) {
  const std::scoped_lock lock(writer_mutex_);
  std::size_t gone = 0;
  const Status done = writer_->in_transaction([&]() -> Status {
    Statement* all = (*writer_)[Connection::kAllBytes];
    Statement* oldest = (*writer_)[Connection::kOldest];
    if (all == nullptr || oldest == nullptr) return writer_->error();
    std::int64_t bytes = 0;
    Status read = writer_->rows(*all, [&](const Statement& row) { bytes = row.number(0); });
    if (!read.ok()) return read;
    std::vector<std::int64_t> late;
    while (oldest->step()) {
      const bool is_late = bounds.ttl_ms > 0 && now_ms - oldest->number(1) > bounds.ttl_ms;
      const bool is_too_much = bounds.max_bytes > 0 && bytes > static_cast<std::int64_t>(bounds.max_bytes);
      if (!is_late && !is_too_much) break;
      late.push_back(oldest->number(0));
      bytes -= oldest->number(2);
    }
    oldest->reset();
    if (oldest->failed()) return writer_->error();
    for (const std::int64_t session : late) {
      if (Status forgotten = writer_->forget(session); !forgotten.ok()) return forgotten;
    }
    gone = late.size();
    return Done{};
  });
  if (!done.ok()) return done.error();
  return gone;
}

}  // namespace rondo::spans
