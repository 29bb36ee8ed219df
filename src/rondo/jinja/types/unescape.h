// Python's html.unescape().
#pragma once

#include <string>
#include <string_view>

namespace rondo::jinja {

// Python's html.unescape().  Nothing else in the text is looked at.
[[nodiscard]] std::string unescape_html(std::string_view text);

}  // namespace rondo::jinja
