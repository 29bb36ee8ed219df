// The addresses of the Conversations API.  Private to gateway/.
#pragma once

#include "gateway/state.h"

namespace rondo::gateway {

// `POST /v1/conversations`.
void create_conversation(Service::State& state, net::Exchange exchange);
// `/v1/conversations/ID` and what is below it.
void answer_conversation(Service::State& state, net::Exchange exchange);

}  // namespace rondo::gateway
