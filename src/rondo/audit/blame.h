// Why a prefix broke: which place of the template, and what it did to which field.
//
// The differing byte has an origin on both sides.  What wrote it there and here, what was cut off the fields of the turn,
// which conditions went another way, and which statements stand around all that, say the cause.
#pragma once

#include "audit/play.h"
#include "audit/report.h"

namespace rondo::audit {

// The break of `played.broken`, without remedies.  REQUIRES: played.broken.
[[nodiscard]] Break find_break(const Stage& stage, const Scenario& scenario, const Played& played);

}  // namespace rondo::audit
