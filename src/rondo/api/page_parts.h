// The source of the page of page.h: the files in page/, embedded.  Internal to api/.
#pragma once

#include <string_view>

namespace rondo::api {

[[nodiscard]] std::string_view page_html();
[[nodiscard]] std::string_view page_css();
[[nodiscard]] std::string_view page_js();

}  // namespace rondo::api
