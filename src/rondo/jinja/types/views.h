// Values derived from other values: dict views, ranges and sorted orders.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "jinja/common/operators.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// kSet: the keys of a dict that only this value holds, as a set.
enum class DictPart : std::uint8_t { kKeys, kValues, kItems, kSet };

// dict.keys(), .values() and .items(): live views, not sequences, printed as dict_keys([...]).
[[nodiscard]] Value make_view(Runtime& runtime, const Value& dict, DictPart part);
// left - right, if one of them is a view of keys or items: a set, in the order of `left`.  Returns nullopt for other
// values.
[[nodiscard]] std::optional<Value> subtract_views(Runtime& runtime, const Value& left, const Value& right);
// `item in container`, and the comparisons <, <=, > and >=, which test for subsets.  Both return nullopt unless all
// views are of keys, items or a set.
[[nodiscard]] std::optional<bool> view_contains(Runtime& runtime, const Value& container, const Value& item);
[[nodiscard]] std::optional<bool> compare_views(Runtime& runtime, CompareOp op, const Value& left, const Value& right);
// Returns the elements of such a view at once.
[[nodiscard]] std::vector<Value> dict_part(Runtime& runtime, const Value& dict, DictPart part);
// Returns range(start, stop, step).
//
// REQUIRES: step != 0, and the length is within the sandbox's limit.
[[nodiscard]] Value make_range(Runtime& runtime, std::int64_t start, std::int64_t stop, std::int64_t step);
// The range of the elements that `part` selects from a range.
struct RangePart {
  std::int64_t first = 0;
  std::int64_t stop = 0;
  std::int64_t step = 1;
};
[[nodiscard]] Value slice_of_range(Runtime& runtime, const Value& range, const RangePart& part);
// reversed(value): an iterator; nullopt if Python cannot go through it backwards.
[[nodiscard]] std::optional<Value> reversed(Runtime& runtime, const Value& value);
[[nodiscard]] std::size_t range_length(std::int64_t start, std::int64_t stop, std::int64_t step);

// Sorts `values` by `keys` (of the same size; may be the same vector), stably, as Python's sorted() does.
void sort_values(Runtime& runtime, std::vector<Value>& values, const std::vector<Value>& keys, bool reverse);

}  // namespace rondo::jinja
