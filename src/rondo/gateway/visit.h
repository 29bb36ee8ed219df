// Visit: what the gateway knows about a request besides its content.  Private to gateway/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "net/loop.h"
#include "net/server.h"

namespace rondo::gateway {

// Belongs to the loop's thread.  What a worker finds out comes back with its result.
struct Visit final : net::RequestNote {
  std::string request_id;
  std::string tenant;  // the tenant whose key it has; "" if no keys are required
  net::Time began;
  net::Time asked;  // when a request that generates had come as a whole; its time limit counts from then

  // For requests that generate: values for the log and the metrics.
  std::string model;
  std::string how;
  std::optional<std::int64_t> prompt_tokens;
  std::optional<std::int64_t> cached_tokens;
  std::optional<std::int64_t> completion_tokens;
  std::optional<net::Time> first_token;
  std::optional<int> fault_status;  // of the fault with which a stream ended
};

// Returns the visit of a request that Service::admit() has seen; for any other request, a visit without a tenant.
[[nodiscard]] inline std::shared_ptr<Visit> visit_of(const net::ServerRequest& request) {
  auto visit = std::dynamic_pointer_cast<Visit>(request.note);
  return visit ? visit : std::make_shared<Visit>();
}

}  // namespace rondo::gateway
