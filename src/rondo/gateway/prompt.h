// Makes the prompt of a request.  Private to gateway/.
#pragma once

#include "gateway/state.h"
#include "spans/planner.h"

namespace rondo::gateway {

struct Prompt {
  AskedCall asked;  // has only the last message; the plan has all of them
  spans::Plan plan;
  bool is_cut = false;  // the request limits the prompt, so ids of the conversation are missing
};

// Plans the prompt, from kept turns too; those of the session that the request names come first.  A Responses request
// with `truncation: "auto"` loses its oldest messages if the prompt is too long for the engine, and gets a warning.
[[nodiscard]] apis::Outcome<Prompt> make_prompt(Service::State& state, ReadRequest& read, const spans::Scope& scope);

}  // namespace rondo::gateway
