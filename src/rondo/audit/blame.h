// Finds why the prefix of a played conversation broke: the cause (causes/find.h), with the text and tokens around it.
#pragma once

#include "audit/play.h"
#include "report/report.h"

namespace rondo::audit {

// Returns the break of `played.broken`, without remedies.
//
// REQUIRES: played.broken is set.
[[nodiscard]] report::Break find_break(const Stage& stage, const Played& played);

}  // namespace rondo::audit
