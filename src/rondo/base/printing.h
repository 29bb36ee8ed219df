// Text of any kind on one line of a report: nothing in it steers a terminal, and nothing is too long.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rondo::printing {

// `text` with everything that a terminal would obey or not show escaped: controls, direction marks, odd spaces.  Newlines
// and tabs become \n and \t, or stay if `keep_layout`.  Invalid UTF-8 becomes U+FFFD.
[[nodiscard]] std::string printable(std::string_view text, bool keep_layout);

// At most `limit` code points: the middle of a longer text is replaced by "…".  REQUIRES: limit >= 3.
[[nodiscard]] std::string elided(std::string_view text, std::size_t limit);

}  // namespace rondo::printing
