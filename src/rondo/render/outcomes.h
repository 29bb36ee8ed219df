// Which outcomes of its conditions a template has been seen with.
//
// A condition that looks at nothing but the message it is asked for decides on that message's text alone.  Any other one, and
// any that decides on what outlives its message (jinja/carried.h), may decide on later ones too: how that came out is noted,
// with the fields that it looked at.  A render in which such a condition comes out as it never did is one of which nothing is
// known.
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
  // The first one that was not noted, in a sentence; "" if all were.
  [[nodiscard]] std::string unknown_in(const jinja::Rendered& rendered) const;

 private:
  // Names the outcome; 0 for one that does not matter.
  [[nodiscard]] std::uint64_t key_of(const jinja::Rendered& rendered, const jinja::Decision& decision) const;

  std::vector<bool> are_carrying_;  // by Decision::node
  std::unordered_set<std::uint64_t> noted_;
};

}  // namespace rondo::render
