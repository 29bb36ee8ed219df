// Fleet: several servers of one model as one engine::Serving.
//
//   remote::Fleet fleet(loop, client, {first_info, second_info}, {});
//   auto running = fleet.submit(std::move(request), listener);
//
// cache/router.h chooses the replica: the one that is expected to hold the longest prefix of the request's ids, weighed
// against what runs and waits there.  Start and Usage report how much was expected.  Usage also has what the server
// says was cached, which corrects the next expectation.
//
// A replica has failed if it refuses the connection, answers with a fault, is silent for too long, or breaks off before
// its first id.  The request then goes to another replica, and the listener does not notice.  After the first id
// nothing is retried, because ids that were delivered stay.  A request that is itself at fault is not retried either.
// A failed replica is left out for a growing pause.  Then it is asked for its health and taken back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/router.h"
#include "engine/serving.h"
#include "net/client.h"
#include "net/loop.h"
#include "remote/adapter.h"
#include "remote/server_info.h"

namespace rondo::remote {

struct FleetOptions {
  cache::RouterOptions router{};
  std::size_t attempts = 3;                // the most replicas that are tried for one request
  net::Milliseconds first_token{600'000};  // a replica that has reported no id after this time has failed; 0: no limit
  net::Milliseconds health{5'000};         // for the answer to a health check
};

class Fleet final : public engine::Serving {
 public:
  // What happened to a replica.
  struct Report {
    std::string url;
    cache::Router::State state;
    bool is_out = false;
    std::string fault;                  // the last fault; "" if a request has succeeded since
    std::uint64_t requests = 0;         // how many were sent to it
    std::uint64_t expected_tokens = 0;  // sum over the answered requests
    std::uint64_t cached_tokens = 0;    // as reported by the server
  };

  // `loop` and `client` must outlive this.
  //
  // REQUIRES: at least one server.
  Fleet(net::Loop& loop, net::Client& client, std::vector<ServerInfo> servers, const FleetOptions& options);
  ~Fleet() override;

  // Returns what all of them can do; the number of parallel requests is their sum.
  [[nodiscard]] const engine::Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] std::unique_ptr<engine::Submission> submit(engine::Request request,
                                                           engine::Listener& listener) override;

  [[nodiscard]] std::size_t size() const { return replicas_.size(); }
  [[nodiscard]] Report report(std::size_t replica) const;

 private:
  friend class FleetRun;
  struct Replica {
    std::unique_ptr<Adapter> adapter;
    net::Timer check;
    std::unique_ptr<net::Call> health;
    std::string fault;
    std::uint64_t requests = 0;
    std::uint64_t expected_tokens = 0;
    std::uint64_t cached_tokens = 0;
  };

  [[nodiscard]] std::int64_t now_ms() const;
  void failed(std::size_t replica, const Error& error);  // the router already knows
  void ask_health(std::size_t replica);

  net::Loop& loop_;
  net::Client& client_;
  FleetOptions options_;
  engine::Capabilities capabilities_;
  cache::Router router_;
  std::vector<Replica> replicas_;
};

}  // namespace rondo::remote
