// What is kept, as the addresses below `/rondo/v1/sessions` show it.  Private to gateway/.
#pragma once

#include "gateway/state.h"

namespace rondo::gateway {

// The routes (service.cpp) let only addresses and methods through that there are.
[[nodiscard]] net::Reply sessions_reply(Service::State& state, const net::ServerRequest& http);

}  // namespace rondo::gateway
