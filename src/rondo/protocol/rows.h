// A template cut into rows to show: its lines, where long lines are cut from tag to tag.  Internal to protocol/.
//
// Many templates are one line of thousands of characters, and "line 1" says nothing there.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/places.h"

namespace rondo::protocol {

// A line of a template: as it is, or cut from tag to tag where it is long.  Never empty.
[[nodiscard]] std::vector<std::string_view> cut_line(std::string_view line);

struct TemplateRow {
  core::TemplatePlace place;  // where it begins
  std::string_view text;      // without the line's newline
};

class TemplateRows {
 public:
  // The template that `lines` reads must outlive this.
  explicit TemplateRows(const core::TemplateLines& lines);

  [[nodiscard]] const std::vector<TemplateRow>& rows() const { return rows_; }
  // The row that a place stands in; the first or last row for places outside of the template.
  [[nodiscard]] std::size_t row_of(const core::TemplatePlace& place) const;

 private:
  std::vector<TemplateRow> rows_;
};

}  // namespace rondo::protocol
