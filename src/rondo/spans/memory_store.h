// Turns and objects in memory.  They are lost when the process ends.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "spans/digest_table.h"
#include "spans/store.h"

namespace rondo::spans {

class MemoryStore : public Store {
 public:
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
  void flush() override {}

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFFU;

  struct Session {
    SessionInfo info;
    Digest scope;
    std::vector<std::uint32_t> entries;       // in order of insertion
    std::vector<Digest> hashes;               // of all entries
    std::vector<std::uint32_t> links;         // one for each hash
    std::map<std::uint64_t, Digest> objects;  // in order of insertion
  };
  struct Object {
    std::uint64_t order = 0;
    Session* session = nullptr;
    std::string bytes;
  };
  struct Entry {
    Digest turn;
    Session* session = nullptr;
    std::uint32_t parent = kNone;
    std::string record;
  };

  // All public members take the lock; these do not.  Work under the lock takes a microsecond per turn.
  Status add(StoredTurn& turn);
  void add(StoredObject& object);
  // Returns the session; makes it if there is none.
  Session& session_for(const Digest& scope, const Digest& session, const std::string& name, std::int64_t time_ms);
  [[nodiscard]] Object* object_of(const Digest& scope, const Digest& object);
  [[nodiscard]] static std::size_t size_of(const Object& object) { return object.bytes.size() + sizeof(Object); }
  [[nodiscard]] std::uint32_t entry_of(const Digest& scope, const Digest& turn) const;
  [[nodiscard]] Session* session_of(const Digest& scope, const Digest& session) const;
  void forget(Session& session);

  std::mutex mutex_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;  // entries of deleted sessions
  DigestTable by_turn_;              // to entries
  DigestLists by_hash_;
  std::map<std::uint64_t, Session> sessions_;  // by their order number
  std::unordered_map<Digest, Session*, DigestHash> by_session_;
  std::unordered_map<Digest, Object, DigestHash> objects_;
  std::size_t bytes_ = 0;
  std::uint64_t order_ = 0;
};

}  // namespace rondo::spans
