// Two texts as a unified diff.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo::audit {

// From `before` to `after`, with three lines of context and the file names a/NAME and b/NAME; "" if they are equal.
// Texts with many thousand changed lines are told as one change.
[[nodiscard]] std::string unified_diff(std::string_view before, std::string_view after, const std::string& name);

// Lines [old_begin, old_end) became [new_begin, new_end).
struct LineChange {
  std::size_t old_begin = 0;
  std::size_t old_end = 0;
  std::size_t new_begin = 0;
  std::size_t new_end = 0;
};

// What became of the lines, in order; texts with many thousand changed lines are one change.
[[nodiscard]] std::vector<LineChange> line_changes(const std::vector<std::string_view>& before,
                                                   const std::vector<std::string_view>& after);

// The lines of a text with their line breaks; an empty text has none.
[[nodiscard]] std::vector<std::string_view> lines_with_breaks(std::string_view text);

}  // namespace rondo::audit
