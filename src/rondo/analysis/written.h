// What a template wrote, and where in it the template itself begins another text.  Internal to analysis/.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/turn.h"

namespace rondo::analysis {

// `begins` are the offsets in `text` at which a string constant, a text of the template or something computed begins.
struct Written {
  std::string text;
  std::vector<std::size_t> begins = {};

  void append(const Written& more);
  void append(const std::string& more, std::span<const Source> sources);
  // The part from byte `at` on, and the one before it.  REQUIRES: `at` is no more than the size.
  [[nodiscard]] Written from(std::size_t at) const;
  [[nodiscard]] Written before(std::size_t at) const;
  // The end of it that is `end`; if it does not end so, `end` with no begins.
  [[nodiscard]] Written ending(std::string_view end) const;
};

// The literals of the tokens [begin, end).
[[nodiscard]] Written written(const Turn& turn, std::size_t begin, std::size_t end);

// How many bytes both have in common at their begin (end), up to where a mark may be cut: units end there in both
// texts, or the template goes on with another text in both.
[[nodiscard]] std::size_t same_front(const Written& a, const Written& b, std::span<const std::string> atoms);
[[nodiscard]] std::size_t same_back(const Written& a, const Written& b, std::span<const std::string> atoms);

// Where a mark may be cut in this text alone: at the boundaries of units and where the template goes on with another
// text.
[[nodiscard]] std::vector<std::size_t> cuts_of(const Written& written, std::span<const std::string> atoms);

// `</x>` to `<x>`: how markup writes pairs; "" if `close` is no closing tag.
[[nodiscard]] std::string opening_of(const std::string& close);
// `<x>` to `</x>`, `[X]` to `[/X]`; "" if `open` is no such tag of one word.
[[nodiscard]] std::string closing_of(const std::string& open);
// `<|begin_of_x|>` and `<|end_of_x|>`, `<|x_start|>` and `<|x_end|>`: two marks of several words, one of which differs.
[[nodiscard]] bool are_kin(std::string_view a, std::string_view b);

}  // namespace rondo::analysis
