// A report as the XML that servers of continuous integration show as test results.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "report/summary.h"

namespace rondo::report {

// A test suite for each report, in it a test case for each conversation and each finding.  What is at or above `fail_on`
// fails; without it nothing does.  A model that could not be checked is an error.  What breaks under any template is skipped, as is what does not apply.  The text is
// well-formed XML 1.0 whatever the reports hold: characters that XML cannot say become pictures of them, or U+FFFD.
[[nodiscard]] std::string to_junit(std::span<const Report> reports, std::span<const Unchecked> unchecked,
                                   std::optional<Level> fail_on);

}  // namespace rondo::report
