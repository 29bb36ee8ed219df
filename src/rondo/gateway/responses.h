// The addresses of the Responses API.  Private to gateway/.
#pragma once

#include "gateway/keeping.h"
#include "gateway/state.h"

namespace rondo::gateway {

// Where a reply of the Responses API goes on its way to `to`: into the store, if it is to be kept, and into the background.
[[nodiscard]] std::shared_ptr<ReplySink> response_sink(Service::State& state, const ReadRequest& read,
                                                       std::shared_ptr<ReplySink> to);

// `POST /v1/responses/compact`.
void compact_responses(Service::State& state, net::Exchange exchange);
// `/v1/responses/ID` and what is below it, where the routes (service.cpp) let it through.  On a worker.
[[nodiscard]] Answer answer_response(Service::State& state, const net::ServerRequest& http);

// A page of items, as an address's query asks for it.
[[nodiscard]] net::Reply page_reply(const json::Array& items, const net::ServerRequest& http);

}  // namespace rondo::gateway
