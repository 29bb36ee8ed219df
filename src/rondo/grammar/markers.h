// A format's markers as grammar nodes, with any white space at their ends.  Internal to grammar/.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/ir.h"

namespace rondo::grammar {

// Nodes in sequence.  Neighbouring runs of white space become one.  White space and the word after it are one token, so
// that a lexer that takes the longest lexeme sees at once which word it is.
class Line {
 public:
  explicit Line(Grammar& grammar) : grammar_(&grammar) {}

  Line& add(NodeId node);
  Line& literal(std::string_view text);
  // Adds `least` (0 or 1) to kMostSpace characters of white space.
  Line& space(std::size_t least = 0);
  // Adds the words of a marker, with white space where the marker has some; at its ends only if it has some there.
  Line& marker(std::string_view text);
  [[nodiscard]] NodeId node() const { return grammar_->sequence(parts_); }

 private:
  Grammar* grammar_;
  std::vector<NodeId> parts_;
  bool ends_with_space_ = false;
};

[[nodiscard]] NodeId marker(Grammar& grammar, std::string_view text);

// Returns whether the white space at the end of a marker separates a word in it from a word after it.
[[nodiscard]] bool ends_with_word(std::string_view marker);

// Returns an ECMA-262 pattern that matches exactly `text`.
[[nodiscard]] std::string pattern_escaped(std::string_view text);

}  // namespace rondo::grammar
