// The Responses API over a WebSocket.  Private to gateway/.
//
// The client sends `response.create` with the body of a request; the events of its stream come back, each as a message.  A
// message may name a lane with `stream_id`: the requests of one lane follow each other, those of several run side by side.
// The latest response of each lane is remembered, stored or not, so that the next request can go on from it.
#pragma once

#include "gateway/state.h"

namespace rondo::gateway {

// `GET /v1/responses` with an upgrade.
void open_response_socket(Service::State& state, net::Exchange exchange);

}  // namespace rondo::gateway
