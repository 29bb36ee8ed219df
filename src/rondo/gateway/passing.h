// Requests that are passed on to an engine that serves the same API.  Private to gateway/.
//
// Token ids can't carry images.  An engine that has the API itself can: it is given the request's own body, and what it answers
// is the answer, a stream too.  No turn is kept of it: its ids are not known.
#pragma once

#include <memory>
#include <string>

#include "gateway/reply_sink.h"
#include "gateway/state.h"

namespace rondo::gateway {

// Whether the request is one for the engine's own API.
[[nodiscard]] inline bool is_passed(const ReadRequest& read) { return !read.passed_body.empty(); }

// The request's body, resolved, as the engine gets it.
[[nodiscard]] std::string passed_body(const ReadRequest& read, bool is_told, json::Value body);

// As it is, byte by byte.  REQUIRES: is_passed().
void pass_on(const std::shared_ptr<Service::State>& state, ReadRequest read, net::Exchange exchange);
// A request of the Responses API: the reply gets an id of the gateway's own and goes where all replies go.  The engine keeps
// nothing: what earlier responses hold is put into the request.  REQUIRES: is_passed().
void pass_response(const std::shared_ptr<Service::State>& state, ReadRequest read, std::shared_ptr<ReplySink> sink);

}  // namespace rondo::gateway
