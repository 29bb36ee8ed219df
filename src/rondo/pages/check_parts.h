// Parts of the page of check_page.h.  Internal to pages/.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace rondo::pages {

// A report on its page; `key` begins the ids of its elements.
struct CheckedModel {
  const report::Report& report;
  std::string key;  // "m1"

  // Returns places to link to: "m1-f2".
  [[nodiscard]] std::string finding_id(std::size_t index) const { return key + "-f" + std::to_string(index); }
  [[nodiscard]] std::string case_id(std::size_t index) const { return key + "-c" + std::to_string(index); }
};

// How a place is shown: a line of the template, or a piece of a long line (rows.h).
struct Spot {
  std::string id;    // "m1-L66", "m1-L1-480"
  std::string name;  // "line 66", "line 1:480"
  std::string text;  // of the line or piece, shortened if it is long; the place's own text if there is no such line
};
// REQUIRES: place.line > 0.
[[nodiscard]] Spot spot_of(const CheckedModel& model, const causes::TemplatePlace& place);

// Returns valid text for an element, with marks for invisible characters; with `marks_spaces`, also for plain spaces.
[[nodiscard]] std::string marked_text(std::string_view text, bool marks_spaces);
[[nodiscard]] inline std::string shown(std::string_view text) { return marked_text(text, false); }

// Returns valid text for a quoted attribute.
[[nodiscard]] std::string attribute_text(std::string_view text);

// Returns a link to the place in the template on the page; "" if there is none.  `with_source` adds the text at the
// place.
[[nodiscard]] std::string place_link(const CheckedModel& model, const causes::TemplatePlace& place,
                                     bool with_source = false);

[[nodiscard]] std::string remedy_list(const std::vector<report::Remedy>& remedies);

// Returns what is shown when the row of a case is opened; "" if there is nothing.
[[nodiscard]] std::string case_body(const CheckedModel& model, const report::Case& played);

// Returns the table of conversations with its filters, followed by what its rows open.
[[nodiscard]] std::string case_table(const CheckedModel& model);

// Returns the template's lines, with links to the findings that blame them.
[[nodiscard]] std::string template_source(const CheckedModel& model);

}  // namespace rondo::pages
