// The sources of the pages in page.h, check_page.h and serve_page.h: the files in files/, embedded.  Internal to
// pages/.
#pragma once

#include <string_view>

namespace rondo::pages {

[[nodiscard]] std::string_view page_html();
[[nodiscard]] std::string_view page_css();
[[nodiscard]] std::string_view page_js();
[[nodiscard]] std::string_view check_css();
[[nodiscard]] std::string_view check_js();
[[nodiscard]] std::string_view serve_html();
[[nodiscard]] std::string_view serve_css();
[[nodiscard]] std::string_view serve_js();
[[nodiscard]] std::string_view serve_turns_js();
[[nodiscard]] std::string_view serve_chat_js();

}  // namespace rondo::pages
