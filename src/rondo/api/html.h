// Text inside pages for the browser.
#pragma once

#include <string>
#include <string_view>

namespace rondo::api {

// `text` so that nothing in it is markup, in elements and in quoted attributes.  The ends of lines are marked, controls become
// their pictures.
[[nodiscard]] std::string html_text(std::string_view text);

// The beginning of a page, up to the body's first element.  The page may load and run nothing.
[[nodiscard]] std::string html_head(std::string_view title, std::string_view style);

}  // namespace rondo::api
