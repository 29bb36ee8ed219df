// Fleet: several servers of one model as one engine::Serving.
//
//   remote::Fleet fleet(loop, client, {first_info, second_info}, {});
//   auto running = fleet.submit(std::move(request), listener);
//
// A request goes where cache/router.h says: to the replica that is expected to hold the longest prefix of its ids,
// weighed against what runs and waits there.  Start and Usage say how much was expected; Usage has beside it what the
// server says was cached, which corrects what is expected next time.
//
// A replica that refuses the connection, answers with a fault, is silent for too long or breaks off before its first id
// has failed: the request goes to another one, and the listener hears nothing of it.  Behind the first id nothing is
// tried again: ids that were handed out stay.  A request that is itself at fault is not tried again either.  A replica
// that failed is left out for a growing pause; at its end it is asked for its health, and taken back.
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
  std::size_t attempts = 3;                // replicas that a request is tried on, at most
  net::Milliseconds first_token{600'000};  // a replica that has told no id by then has failed; 0: it never has
  net::Milliseconds health{5'000};         // for an answer on its health
};

class Fleet final : public engine::Serving {
 public:
  // What became of a replica.
  struct Report {
    std::string url;
    cache::Router::State state;
    bool is_out = false;
    std::string fault;                  // the last one, "" if a request has succeeded since
    std::uint64_t requests = 0;         // that were sent there
    std::uint64_t expected_tokens = 0;  // of those that were answered
    std::uint64_t cached_tokens = 0;    // as it says
  };

  // `loop` and `client` must outlive this.  REQUIRES: one server at least.
  Fleet(net::Loop& loop, net::Client& client, std::vector<ServerInfo> servers, const FleetOptions& options);
  ~Fleet() override;

  // What all of them can; as many requests in parallel as all together.
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
  void failed(std::size_t replica, const Error& error);  // the router knows already
  void ask_health(std::size_t replica);

  net::Loop& loop_;
  net::Client& client_;
  FleetOptions options_;
  engine::Capabilities capabilities_;
  cache::Router router_;
  std::vector<Replica> replicas_;
};

}  // namespace rondo::remote
