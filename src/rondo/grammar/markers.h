// A format's markers as grammar nodes, with flexible white space.  Internal to grammar/.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "grammar/ir.h"

namespace rondo::grammar {

// Builds a sequence of nodes.  Neighbouring runs of white space become one.  White space and the word after it are one
// token, so a lexer that takes the longest lexeme sees at once which word it is.
class Line {
 public:
  explicit Line(Grammar& grammar) : grammar_(&grammar) {}

  Line& add(NodeId node);
  Line& literal(std::string_view text);
  // Adds a number of any value.
  Line& number();
  // Adds `least` (0 or 1) to kMostSpace characters of white space.
  Line& space(std::size_t least = 0);
  // Adds the words of a marker, with white space wherever the marker has some, and numbers for its counters.  Two words
  // with white space between them in the marker must not run together.
  Line& marker(std::string_view text);
  // Says that `text`, which is not part of this line, comes before what is added next.
  Line& behind(std::string_view text);
  // Says that a word is added next.
  Line& apart();
  // Returns whether only white space would separate the last word from a word that is added next.
  [[nodiscard]] bool ends_apart() const { return is_behind_word_ && has_blank_; }
  [[nodiscard]] NodeId node() const { return grammar_->sequence(parts_); }

 private:
  Line& word(NodeId node);

  Grammar* grammar_;
  std::vector<NodeId> parts_;
  bool ends_with_space_ = false;
  bool is_behind_word_ = false;  // except for white space
  bool has_blank_ = false;       // a marker has white space there
};

// Returns a number of any value.
[[nodiscard]] NodeId number(Grammar& grammar);

// Returns the nodes of one marker, as Line::marker() adds them.
[[nodiscard]] NodeId marker(Grammar& grammar, std::string_view text);

// Returns whether the marker ends with a word and white space, which must then separate that word from the next one.
[[nodiscard]] bool ends_with_word(std::string_view marker);
// Returns whether ends_with_word(marker), and `next`, which may follow the marker, begins with a word.
[[nodiscard]] bool runs_into(std::string_view marker, std::string_view next);

// Returns an ECMA-262 pattern that matches exactly `text`, with any number for a counter.
[[nodiscard]] std::string pattern_escaped(std::string_view text);

}  // namespace rondo::grammar
