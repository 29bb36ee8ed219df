// Texts in proofs: short and quoted, with their places.  Internal to audit/.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::audit {

// Returns bytes [begin, end) of `text` with a little text around them, quoted; "..." marks what was left out.
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t begin, std::size_t end);
// Returns `text` quoted, with "..." in the middle if it is long.
[[nodiscard]] std::string shortened(std::string_view text);
// Returns the length of the common prefix, shortened to the beginning of a character.
[[nodiscard]] std::size_t first_difference(std::string_view a, std::string_view b);
// Returns both texts at the first place where they differ: `FIRST "..."; SECOND "..."`.
struct Named {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] std::string difference(const Named& first, const Named& second);
// Returns "a", "a and b", "a, b and c".
[[nodiscard]] std::string listed(const std::vector<std::string>& words);

}  // namespace rondo::audit
