// The steps of a bridge, from a request that is prepared to what follows the old ids.
//
//   BridgeRequest --prepare()--> history, sampled turn, following messages
//     history, what was said, following --render_suffix()--> the render and where the turn closes in it    (suffix.h)
//     the sampled end, that close       --lead_of()-->       what closes the turn, if it was cut off       (ending.h)
//     both                              --append_turn()-->   ids, whose they are, notes
#pragma once

#include "render/bridge.h"
#include "render/ending.h"
#include "render/suffix.h"

namespace rondo::render {

// A request, checked and taken apart once for all steps.  It lends what the request does.
struct PreparedTurn {
  SampledTurn sampled;
  History history;
  Following following;
  ContentSpecials specials = ContentSpecials::kText;
};

// `request` must outlive the result.  Fails with kInvalidArgument where an assistant message is among the new ones and none is
// allowed.
[[nodiscard]] Result<PreparedTurn> prepare(const TurnProfile& profile, const BridgeRequest& request);

// append_turn() of a request that is prepared.  `plain`: how plain turns of the context's template end.
[[nodiscard]] Result<Appended> append_turn(const TurnContext& context, const PlainClose& plain,
                                           const PreparedTurn& turn, Encoded* described = nullptr);

}  // namespace rondo::render
