// Text inside pages for the browser.
#pragma once

#include <string>
#include <string_view>

namespace rondo::api {

// `text` so that nothing in it is markup, in elements and in quoted attributes.  The ends of lines are marked, controls become
// their pictures.
[[nodiscard]] std::string html_text(std::string_view text);

}  // namespace rondo::api
