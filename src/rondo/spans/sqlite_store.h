// Turns and objects in an SQLite file.  Several processes may have it open at once.
//
// One thread writes.  It puts everything that waits into one transaction, so that a thousand turns cost one disk
// synchronisation.  That thread calls `kept` of put() after the commit.  The file is in WAL mode: readers never wait.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spans/store.h"
#include "spans/write_queue.h"

namespace rondo::spans {

struct SqliteOptions {
  // Whether a stored turn also survives a power failure.  Without `sync`, it survives any crash of the process.
  bool sync = true;
  int busy_timeout_ms = 10'000;  // how long to wait while another process writes
};

class SqliteStore : public Store {
 public:
  // Opens the file, and makes it if it does not exist.  Fails with kIo if it cannot be opened or is not such a file, or
  // with kUnsupported if a later version made it.
  [[nodiscard]] static Result<std::unique_ptr<SqliteStore>> open(const std::string& path,
                                                                 const SqliteOptions& options = {});
  // Stores what was put, then closes.
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

  SqliteStore(std::string path, const SqliteOptions& options);
  [[nodiscard]] std::vector<Status> write(std::span<const WriteQueue::Waiting> batch);
  [[nodiscard]] Result<std::unique_ptr<Connection>> take_reader();
  [[nodiscard]] Result<std::unique_ptr<Connection>> connect(bool makes);

  std::string path_;
  SqliteOptions options_;
  std::unique_ptr<Connection> writer_;
  std::mutex writer_mutex_;  // guards writer_

  std::mutex mutex_;  // guards readers_
  std::vector<std::unique_ptr<Connection>> readers_;
  std::unique_ptr<WriteQueue> queue_;  // destroyed first: it writes what waits
};

}  // namespace rondo::spans
