// What check, diff, replay and the bridge say of one break: whether they name the same cause, line and field.
//
// An event is a scenario of the audit, played up to the turn that the next prompt writes otherwise.  diff and replay see
// messages only: they take part where the turn was sampled as they must think.  The bridge tells what the template
// changes of its own writing: it takes part where the turn was written so while it was the last one.
#pragma once

#include <string>

#include "audit/play.h"
#include "audit/scenarios.h"
#include "audit/subject.h"
#include "causes/cause.h"

namespace rondo::test {

struct AgreementCounts {
  std::size_t events = 0;
  std::size_t compared = 0;
  std::size_t differing = 0;
  std::size_t told_by_all = 0;  // events that check, diff, replay and the bridge or its comparison told
};

// Whether a turn of the scenario broke, and can be compared: the next prompt was not refused.
[[nodiscard]] bool is_event(const audit::Played& played);

// Compares what the four say of an event with what check says of it, which is returned.  Each difference is a message of
// the test that runs, with `name`.
causes::Cause compare_tellers(const audit::Subject& subject, const audit::Stage& stage, const audit::Played& played,
                              const std::string& name, AgreementCounts& counts);

}  // namespace rondo::test
