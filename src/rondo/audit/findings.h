// From cases to findings: breaks of one cause are one finding.
#pragma once

#include <string_view>

#include "report/report.h"

namespace rondo::audit {

// Appends to report.findings and report.notes what report.cases show, each cause once.  Cases that are inherent show nothing.
void add_findings(report::Report& report);

// With a rule and a level, and nothing else yet.
[[nodiscard]] report::Finding finding_of(std::string_view rule, report::Level level);

// Adds it to findings or notes by its level, unless they have it, or a break of the same rule and line.
void add_finding(report::Report& report, report::Finding finding);

// Findings and notes, the worst first; of one level those with the most lost tokens.
void sort_findings(report::Report& report);

}  // namespace rondo::audit
