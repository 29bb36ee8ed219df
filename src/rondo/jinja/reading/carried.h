// Finds what survives an iteration of a loop in a template, and so reaches from one element to the next: attributes of
// namespaces, lists that are changed in place, variables that are set outside loops, and loops that are left early.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/origins.h"

namespace rondo::jinja {

struct Carried {
  // The conditions that decide on it, as in Template::conditions(), in source order
  std::vector<text::Literal> conditions;
  // The greatest number that a count is compared with, divided by or looked up with.  A count is that of a loop, of a
  // list that has a name, or of something carried.  With more elements than that, the template may write something
  // else.
  std::int64_t counts_to = 0;
};

// Returns nothing for source that does not parse.  `source` is a template's normalised source (Template::source).
[[nodiscard]] Carried find_carried(std::string_view source);

}  // namespace rondo::jinja
