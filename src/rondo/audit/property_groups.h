// The groups of properties, one file each, and what all of them use: trials, places, proofs and findings.  Internal to
// audit/.
#pragma once

#include "audit/findings.h"
#include "audit/proofs.h"
#include "audit/trials.h"
#include "causes/places.h"

namespace rondo::audit {

void find_control_text(const Trials& trials, report::Report& report);
void find_part_differences(const Trials& trials, report::Report& report);
void find_argument_losses(const Trials& trials, report::Report& report);
void find_close_faults(const Trials& trials, report::Report& report);
void find_tool_losses(const Trials& trials, report::Report& report);
void find_result_losses(const Trials& trials, report::Report& report);
void find_bare_quotes(const Trials& trials, report::Report& report);
void find_clock(const Trials& trials, report::Report& report);
void find_refusals(const Trials& trials, report::Report& report);
void find_strict_differences(const Trials& trials, report::Report& report);
void find_generation_differences(const Trials& trials, report::Report& report);
void find_grammar_gaps(const Trials& trials, report::Report& report);
void find_engine_differences(const Trials& trials, report::Report& report);

}  // namespace rondo::audit
