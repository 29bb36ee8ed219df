// A request that is passed on as it is, to an engine that serves the same API.  Private to gateway/.
//
// Token ids can't carry images.  An engine that has the API itself can: it is given the request's own body, and what it answers
// is the answer, a stream too.  Nothing of it is kept: its ids are not known.
#pragma once

#include <memory>

#include "gateway/state.h"

namespace rondo::gateway {

// REQUIRES: the model has an upstream, and the request a body for it.
void pass_on(const std::shared_ptr<Service::State>& state, ReadRequest read, net::Exchange exchange);

}  // namespace rondo::gateway
