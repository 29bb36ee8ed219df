// Compares two texts as a unified diff.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo::audit {

// Returns the diff from `before` to `after`, with three lines of context and the file names a/NAME and b/NAME; "" if
// they are equal.  Texts with many thousand changed lines become a single change.
[[nodiscard]] std::string unified_diff(std::string_view before, std::string_view after, const std::string& name);

// Lines [old_begin, old_end) were replaced by [new_begin, new_end).
struct LineChange {
  std::size_t old_begin = 0;
  std::size_t old_end = 0;
  std::size_t new_begin = 0;
  std::size_t new_end = 0;
};

// Returns the changes in order.  Texts with many thousand changed lines become a single change.
[[nodiscard]] std::vector<LineChange> line_changes(const std::vector<std::string_view>& before,
                                                   const std::vector<std::string_view>& after);

// Returns the lines of a text with their line breaks; none for an empty text.
[[nodiscard]] std::vector<std::string_view> lines_with_breaks(std::string_view text);

}  // namespace rondo::audit
