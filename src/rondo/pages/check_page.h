// The results of checks of chat templates, as a page for the browser.
#pragma once

#include <span>
#include <string>

#include "report/summary.h"

namespace rondo::pages {

// Returns a self-contained HTML document.  For each report it shows the findings, the conversations by setting with
// what each broke, and the template with the lines to blame; it also shows what could not be checked.  It loads
// nothing, and nothing in a report becomes markup.  All of it can be read without scripts, which only add filters,
// keyboard navigation in the table, and links between a finding and its line.
[[nodiscard]] std::string check_page(std::span<const report::Report> reports,
                                     std::span<const report::Unchecked> unchecked);

}  // namespace rondo::pages
