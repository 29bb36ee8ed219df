// A prompt as a page for the browser: coloured by owner, beside the template that wrote it.
#pragma once

#include <string>

#include "json/value.h"

namespace rondo::pages {

// Returns a self-contained HTML document that shows `reply`, a reply of the operation `render` with `text` and `trace`
// (RunOptions::trace).  It loads nothing, and nothing in the prompt or the template becomes markup.
[[nodiscard]] std::string trace_page(const json::Value& reply);

}  // namespace rondo::pages
