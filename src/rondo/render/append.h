// The steps of a bridge: from a prepared request to the ids that follow the old ones.
//
//   BridgeRequest --prepare()--> history, sampled turn, following messages
//     history, completion, following --render_suffix()--> a render, and where the turn closes in it        (suffix.h)
//     the sampled end, that close    --lead_of()-->       what closes the turn, if it was cut off          (ending.h)
//     both                           --append_turn()-->   ids, their owners, notes
#pragma once

#include "render/bridge.h"
#include "render/ending.h"
#include "render/suffix.h"

namespace rondo::render {

// A request, checked and split once for all steps.  Everything that the request borrows must outlive it.
struct PreparedTurn {
  SampledTurn sampled;
  History history;
  Following following;
  ContentSpecials specials = ContentSpecials::kText;
};

// Checks and splits `request`, which must outlive the result.  Fails with kInvalidArgument if the new messages contain
// an assistant message and the request allows none.
[[nodiscard]] Result<PreparedTurn> prepare(const TurnProfile& profile, const BridgeRequest& request);

// Does append_turn() for a prepared request.  `plain` says how plain turns of the context's template end.
[[nodiscard]] Result<Appended> append_turn(const TurnContext& context, const PlainClose& plain,
                                           const PreparedTurn& turn, Encoded* described = nullptr);

}  // namespace rondo::render
