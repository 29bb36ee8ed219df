// Text that a template wrote, with the places at which another text of the template begins.  Internal to analysis/.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/turn.h"

namespace rondo::analysis {

// A text, and in `begins` the offsets at which a string constant, a text outside of tags, or a computed text begins.
struct Written {
  std::string text;
  std::vector<std::size_t> begins = {};

  void append(const Written& more);
  void append(const std::string& more, std::span<const Source> sources);
  // Returns the part from byte `at` on, or the part before it.
  //
  // REQUIRES: `at` <= size.
  [[nodiscard]] Written from(std::size_t at) const;
  [[nodiscard]] Written before(std::size_t at) const;
  // Returns the end of this text that equals `end`, with its begins.  If this text does not end with it, returns `end`
  // without begins.
  [[nodiscard]] Written ending(std::string_view end) const;
};

// Returns the literals of the tokens [begin, end), with the template's numbers as they are.
[[nodiscard]] Written written(const Turn& turn, std::size_t begin, std::size_t end);
// Returns the same text with format::kCounter in place of each number of one digit, such as the number of a call.
[[nodiscard]] Written counted(const Turn& turn, std::size_t begin, std::size_t end);
// Returns the text of a token as counted() has it.
[[nodiscard]] std::string counted_text(const Token& token);

// Returns how many bytes both texts have in common at the start (end), up to where a marker may be cut.  There a unit
// ends in both texts, or another text of the template begins in both.
[[nodiscard]] std::size_t same_front(const Written& a, const Written& b, std::span<const std::string> atoms);
[[nodiscard]] std::size_t same_back(const Written& a, const Written& b, std::span<const std::string> atoms);

// Returns where a marker may be cut in this text alone: at unit boundaries, and where another text of the template
// begins.
[[nodiscard]] std::vector<std::size_t> cuts_of(const Written& written, std::span<const std::string> atoms);

// Returns `<x>` for `</x>`, as markup pairs its tags; "" if `close` is not a closing tag.
[[nodiscard]] std::string opening_of(const std::string& close);
// Returns `</x>` for `<x>`, and `[/X]` for `[X]`; "" if `open` is not such a tag of one word.
[[nodiscard]] std::string closing_of(const std::string& open);
// Returns whether `text` ends inside an object of JSON that it has begun: in a string, or before a value.
[[nodiscard]] bool is_inside_json(std::string_view text);
// Returns whether two markers of several words differ in one word only, as `<|begin_of_x|>` and `<|end_of_x|>` do, or
// `<|x_start|>` and `<|x_end|>`.
[[nodiscard]] bool are_kin(std::string_view a, std::string_view b);

}  // namespace rondo::analysis
