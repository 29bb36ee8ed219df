// Python's html.unescape().
#pragma once

#include <string>
#include <string_view>

namespace rondo::jinja {

// Python's html.unescape().  Changes nothing else in the text.
[[nodiscard]] std::string unescape_html(std::string_view text);

}  // namespace rondo::jinja
