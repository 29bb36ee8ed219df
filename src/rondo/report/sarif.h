// A report in SARIF 2.1.0, the format in which editors and code hosts take findings of static analysis.
#pragma once

#include <span>
#include <string>

#include "json/value.h"
#include "report/summary.h"

namespace rondo::report {

// Returns a log of one run with all findings and notes.  `version` is the program's version.  Each result has its place
// in the template's file.  If the template is a string in another file, the result has that file without a line, and
// the line of the template as a logical location.  Fingerprints depend on the rule, the file and the text of the line,
// so they stay the same when lines move.  Models that could not be checked become notifications of a run that did not
// succeed.
[[nodiscard]] json::Value to_sarif(std::span<const Report> reports, std::span<const Unchecked> unchecked,
                                   const std::string& version);

}  // namespace rondo::report
