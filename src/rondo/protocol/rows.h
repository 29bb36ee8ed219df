// Cuts a template into rows for showing: its lines, with long lines cut between tags.  Internal to protocol/.
//
// Many templates are one line of thousands of characters, for which "line 1" says nothing.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/places.h"

namespace rondo::protocol {

// Returns a line of a template as one row, or cut between tags if it is long.  Never empty.
[[nodiscard]] std::vector<std::string_view> cut_line(std::string_view line);

struct TemplateRow {
  core::TemplatePlace place;  // its beginning
  std::string_view text;      // without the line's newline
};

class TemplateRows {
 public:
  // The template that `lines` reads must outlive this.
  explicit TemplateRows(const core::TemplateLines& lines);

  [[nodiscard]] const std::vector<TemplateRow>& rows() const { return rows_; }
  // Returns the row that contains a place; the first or last row for a place outside the template.
  [[nodiscard]] std::size_t row_of(const core::TemplatePlace& place) const;

 private:
  std::vector<TemplateRow> rows_;
};

}  // namespace rondo::protocol
