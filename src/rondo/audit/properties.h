// Properties of a template that no break shows: what it does to parts, arguments, tools, dates, unusual conversations.
//
// Each is read off a few small renders, and each finding carries its proof: what was sent, and what was written for it.
#pragma once

#include "audit/context.h"
#include "report/report.h"

namespace rondo::audit {

// Adds warnings and errors to report.findings, and notes to report.notes.  What report.findings already says of the same
// rule and line is not said again.  Where a small conversation exceeds the limits of a render, that is the one finding.
void find_properties(const AuditContext& context, report::Report& report);

}  // namespace rondo::audit
