// The Responses API over a WebSocket.  Private to gateway/.
//
// The client sends `response.create` with the body of a request, and gets each event of the stream as a message.  A
// message may name a lane with `stream_id`.  Requests of one lane run one after another; lanes run side by side.  The
// latest response of each lane is remembered, stored or not, so that the next request can continue it.
#pragma once

#include "gateway/state.h"

namespace rondo::gateway {

// Answers `GET /v1/responses` with an upgrade.
void open_response_socket(Service::State& state, net::Exchange exchange);

}  // namespace rondo::gateway
