// Values made of other values: dict views, ranges and sorted orders.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// kSet: the keys of a dict that nothing else has, as a set.
enum class DictPart : std::uint8_t { kKeys, kValues, kItems, kSet };

// dict.keys(), .values(), .items(): live, no sequence, printed as dict_keys([...]).
[[nodiscard]] Value make_view(Runtime& runtime, const Value& dict, DictPart part);
// left - right where one of them is such a view of keys or items: a set, in the order of `left`.  Nothing for other values.
[[nodiscard]] std::optional<Value> subtract_views(Runtime& runtime, const Value& left, const Value& right);
// The elements of such a view at once.
[[nodiscard]] std::vector<Value> dict_part(Runtime& runtime, const Value& dict, DictPart part);
// range(start, stop, step).  REQUIRES: step != 0 and a length within the sandbox's bound.
[[nodiscard]] Value make_range(Runtime& runtime, std::int64_t start, std::int64_t stop, std::int64_t step);
// The range of the elements that stand at `part` of a range.
struct RangePart {
  std::int64_t first = 0;
  std::int64_t stop = 0;
  std::int64_t step = 1;
};
[[nodiscard]] Value slice_of_range(Runtime& runtime, const Value& range, const RangePart& part);
// reversed(value): an iterator; nothing for what Python cannot walk backwards.
[[nodiscard]] std::optional<Value> reversed(Runtime& runtime, const Value& value);
[[nodiscard]] std::size_t range_length(std::int64_t start, std::int64_t stop, std::int64_t step);

// Sorts `values` by `keys` (of the same size; may be the same vector), stably, as Python's sorted().
void sort_values(Runtime& runtime, std::vector<Value>& values, const std::vector<Value>& keys, bool reverse);

}  // namespace rondo::jinja
