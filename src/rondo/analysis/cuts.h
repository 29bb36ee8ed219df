// Finds what a template cuts out of an assistant message's content.  It cuts by markers that it searches for there.
// Internal to analysis/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/parts.h"

namespace rondo::analysis {

// Returns the constants that the template searches for in assistant messages, in all variants and in a turn that other
// messages follow.  Leaves out those that belong to calls.
[[nodiscard]] std::vector<std::string> searched_marks(const Evidence& evidence, const Ending& ending,
                                                      const format::Calls& calls);

// How a template treats reasoning between two markers in the content.
struct ContentCut {
  bool is_left_out = false;   // the content after it is written; reasoning and markers are not
  bool is_set_apart = false;  // both are written, but separately and without the markers
  bool is_kept = false;       // the reasoning is written, and the content after it is not
  bool is_nested = false;     // the template searches for one marker in what the other one begins or ends

  [[nodiscard]] bool is_cut() const { return is_left_out || is_set_apart; }
};
// Returns how the template treats an earlier answer with reasoning between `open` and `close`.  `open` may be empty.
[[nodiscard]] ContentCut cut_between(const Evidence& evidence, const std::string& open, const std::string& close);

// Returns two of the markers between which content is cut; nullopt if there are none, or too many to try.  Also tries
// markers that the template searches for only after it found one of these.
[[nodiscard]] std::optional<Tags> cut_out_of_content(const Evidence& evidence, std::vector<std::string> marks);

}  // namespace rondo::analysis
