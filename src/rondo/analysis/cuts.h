// What a template cuts out of an assistant message's content, by marks that it looks for there.  Internal to analysis/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/parts.h"

namespace rondo::analysis {

// The constants that the template looks for in assistant messages, in all variants and where others follow; not those of
// calls.
[[nodiscard]] std::vector<std::string> searched_marks(const Evidence& evidence, const Ending& ending,
                                                      const format::Calls& calls);

// How reasoning is written that stands in the content between two marks.
struct ContentCut {
  bool is_left_out = false;   // content behind it is written, and neither reasoning nor marks
  bool is_set_apart = false;  // both are written, but apart and without the marks
  bool is_kept = false;       // it is written, and content behind it is not
  bool is_nested = false;     // one mark is looked for in what the other one begins or ends

  [[nodiscard]] bool is_cut() const { return is_left_out || is_set_apart; }
};
[[nodiscard]] ContentCut cut_between(const Evidence& evidence, const std::string& open, const std::string& close);

// Two of the marks, or of those that it looks for where it finds them, between which content is cut.
[[nodiscard]] std::optional<Tags> cut_out_of_content(const Evidence& evidence, std::vector<std::string> marks);

}  // namespace rondo::analysis
