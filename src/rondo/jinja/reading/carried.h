// What of a template outlives an iteration of a loop, and so reaches from one element to the next: attributes of namespaces,
// lists that are changed in place, variables that are set outside of loops, loops that are left early.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/origins.h"

namespace rondo::jinja {

struct Carried {
  // The conditions that decide on it, as Template::conditions() has them; in the order of the source.
  std::vector<text::Literal> conditions;
  // The greatest number that a count is compared with, divided by or looked up: of a loop, of a list that has a name, of what
  // is carried.  What such a template writes may differ behind more elements than that.
  std::int64_t counts_to = 0;
};

// Nothing for source that does not parse.  `source` is a template's normalised source (Template::source).
[[nodiscard]] Carried find_carried(std::string_view source);

}  // namespace rondo::jinja
