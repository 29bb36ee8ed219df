// Turns and objects in Redis: several gateways on one server are as one.
//
// One thread writes; all that waits goes to the server in one piece, and each turn is kept whole or not at all.  Readers have
// connections of their own.  A server that went away is looked for again: turns that wait are tried for a while, then told to be
// lost (kIo); whoever looks for turns hears kIo at once.
//
// A turn is kept once the server says so.  What it still has after a crash of its own is a matter of its configuration
// (`appendonly`, `appendfsync`); it must not evict keys (`maxmemory-policy noeviction`).  One server, or one of a group that
// replicate; a cluster that spreads keys over servers is not spoken to.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spans/redis_connection.h"
#include "spans/store.h"
#include "spans/write_queue.h"

namespace rondo::spans {

class RedisStore : public Store {
 public:
  using Connect = std::function<Result<std::unique_ptr<RedisConnection>>()>;
  // How long a turn is tried to be written while the server is away.
  static constexpr std::chrono::milliseconds kPatience{3'000};

  // Fails with kIo where the server can't be reached or refuses, with kUnsupported where its turns are of a later version.
  [[nodiscard]] static Result<std::unique_ptr<RedisStore>> open(const RedisAddress& address);
  // Over connections of the caller's; `connect` is called by any thread.
  [[nodiscard]] static Result<std::unique_ptr<RedisStore>> over(Connect connect,
                                                                std::chrono::milliseconds patience = kPatience);
  // Keeps what was put, if the server is there.
  ~RedisStore() override;
  RedisStore(const RedisStore&) = delete;
  RedisStore& operator=(const RedisStore&) = delete;

  // The secret of all gateways on this server: `made` for the first one that asks.
  [[nodiscard]] Result<HashKey> secret(const HashKey& made);

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
  struct Ready;
  RedisStore(Connect connect, std::chrono::milliseconds patience);
  [[nodiscard]] Result<std::unique_ptr<Ready>> connect() const;
  // A connection that nobody uses.
  [[nodiscard]] Result<std::unique_ptr<Ready>> take(bool is_new);
  template <typename Ask>
  [[nodiscard]] auto with_connection(const Ask& ask);
  // The digests that a list or a sorted set has under the key.
  [[nodiscard]] Result<std::vector<Digest>> listed(std::string_view command, const std::string& key);
  // The values of keys, "" where there is none.
  [[nodiscard]] Result<std::vector<std::string>> values(std::string_view kind, const Digest& scope,
                                                        std::span<const Digest> of);
  [[nodiscard]] std::vector<Status> write(std::span<const WriteQueue::Waiting> batch);
  [[nodiscard]] Status write_rest(std::span<const WriteQueue::Waiting> batch, std::vector<Status>& each);

  Connect connect_;
  std::chrono::milliseconds patience_;
  std::unique_ptr<Ready> writer_;  // of the queue's thread
  std::mutex mutex_;               // of idle_
  std::vector<std::unique_ptr<Ready>> idle_;
  std::unique_ptr<WriteQueue> queue_;  // the first to end: it writes what waits
};

}  // namespace rondo::spans
