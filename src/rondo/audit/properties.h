// Properties of a template that no break shows: what it does with parts, arguments, tools, dates, unusual
// conversations.
//
// Each comes from a few small renders, and each finding has its proof: what was sent, and what was written for it.
#pragma once

#include "audit/context.h"
#include "report/report.h"

namespace rondo::audit {

// Adds warnings and errors to report.findings, and notes to report.notes, unless report.findings already contains the
// same rule and line.  If a small conversation exceeds the limits of a render, that is the only finding.
void find_properties(const AuditContext& context, report::Report& report);

}  // namespace rondo::audit
