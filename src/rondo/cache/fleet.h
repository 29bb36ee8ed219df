// A log of requests served by many simulated replicas, which share it as a router's rule says: what each of them finds
// in its cache.
//
//   Fleet fleet({.replicas = 16, .capacity = 400'000}, Routing::kExact);
//   Fleet::Served served = fleet.serve({.ids = prompt, .text = text});
//   fleet.add(served.place, prompt_and_completion);
//
// Time is counted in requests: `concurrency` of them run at once, each until that many others have come or its
// conversation goes on, and the prompts of the latest quarter wait to be computed.  A replica finds whole blocks of
// what it was sent, within its capacity.  Not thread-safe.
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
  std::size_t capacity = kUnlimited;  // ids that each holds
  std::size_t block = 16;             // REQUIRES: not 0
  std::size_t concurrency = 0;        // 0: four for each replica
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
    std::string_view text = {};        // of the prompt
    std::string_view affinity = {};    // of the conversation
    std::optional<Place> parent = {};  // the request that this one goes on from
  };
  struct Served {
    Place place;
    std::size_t hit = 0;  // ids found
  };

  Fleet(const FleetOptions& options, Routing routing);

  Served serve(const Query& query);
  // A prompt with what was sampled behind it, which is as old as `known`: where the replica has forgotten of its first
  // `known` ids, nothing is kept.
  void add(const Place& place, std::span<const TokenId> ids, std::size_t known = 0);

  // Ids that each replica computed.
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
