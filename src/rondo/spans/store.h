// Where turns are kept, and what else a gateway must not lose.
//
// A store knows turns by digests alone, which a Scope has made: it cannot tell whose they are, and need not.  Turns are filed
// under sessions; a session is the unit in which turns are forgotten, so a turn never outlives the turns that it goes on from.
//
// Objects are bytes that are kept beside turns, and forgotten as they are: each is filed under a group, which is a session
// too (one with objects alone, unless its digest is a session's of turns).
//
// put() and put_objects() return at once and tell later; everything else answers when it returns, and takes lists, so that a store behind a
// network needs one round trip for each call.  Callers who must not wait call from a thread that may.  Any thread may call any
// member.  The library reads no clock: whoever calls says what time it is.
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

// A turn on its way into a store.
struct StoredTurn {
  Digest scope;
  Digest session;
  Digest turn;
  // In the same session, and stored before; nullopt: the record stands for itself.
  std::optional<Digest> parent;
  std::vector<Digest> hashes;  // by which it is found
  std::string record;
  std::string name;          // of the session, for people; the first one counts
  std::int64_t time_ms = 0;  // milliseconds since 1970
};

// Bytes on their way into a store.
struct StoredObject {
  Digest scope;
  Digest object;
  Digest group;  // of a lone object its own digest
  std::string bytes;
  std::int64_t time_ms = 0;
};

// A turn that has one of the hashes that were asked for.
struct Hit {
  std::size_t hash = 0;  // index into the hashes
  Digest turn;
  Digest session;
  bool operator==(const Hit&) const = default;
};

// A turn that was asked for.
struct Got {
  std::size_t turn = 0;  // index into the turns
  Digest session;
  std::string record;
};

struct SessionInfo {
  Digest session;
  std::string name;
  std::size_t turns = 0;
  std::size_t bytes = 0;  // of records and what leads to them
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
  std::uint64_t order = 0;  // grows with each session; what a list goes on behind
};

// What a store may hold; 0: no bound.
struct Bounds {
  std::int64_t ttl_ms = 0;  // of a session, from its last turn on
  std::size_t max_bytes = 0;
};

// How many turns with the same hash find() tells of, and how many ancestors a turn may have.
inline constexpr std::size_t kMostHits = 8;
inline constexpr std::size_t kMostAncestors = 100'000;

class Store {
 public:
  using Kept = std::function<void(const Status&)>;

  virtual ~Store() = default;

  // `kept`, which may be empty, is called once, from any thread, also before this returns: once the turn outlives a crash of
  // the process, or with what failed.  A turn that is there already stays as it is, and counts as kept.  Fails with kNotFound
  // where the parent is not in the session.
  virtual void put(StoredTurn turn, Kept kept) = 0;

  // The record of a turn and those of its ancestors, the parent next; empty where `scope` has no such turn.
  [[nodiscard]] virtual Result<std::vector<std::string>> lineage(const Digest& scope, const Digest& turn) = 0;

  // The turns of `scope` that were put with one of the hashes: hash by hash, the earliest of its session first.
  [[nodiscard]] virtual Result<std::vector<Hit>> find(const Digest& scope, std::span<const Digest> hashes) = 0;
  // Those of the turns that are there.
  [[nodiscard]] virtual Result<std::vector<Got>> get(const Digest& scope, std::span<const Digest> turns) = 0;

  // The newest first; `after`: the order of the last that is known, 0 for the first page.
  [[nodiscard]] virtual Result<std::vector<SessionInfo>> sessions(const Digest& scope, std::size_t limit,
                                                                  std::uint64_t after) = 0;
  // The records of a session, in the order in which they were put.
  [[nodiscard]] virtual Result<std::vector<std::string>> turns(const Digest& scope, const Digest& session) = 0;

  // With its turns and objects.  False: there is no such session.
  [[nodiscard]] virtual Result<bool> erase(const Digest& scope, const Digest& session) = 0;

  // Keeps all of them or none; `kept` as for put().  An object that is there already gets the new bytes, and stays where it is
  // in its group.
  virtual void put_objects(std::vector<StoredObject> objects, Kept kept) = 0;
  // The bytes of each; nullopt where `scope` has no such object.
  [[nodiscard]] virtual Result<std::vector<std::optional<std::string>>> objects(const Digest& scope,
                                                                                std::span<const Digest> objects) = 0;
  // The bytes of a group's objects, in the order in which they were put first.
  [[nodiscard]] virtual Result<std::vector<std::string>> group(const Digest& scope, const Digest& group) = 0;
  // How many of them were there.  A whole group is forgotten by erase().
  [[nodiscard]] virtual Result<std::size_t> erase_objects(const Digest& scope, std::span<const Digest> objects) = 0;

  // Forgets sessions that have outlived their time, then the oldest until the rest fits; how many.
  [[nodiscard]] virtual Result<std::size_t> expire(std::int64_t now_ms, const Bounds& bounds) = 0;

  // Waits until everything that was put is kept, or has failed.
  virtual void flush() = 0;
};

}  // namespace rondo::spans
