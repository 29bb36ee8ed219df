// The endpoints of the Conversations API.  Private to gateway/.
#pragma once

#include "gateway/state.h"

namespace rondo::gateway {

// Answers `POST /v1/conversations`.  Runs on a worker.
[[nodiscard]] Answer create_conversation(Service::State& state, const net::ServerRequest& http);
// Answers `/v1/conversations/ID` and the paths below it that the routes (service.cpp) allow.  Runs on a worker.
[[nodiscard]] Answer answer_conversation(Service::State& state, const net::ServerRequest& http);

}  // namespace rondo::gateway
