// Chooses the replica for a request.
//
//   Router router({});
//   const Router::Replica first = router.add({.capacity = 400'000, .block = 16});
//   auto choice = router.choose({.ids = prompt, .tenant = "t", .affinity = "session-7", .now_ms = now});
//   Router::Ticket ticket = router.begin(choice->replica, ask);   // the request is sent
//   router.progress(ticket, prompt);                              // its first token has come
//   router.end(std::move(ticket), prompt_and_completion, cached_tokens);
//
// The rule of Routing::kExact.  The cost of a replica, in ids, is the sum of
//
//   the ids of the prompt that it is not expected to hold,
//   the ids of other prompts that wait there to be computed,
//   running_cost for each request that runs there,
//   half of what it was recently given to compute beyond the mean of the replicas, in steps.
//
// The cheapest replica is taken; among equals the one that the affinity prefers, then the one with the least load.  The
// last term keeps a replica from getting every conversation that begins like those it holds, until it has room for none
// of them.  "Recently" is the time in which the fleet computes as much as it can hold.
//
// What a replica holds is estimated (cache/fleet_tree.h): what was sent to it, within its capacity.  Replies correct
// the estimate.  If a reply reports fewer cached ids than were known to be there, the missing ones were dropped, and so
// was everything last used before them.  Requests that are computed at the same time prove nothing: a prompt counts as
// known from its first token on.
//
// A replica that fails is left out for a pause, which doubles with each failure.  Then it gets one request per pause
// until one succeeds.  If all replicas are left out, the one whose pause ends first is taken.
//
// The other rules are for comparison; gateways that see only texts use them.  kTextHash sends texts with equal
// beginnings to the same replica, unless that replica has more than its share of the running requests.  kRoundRobin and
// kLeastLoad do what their names say.
//
// choose() takes some microseconds with 1,000 replicas and 30,000 ids (bench/router_bench.cpp).  It compares the prompt
// once with one tree for all replicas.  Then it looks at the holders, longest prefix first, until no other can be
// cheaper.  The caller passes the time.  Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/fleet_tree.h"

namespace rondo::cache {

enum class Routing : std::uint8_t { kExact, kTextHash, kRoundRobin, kLeastLoad };
inline constexpr std::array kRoutings = {Routing::kExact, Routing::kTextHash, Routing::kRoundRobin,
                                         Routing::kLeastLoad};
[[nodiscard]] std::string_view to_string(Routing routing);  // "exact", "text-hash", "round-robin", "least-load"
[[nodiscard]] std::optional<Routing> routing_of(std::string_view name);

struct RouterOptions {
  Routing routing = Routing::kExact;
  std::size_t running_cost = 256;  // ids, see above
  std::size_t hash_bytes = 1024;   // kTextHash: how much of the text is hashed
  double largest_share = 1.25;     // kTextHash: relative to the mean number of running requests
  std::int64_t first_pause_ms = 1000;
  std::int64_t longest_pause_ms = 60'000;
};

struct ReplicaFacts {
  std::size_t capacity = kUnlimited;  // how many ids its cache holds
  std::size_t block = 1;              // its cache knows whole blocks of this many ids; REQUIRES: not 0
};

class Router {
 public:
  using Replica = FleetTree::Replica;

  // A request that needs a replica.
  struct Ask {
    std::span<const TokenId> ids = {};
    std::string_view tenant = {};
    std::string_view affinity = {};  // the same for all requests of one session
    std::string_view text = {};      // kTextHash: the prompt; if it is empty, the ids are used
    std::int64_t now_ms = 0;
    std::span<const Replica> without = {};  // replicas that were already tried
  };

  struct Choice {
    Replica replica = 0;
    std::size_t expected = 0;  // how many leading ids the replica was given before and probably still holds
  };

  // A running request.  Return it exactly once, with end(), fail() or drop().
  struct Ticket {
    Replica replica = 0;
    std::string tenant = {};
    std::size_t prompt = 0;    // ids
    std::size_t expected = 0;  // as in Choice
    FleetTree::Insertion before = {};
    bool is_computed = false;
    bool is_trial = false;  // it tests whether a replica that had failed works again
  };

  struct State {
    std::size_t running = 0;
    std::size_t waiting = 0;   // ids that wait to be computed
    std::size_t excess = 0;    // the last term of the rule, in ids
    std::size_t held = 0;      // how many ids it holds
    std::size_t failures = 0;  // in a row
    std::int64_t left_out_until_ms = 0;
  };

  explicit Router(const RouterOptions& options) : options_(options) {}

  Replica add(const ReplicaFacts& facts);
  [[nodiscard]] std::size_t replicas() const { return replicas_.size(); }

  // Returns nullopt only if all replicas are in `without`.
  [[nodiscard]] std::optional<Choice> choose(const Ask& ask);

  // The request is sent to `replica`.
  [[nodiscard]] Ticket begin(Replica replica, const Ask& ask);
  // The request's prompt has been computed.  A second call does nothing.
  void progress(Ticket& ticket, std::span<const TokenId> prompt);
  // The request was answered.  `ids` are its prompt and what was sampled; the last id has not been computed.  `cached`
  // is how many ids the reply says were found in the cache, if it says so.
  void end(Ticket ticket, std::span<const TokenId> ids, std::optional<std::size_t> cached);
  // The replica failed.
  void fail(const Ticket& ticket, std::int64_t now_ms);
  // Does the same when the failure was noticed without a request.
  void fail(Replica replica, std::int64_t now_ms);
  // The request was given up, which says nothing about the replica.
  void drop(const Ticket& ticket);

  // The replica was seen to hold `ids`.
  void note(Replica replica, std::string_view tenant, std::span<const TokenId> ids);
  // Returns how many leading ids the replica is thought to hold.
  [[nodiscard]] std::size_t expected(Replica replica, std::string_view tenant, std::span<const TokenId> ids) const {
    return tree_.match(replica, tenant, ids);
  }

  // The replica seems to work: it may get one request, and more once that has succeeded.
  void readmit(Replica replica, std::int64_t now_ms);
  // The replica was restarted and holds nothing.
  void forget(Replica replica);
  // Returns whether the replica is left out.
  [[nodiscard]] bool is_out(Replica replica, std::int64_t now_ms) const;
  [[nodiscard]] State state(Replica replica) const;

 private:
  struct Entry {
    ReplicaFacts facts;
    std::size_t running = 0;
    std::size_t waiting = 0;
    double recent = 0;  // ids recently given to it to compute, in units of `unit_`
    std::size_t failures = 0;
    std::int64_t until_ms = 0;
  };
  struct Candidate {
    std::optional<Replica> replica;
    std::size_t expected = 0;
    std::size_t cost = 0;
  };

  [[nodiscard]] std::size_t excess(const Entry& entry) const;
  bool note_loads(const Ask& ask);
  [[nodiscard]] bool prefers(const Ask& ask, Replica a, Replica b) const;
  [[nodiscard]] Choice choose_exact(const Ask& ask);
  [[nodiscard]] Choice choose_least(const Ask& ask) const;
  [[nodiscard]] Choice choose_hash(const Ask& ask) const;
  [[nodiscard]] Choice choose_next() const;
  [[nodiscard]] std::int64_t pause_after(std::size_t failures) const;
  void note_work(Entry& entry, std::size_t ids);
  void leave(const Ticket& ticket);

  RouterOptions options_;
  FleetTree tree_;
  std::vector<Entry> replicas_;
  double window_ = 0;               // how many ids the fleet holds
  double unit_ = 1;                 // the weight of an id that is computed now; it grows, so that older ones count less
  double recent_total_ = 0;         // the sum over all replicas
  std::size_t turn_ = 0;            // for kRoundRobin
  std::vector<std::size_t> loads_;  // for the current request; kOut for a replica that must not be taken
  std::uint64_t affinity_key_ = 0;
  FleetTree::Path path_;
};

}  // namespace rondo::cache
