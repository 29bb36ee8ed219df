// A format and the template lines that it comes from, as a page for the browser.
#pragma once

#include <string>

#include "json/value.h"

namespace rondo::pages {

// Returns a self-contained HTML document that shows `reply`, a reply of the operation `explain`.  It loads nothing and
// needs no script; nothing in the template becomes markup.
[[nodiscard]] std::string explain_page(const json::Value& reply);

}  // namespace rondo::pages
