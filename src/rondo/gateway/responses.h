// The endpoints of the Responses API.  Private to gateway/.
#pragma once

#include "gateway/keeping.h"
#include "gateway/state.h"

namespace rondo::gateway {

// Returns the sink for a reply of the Responses API.  It stores the reply if it is to be kept, runs it in the
// background if asked to, and sends it to `to`.
[[nodiscard]] std::shared_ptr<ReplySink> response_sink(Service::State& state, const ReadRequest& read,
                                                       std::shared_ptr<ReplySink> to);

// Answers `POST /v1/responses/compact`.
void compact_responses(Service::State& state, net::Exchange exchange);
// Answers `/v1/responses/ID` and the paths below it that the routes (service.cpp) allow.  Runs on a worker.
[[nodiscard]] Answer answer_response(Service::State& state, const net::ServerRequest& http);

// Returns the page of `items` that the query of the address asks for, with what its `include` names.
[[nodiscard]] net::Reply page_reply(json::Array items, const net::ServerRequest& http);

}  // namespace rondo::gateway
