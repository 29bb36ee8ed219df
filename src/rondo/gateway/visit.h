// Visit: what the gateway knows of a request besides what it says.  Private to gateway/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "net/loop.h"
#include "net/server.h"

namespace rondo::gateway {

// Of its loop's thread; what a worker finds out comes back with its result.
struct Visit final : net::RequestNote {
  std::string request_id;
  std::string tenant;  // whose key it has; "" where no keys are asked for
  net::Time began;

  // Of requests that generate, for the log and the metrics.
  std::string model;
  std::string how;
  std::optional<std::int64_t> prompt_tokens;
  std::optional<std::int64_t> cached_tokens;
  std::optional<std::int64_t> completion_tokens;
  std::optional<net::Time> first_token;
};

// That of a request which Service::admit() has seen; of another one a visit that is nobody's.
[[nodiscard]] inline std::shared_ptr<Visit> visit_of(const net::ServerRequest& request) {
  auto visit = std::dynamic_pointer_cast<Visit>(request.note);
  return visit ? visit : std::make_shared<Visit>();
}

}  // namespace rondo::gateway
