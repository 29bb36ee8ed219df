// From cases to findings: breaks of one cause are one finding.
#pragma once

#include "audit/report.h"

namespace rondo::audit {

// Appends to report.findings and report.notes what report.cases show, each cause once.  Cases that are inherent show nothing.
void add_findings(Report& report);

// Findings and notes, the worst first; of one level those with the most lost tokens.
void sort_findings(Report& report);

}  // namespace rondo::audit
