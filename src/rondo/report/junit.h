// Writes a report as the XML in which servers for continuous integration show test results.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "report/summary.h"

namespace rondo::report {

// Makes a test suite for each report, with a test case for each conversation and each finding.  What is at or above
// `fail_on` fails; without `fail_on`, nothing fails.  A model that could not be checked is an error.  Breaks that occur
// under any template, and checks that do not apply, are skipped.  The text is well-formed XML 1.0 whatever the reports
// contain: characters that XML does not allow become visible symbols for them, or U+FFFD.
[[nodiscard]] std::string to_junit(std::span<const Report> reports, std::span<const Unchecked> unchecked,
                                   std::optional<Level> fail_on);

}  // namespace rondo::report
