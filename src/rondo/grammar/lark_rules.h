// The first step of reading a grammar in the language of Lark: its statements, by the names of their rules.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::grammar {

// A rule of a definition, as it is written.
struct LarkRule {
  std::string text;  // after the colon
  // What llguidance has in brackets after the name of a rule: `x[lazy]`, `x[stop="\n", max_tokens=5]`.
  std::string end;          // `stop` or `suffix`: a terminal that ends the rule's text, and is a part of it
  bool is_lazy = false;     // the text ends as soon as it may
  bool is_limited = false;  // `max_tokens`
};

class LarkRules {
 public:
  // Joins the lines of each rule.  A line that begins with `|`, or is indented and begins no rule, continues the rule
  // before it.
  [[nodiscard]] Status read(std::string_view text);

  // Returns nullptr if there is no such rule.
  [[nodiscard]] const LarkRule* find(const std::string& name) const;
  // What may stand between the terminals of rules.
  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }
  // The values after `%json` and `%regex`.  In the texts of rules, the number of a value takes its place.
  [[nodiscard]] const std::vector<json::Value>& values() const { return values_; }

 private:
  [[nodiscard]] std::string next_line(std::string_view text, std::size_t& at);
  [[nodiscard]] std::string take_value(std::string_view word, std::string_view text, std::size_t& at);
  [[nodiscard]] Status take(std::string_view statement);
  [[nodiscard]] Status directive(std::string_view statement);

  std::map<std::string, LarkRule> rules_;
  std::vector<std::string> ignored_;
  std::vector<json::Value> values_;
  Status status_{Done{}};  // of the lines so far
};

// Returns whether the character may be in the name of a rule.
[[nodiscard]] bool is_lark_name(char c);
// Returns the text without white space at its ends.
[[nodiscard]] std::string_view stripped(std::string_view text);
// Returns the offset after the quoted text or regular expression that begins at `at`; npos if it has no end.
[[nodiscard]] std::size_t end_of_quoted(std::string_view text, std::size_t at);

}  // namespace rondo::grammar
