// Plain tables for a terminal.
#pragma once

#include <string>
#include <vector>

namespace rondo::demo {

enum class Align : unsigned char { kLeft, kRight };

struct Column {
  std::string title;  // a line feed in it makes a second line
  Align align = Align::kRight;
  std::size_t limit = 0;  // the most characters shown of a cell, then an ellipsis; 0: all
};

// Returns lines with a header and a rule below it.  Widths count code points.  Line feeds in cells become spaces.
[[nodiscard]] std::string format_table(const std::vector<Column>& columns,
                                       const std::vector<std::vector<std::string>>& rows);

}  // namespace rondo::demo
