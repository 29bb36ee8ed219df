// The addresses of the Responses API.  Private to gateway/.
#pragma once

#include "gateway/keeping.h"
#include "gateway/state.h"

namespace rondo::gateway {

// `POST /v1/responses`.
void create_response(Service::State& state, net::Exchange exchange);
// `POST /v1/responses/compact`.
void compact_responses(Service::State& state, net::Exchange exchange);
// `/v1/responses/ID` and what is below it.
void answer_response(Service::State& state, net::Exchange exchange);

// The outlet behind which a reply of the Responses API is kept, if it is to be.
[[nodiscard]] std::shared_ptr<Outlet> kept(const std::shared_ptr<Service::State>& state, const ReadRequest& read,
                                           std::shared_ptr<Outlet> to);

// A page of items, as an address's query asks for it.
void answer_page(const json::Array& items, net::Exchange exchange);

}  // namespace rondo::gateway
