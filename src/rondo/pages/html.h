// Text inside pages for the browser.
#pragma once

#include <string>
#include <string_view>

namespace rondo::pages {

// `text` so that nothing of it is markup, inside an element.  The ends of lines are marked, which is markup of its own; controls
// become their pictures.
[[nodiscard]] std::string html_text(std::string_view text);

// The same for quoted attributes and titles, without any markup.
[[nodiscard]] std::string html_attribute(std::string_view text);

enum class Scripts : unsigned char { kNone, kInline };

// The beginning of a page, up to the body's first element.  The page may load nothing, and run nothing but the scripts that
// stand in it, where they are allowed.
[[nodiscard]] std::string html_head(std::string_view title, std::string_view style, Scripts scripts = Scripts::kNone);

}  // namespace rondo::pages
