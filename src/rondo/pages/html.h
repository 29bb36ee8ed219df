// Text in pages for the browser.
#pragma once

#include <string>
#include <string_view>

namespace rondo::pages {

// Returns `text` for the inside of an element, so that nothing in it is markup.  The ends of lines are marked by markup
// of our own; control characters become visible symbols.
[[nodiscard]] std::string html_text(std::string_view text);

// Returns the same for quoted attributes and titles, without any markup.
[[nodiscard]] std::string html_attribute(std::string_view text);

enum class Scripts : unsigned char { kNone, kInline };

// Returns the beginning of a page, up to the first element of the body.  The page may load nothing.  It may run only
// the scripts inside it, and only if `scripts` allows them.
[[nodiscard]] std::string html_head(std::string_view title, std::string_view style, Scripts scripts = Scripts::kNone);

}  // namespace rondo::pages
