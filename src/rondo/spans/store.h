// Stores turns and the other data that a gateway must not lose.
//
// A store knows turns only by digests, which a Scope makes: it cannot tell whose they are.  Turns belong to sessions,
// and a store deletes whole sessions.  So a turn never outlives the turns that it continues.
//
// Objects are bytes that are stored beside turns and deleted in the same way.  Each belongs to a group.  A group is a
// session too.  It has only objects, unless its digest is that of a session of turns.
//
// put() and put_objects() return at once and report later.  Every other call answers when it returns, and takes lists,
// so that a store across a network needs one round trip per call.  Callers that must not wait use a thread that may.
// Any thread may call any member.  The library reads no clock: the caller passes the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rondo/result.h"
#include "spans/hash.h"

namespace rondo::spans {

// A turn to be stored.
struct StoredTurn {
  Digest scope;
  Digest session;
  Digest turn;
  // A stored turn of the same session; nullopt: the record needs no parent.
  std::optional<Digest> parent;
  std::vector<Digest> hashes;  // the hashes that find it
  std::string record;
  std::string name;          // the session's name, for people; set by the session's first turn
  std::int64_t time_ms = 0;  // milliseconds since 1970
};

// Bytes to be stored.
struct StoredObject {
  Digest scope;
  Digest object;
  Digest group;  // for a single object: its own digest
  std::string bytes;
  std::int64_t time_ms = 0;
};

// A turn that has one of the requested hashes.
struct Hit {
  std::size_t hash = 0;  // index in the requested hashes
  Digest turn;
  Digest session;
  bool operator==(const Hit&) const = default;
};

// A requested turn.
struct Got {
  std::size_t turn = 0;  // index in the requested turns
  Digest session;
  std::string record;
};

struct SessionInfo {
  Digest session;
  std::string name;
  std::size_t turns = 0;
  std::size_t bytes = 0;  // size of the records and of their index entries
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
  std::uint64_t order = 0;  // grows with each session; pass the last one to get the next page
};

// How much a store may hold; 0: no limit.
struct Bounds {
  std::int64_t ttl_ms = 0;  // for a session, counted from its last turn
  std::size_t max_bytes = 0;
};

// The most turns with the same hash that find() returns, and the most ancestors that a turn may have.
inline constexpr std::size_t kMostHits = 8;
inline constexpr std::size_t kMostAncestors = 100'000;

class Store {
 public:
  using Kept = std::function<void(const Status&)>;

  virtual ~Store() = default;

  // Stores a turn.  `kept` may be empty.  It is called once, from any thread, possibly before this returns: as soon as
  // the turn survives a crash of the process, or with the error.  A turn that is already stored does not change and
  // counts as stored.  Fails with kNotFound if the parent is not in the session.
  virtual void put(StoredTurn turn, Kept kept) = 0;

  // Returns the record of a turn and those of its ancestors, parent first; nothing if `scope` does not have the turn.
  [[nodiscard]] virtual Result<std::vector<std::string>> lineage(const Digest& scope, const Digest& turn) = 0;

  // Returns the turns of `scope` with one of the hashes, hash by hash, and earliest of a session first.
  [[nodiscard]] virtual Result<std::vector<Hit>> find(const Digest& scope, std::span<const Digest> hashes) = 0;
  // Returns those of the turns that exist.
  [[nodiscard]] virtual Result<std::vector<Got>> get(const Digest& scope, std::span<const Digest> turns) = 0;

  // Returns the newest sessions first.  `after` is the order of the last known session; 0 for the first page.
  [[nodiscard]] virtual Result<std::vector<SessionInfo>> sessions(const Digest& scope, std::size_t limit,
                                                                  std::uint64_t after) = 0;
  // Returns the records of a session in the order in which they were put.
  [[nodiscard]] virtual Result<std::vector<std::string>> turns(const Digest& scope, const Digest& session) = 0;

  // Deletes a session with its turns and objects.  Returns false if it does not exist.
  [[nodiscard]] virtual Result<bool> erase(const Digest& scope, const Digest& session) = 0;

  // Stores all of the objects or none.  `kept` is as in put().  An existing object gets the new bytes and keeps its
  // place in its group.
  virtual void put_objects(std::vector<StoredObject> objects, Kept kept) = 0;
  // Returns the bytes of each object; nullopt if `scope` does not have it.
  [[nodiscard]] virtual Result<std::vector<std::optional<std::string>>> objects(const Digest& scope,
                                                                                std::span<const Digest> objects) = 0;
  // Returns the bytes of a group's objects in the order in which they were first put.
  [[nodiscard]] virtual Result<std::vector<std::string>> group(const Digest& scope, const Digest& group) = 0;
  // Deletes objects, and returns how many of them existed.  To delete a whole group, use erase().
  [[nodiscard]] virtual Result<std::size_t> erase_objects(const Digest& scope, std::span<const Digest> objects) = 0;

  // Deletes expired sessions, then the oldest ones until the rest fits.  Returns how many were deleted.
  [[nodiscard]] virtual Result<std::size_t> expire(std::int64_t now_ms, const Bounds& bounds) = 0;

  // Waits until everything that was put is stored or has failed.
  virtual void flush() = 0;
};

}  // namespace rondo::spans
