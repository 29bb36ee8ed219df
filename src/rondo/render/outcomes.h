// Remembers which outcomes of its conditions a template has shown.
//
// A condition that reads only its own message decides only on that message's text.  Any other condition may also decide
// on later messages; so may one that decides on a value that outlives its message (jinja/carried.h).  For these, the
// outcome is noted together with the fields that the condition read.  If such a condition has a new outcome in a
// render, nothing is known about that render.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "jinja/template.h"

namespace rondo::render {

class Outcomes {
 public:
  Outcomes() = default;
  explicit Outcomes(const jinja::Template& chat_template);

  void note(const jinja::Rendered& rendered);
  // Returns a sentence about the first outcome that was not noted; "" if all were.
  [[nodiscard]] std::string unknown_in(const jinja::Rendered& rendered) const;

 private:
  // Returns the name of the outcome; 0 for one that does not matter.
  [[nodiscard]] std::uint64_t key_of(const jinja::Rendered& rendered, const jinja::Decision& decision) const;

  std::vector<bool> are_carrying_;  // indexed by Decision::node
  std::unordered_set<std::uint64_t> noted_;
};

}  // namespace rondo::render
