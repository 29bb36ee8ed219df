// The source of the pages of page.h and check_page.h: the files in files/, embedded.  Internal to pages/.
#pragma once

#include <string_view>

namespace rondo::pages {

[[nodiscard]] std::string_view page_html();
[[nodiscard]] std::string_view page_css();
[[nodiscard]] std::string_view page_js();
[[nodiscard]] std::string_view check_css();
[[nodiscard]] std::string_view check_js();

}  // namespace rondo::pages
