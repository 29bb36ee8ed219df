// Turns and objects in an SQLite file, which several processes may have open at once.
//
// One thread writes: it takes all that waits into one transaction, so that a thousand turns cost one synchronisation with the
// disk.  put()'s `kept` is called by that thread, behind the commit.  The file is in WAL mode: readers wait for nobody.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "spans/store.h"

namespace rondo::spans {

struct SqliteOptions {
  // Whether a turn that is kept outlives a loss of power, too.  Without, it outlives any crash of the process.
  bool sync = true;
  int busy_timeout_ms = 10'000;  // how long another process may write
};

class SqliteStore : public Store {
 public:
  // Makes the file where there is none.  Fails with kIo where it can't be opened or holds something else, with kUnsupported
  // where it was made by a later version.
  [[nodiscard]] static Result<std::unique_ptr<SqliteStore>> open(const std::string& path,
                                                                 const SqliteOptions& options = {});
  // Keeps what was put, then closes.
  ~SqliteStore() override;
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;

  void put(StoredTurn turn, Kept kept) override;
  [[nodiscard]] Result<std::vector<std::string>> lineage(const Digest& scope, const Digest& turn) override;
  [[nodiscard]] Result<std::vector<Hit>> find(const Digest& scope, std::span<const Digest> hashes) override;
  [[nodiscard]] Result<std::vector<Got>> get(const Digest& scope, std::span<const Digest> turns) override;
  [[nodiscard]] Result<std::vector<SessionInfo>> sessions(const Digest& scope, std::size_t limit,
                                                          std::uint64_t after) override;
  [[nodiscard]] Result<std::vector<std::string>> turns(const Digest& scope, const Digest& session) override;
  [[nodiscard]] Result<bool> erase(const Digest& scope, const Digest& session) override;
  void put_objects(std::vector<StoredObject> objects, Kept kept) override;
  [[nodiscard]] Result<std::vector<std::optional<std::string>>> objects(const Digest& scope,
                                                                        std::span<const Digest> objects) override;
  [[nodiscard]] Result<std::vector<std::string>> group(const Digest& scope, const Digest& group) override;
  [[nodiscard]] Result<std::size_t> erase_objects(const Digest& scope, std::span<const Digest> objects) override;
  [[nodiscard]] Result<std::size_t> expire(std::int64_t now_ms, const Bounds& bounds) override;
  void flush() override;

 private:
  class Connection;
  class Reading;
  struct Waiting {
    std::optional<StoredTurn> turn;
    std::vector<StoredObject> objects;
    Kept kept;
  };

  SqliteStore(std::string path, const SqliteOptions& options);
  void wait_with(Waiting waiting);
  void write_waiting();
  [[nodiscard]] Result<std::unique_ptr<Connection>> take_reader();
  [[nodiscard]] Result<std::unique_ptr<Connection>> connect(bool makes);

  std::string path_;
  SqliteOptions options_;
  std::unique_ptr<Connection> writer_;
  std::mutex writer_mutex_;  // of writer_

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  bool writes_ = false;  // the thread has taken some that are not kept yet
  bool ends_ = false;
  std::vector<std::unique_ptr<Connection>> readers_;
  std::thread thread_;
};

}  // namespace rondo::spans
