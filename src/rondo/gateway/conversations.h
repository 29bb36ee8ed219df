// The addresses of the Conversations API.  Private to gateway/.
#pragma once

#include "gateway/state.h"

namespace rondo::gateway {

// On a worker.  `POST /v1/conversations`:
[[nodiscard]] Answer create_conversation(Service::State& state, const net::ServerRequest& http);
// `/v1/conversations/ID` and what is below it, where the routes (service.cpp) let it through:
[[nodiscard]] Answer answer_conversation(Service::State& state, const net::ServerRequest& http);

}  // namespace rondo::gateway
