// Passes requests on to an engine that serves the same API.  Private to gateway/.
//
// Token ids cannot carry images.  An engine that has the API itself can: it gets the request's own body, and its answer
// is sent back, also as a stream.  No turn of it is kept, because its ids are unknown.
#pragma once

#include <memory>
#include <string>

#include "gateway/reply_sink.h"
#include "gateway/state.h"

namespace rondo::gateway {

// Returns whether the request goes to the engine's own API.
[[nodiscard]] inline bool is_passed(const ReadRequest& read) { return !read.passed_body.empty(); }

// Returns the request's body with everything resolved, as the engine gets it.
[[nodiscard]] std::string passed_body(const ReadRequest& read, bool is_told, json::Value body);

// Passes the request on, and its answer back byte by byte.
//
// REQUIRES: is_passed().
void pass_on(const std::shared_ptr<Service::State>& state, ReadRequest read, net::Exchange exchange);
// Passes on a request of the Responses API.  The reply gets an id of the gateway and takes the normal way of replies.
// The engine stores nothing, so the content of earlier responses is put into the request.
//
// REQUIRES: is_passed().
void pass_response(const std::shared_ptr<Service::State>& state, ReadRequest read, std::shared_ptr<ReplySink> sink);

}  // namespace rondo::gateway
