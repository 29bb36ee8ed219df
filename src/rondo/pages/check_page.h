// What checks of chat templates found, as a page for the browser.
#pragma once

#include <span>
#include <string>

#include "report/summary.h"

namespace rondo::pages {

// A self-contained HTML document: of each report the findings, the conversations by setting with what each broke, and the
// template with the lines to blame; and what could not be checked.  It loads nothing, and nothing in a report becomes markup.  Without scripts all of it
// can be read; they add filters, the keys of the table and the ways between a finding and its line.
[[nodiscard]] std::string check_page(std::span<const report::Report> reports,
                                     std::span<const report::Unchecked> unchecked);

}  // namespace rondo::pages
