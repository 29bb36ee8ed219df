// Turns and objects in Redis.  Several gateways on one server act as one.
//
// One thread writes.  It sends everything that waits in one piece, and each turn is stored completely or not at all.
// Readers have connections of their own.  If the server goes away, the store reconnects.  Waiting turns are retried for
// a while, then reported as lost (kIo).  A read fails with kIo at once.
//
// A turn is stored once the server says so.  What the server still has after a crash of its own depends on its
// configuration (`appendonly`, `appendfsync`).  It must not evict keys (`maxmemory-policy noeviction`).  The store
// works with one server, or with one of a group that replicate; it does not work with a cluster that spreads keys over
// servers.
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
  // How long a turn is retried while the server is away.
  static constexpr std::chrono::milliseconds kPatience{3'000};

  // Connects.  Fails with kIo if the server cannot be reached or refuses, or with kUnsupported if its turns come from a
  // later version.
  [[nodiscard]] static Result<std::unique_ptr<RedisStore>> open(const RedisAddress& address);
  // Uses connections that the caller makes.  Any thread may call `connect`.
  [[nodiscard]] static Result<std::unique_ptr<RedisStore>> over(Connect connect,
                                                                std::chrono::milliseconds patience = kPatience);
  // Stores what was put, if the server can be reached.
  ~RedisStore() override;
  RedisStore(const RedisStore&) = delete;
  RedisStore& operator=(const RedisStore&) = delete;

  // Returns the secret of all gateways on this server.  The first caller sets it to `made`.
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
  // Returns an unused connection.
  [[nodiscard]] Result<std::unique_ptr<Ready>> take(bool is_new);
  template <typename Ask>
  [[nodiscard]] auto with_connection(const Ask& ask);
  // Returns the digests in the list or sorted set under the key.
  [[nodiscard]] Result<std::vector<Digest>> listed(std::string_view command, const std::string& key);
  // Returns the values of keys; "" for a missing one.
  [[nodiscard]] Result<std::vector<std::string>> values(std::string_view kind, const Digest& scope,
                                                        std::span<const Digest> of);
  [[nodiscard]] std::vector<Status> write(std::span<const WriteQueue::Waiting> batch);
  [[nodiscard]] Status write_rest(std::span<const WriteQueue::Waiting> batch, std::vector<Status>& each);

  Connect connect_;
  std::chrono::milliseconds patience_;
  std::unique_ptr<Ready> writer_;  // belongs to the queue's thread
  std::mutex mutex_;               // guards idle_
  std::vector<std::unique_ptr<Ready>> idle_;
  std::unique_ptr<WriteQueue> queue_;  // destroyed first: it writes what waits
};

}  // namespace rondo::spans
