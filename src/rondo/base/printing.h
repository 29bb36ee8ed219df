// Makes any text fit on one line of a report: it cannot steer a terminal, and it is not too long.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rondo::printing {

// Escapes everything in `text` that a terminal would obey or not show: control characters, direction marks, unusual
// spaces.  Newlines and tabs become \n and \t, or stay if `keep_layout`.  Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string printable(std::string_view text, bool keep_layout);

// Shortens `text` to at most `limit` code points: "…" replaces the middle of a longer text.
//
// REQUIRES: limit >= 3.
[[nodiscard]] std::string elided(std::string_view text, std::size_t limit);

// Returns what messages show of a text that somebody else chose: a line of at most 60 characters of it.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace rondo::printing
