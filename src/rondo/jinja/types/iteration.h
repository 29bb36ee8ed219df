// The elements of values, one by one or all at once.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// Iterates over the elements, lazily where Python is lazy.  Fails if the value cannot be iterated.
[[nodiscard]] Iterator* iterate(Runtime& runtime, const Value& value);
// All elements at once.
[[nodiscard]] std::vector<Value> collect(Runtime& runtime, const Value& value);
// len(); nullopt if the value has none.
[[nodiscard]] std::optional<std::size_t> length_of(Runtime& runtime, const Value& value);
// Returns false if `iterate` would fail.
[[nodiscard]] bool is_iterable(Runtime& runtime, const Value& value);
// Returns the elements of `value`.  Fails unless there are exactly `count`.
[[nodiscard]] std::vector<Value> unpack_items(Runtime& runtime, const Value& value, std::size_t count);

// Returns a lazy sequence.  It prints as <generator object NAME>, has no length, and can be iterated once.
[[nodiscard]] Value make_generator(Runtime& runtime, std::string_view name, Iterator* iterator);
// Returns a lazy sequence of another type, which prints as <TYPE object>.
[[nodiscard]] Value make_iterator(Runtime& runtime, std::string_view type, Iterator* iterator);
[[nodiscard]] Iterator* iterate_items(Runtime& runtime, std::vector<Value> items);

}  // namespace rondo::jinja
