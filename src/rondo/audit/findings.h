// Turns cases into findings: breaks with the same cause are one finding.
#pragma once

#include <string_view>

#include "report/report.h"

namespace rondo::audit {

// Adds the findings and notes that report.cases show, each cause once.  Inherent cases (report.h) give no finding.
void add_findings(report::Report& report);

// Returns a finding with only a rule and a level.
[[nodiscard]] report::Finding finding_of(std::string_view rule, report::Level level);

// Adds the finding to the findings or notes by its level, unless they already contain it, or a break of the same rule
// and line.
void add_finding(report::Report& report, report::Finding finding);

// Sorts findings and notes, worst level first; within a level, those with the most lost tokens first.
void sort_findings(report::Report& report);

}  // namespace rondo::audit
