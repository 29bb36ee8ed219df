// The endpoints below `/rondo/v1/sessions`, which show what is stored.  Private to gateway/.
#pragma once

#include "gateway/state.h"

namespace rondo::gateway {

// REQUIRES: the address and method are among those that the routes (service.cpp) allow.
[[nodiscard]] net::Reply sessions_reply(Service::State& state, const net::ServerRequest& http);

}  // namespace rondo::gateway
