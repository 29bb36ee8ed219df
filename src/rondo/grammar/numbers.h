// Numbers in a range, as grammar nodes for the digits that spell them.
#pragma once

#include <optional>
#include <string>

#include "grammar/ir.h"

namespace rondo::grammar {

// A bound of a range: decimal digits with an optional sign and fraction, but no exponent.
struct Bound {
  std::string digits;
  bool is_exclusive = false;
};

struct NumberRange {
  std::optional<Bound> least;
  std::optional<Bound> most;
};

// The integers of the range, without leading zeros.  Fractional bounds are rounded inwards.  kNever if there are none.
[[nodiscard]] NodeId integers_within(Grammar& grammar, const NumberRange& range);

// The decimal numbers of the range, with any number of digits after the point and without an exponent.
[[nodiscard]] NodeId numbers_within(Grammar& grammar, const NumberRange& range);

}  // namespace rondo::grammar
