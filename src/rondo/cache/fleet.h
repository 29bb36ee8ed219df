// Simulates many replicas that serve a log of requests, which a router distributes by a rule.  Tells what each request
// finds in the cache of its replica.
//
//   Fleet fleet({.replicas = 16, .capacity = 400'000}, Routing::kExact);
//   Fleet::Served served = fleet.serve({.ids = prompt, .text = text});
//   fleet.add(served.place, prompt_and_completion);
//
// Time is counted in requests.  At any time `concurrency` requests run.  Each ends when that many others have come, or
// when its conversation continues.  The prompts of the latest quarter wait to be computed.  A replica finds whole
// blocks of what was sent to it, within its capacity.  Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cache/router.h"

namespace rondo::cache {

struct FleetOptions {
  std::size_t replicas = 1;
  std::size_t capacity = kUnlimited;  // how many ids each replica holds
  std::size_t block = 16;             // REQUIRES: not 0
  std::size_t concurrency = 0;        // 0: four per replica
  [[nodiscard]] std::size_t at_once() const { return concurrency == 0 ? 4 * replicas : concurrency; }
};

class Fleet {
 public:
  // Where a request was served.
  struct Place {
    Router::Replica replica = 0;
    std::uint64_t request = 0;
  };
  struct Query {
    std::span<const TokenId> ids = {};
    std::string_view text = {};        // the prompt as text
    std::string_view affinity = {};    // names the conversation
    std::optional<Place> parent = {};  // the request that this one continues
  };
  struct Served {
    Place place;
    std::size_t hit = 0;  // how many ids were found
  };

  Fleet(const FleetOptions& options, Routing routing);

  Served serve(const Query& query);
  // Keeps a prompt and what was sampled after it.  The first `known` ids were known before; if the replica has dropped
  // some of them since, nothing is kept.
  void add(const Place& place, std::span<const TokenId> ids, std::size_t known = 0);

  // Returns how many ids each replica has computed.
  [[nodiscard]] const std::vector<std::uint64_t>& computed() const { return computed_; }

 private:
  void finish(std::uint64_t request);

  FleetOptions options_;
  Router router_;
  std::deque<std::optional<Router::Ticket>> running_;  // by request, from first_ on; nullopt: it has ended
  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> computed_;
};

}  // namespace rondo::cache
