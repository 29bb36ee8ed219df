// The elements of values, one after the other or all at once.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// One pass over the elements, lazily where Python is lazy; fails if the value cannot be iterated.
[[nodiscard]] Iterator* iterate(Runtime& runtime, const Value& value);
// All elements at once.
[[nodiscard]] std::vector<Value> collect(Runtime& runtime, const Value& value);
// len(): nothing if the value has none.
[[nodiscard]] std::optional<std::size_t> length_of(Runtime& runtime, const Value& value);
// False for what `iterate` refuses.
[[nodiscard]] bool is_iterable(Runtime& runtime, const Value& value);
// The elements of `value`, which must be `count`.
[[nodiscard]] std::vector<Value> unpack_items(Runtime& runtime, const Value& value, std::size_t count);

// A lazy sequence: prints as <generator object NAME>, has no length and can be gone through once.
[[nodiscard]] Value make_generator(Runtime& runtime, std::string_view name, Iterator* iterator);
// The same under another type's name: prints as <TYPE object>.
[[nodiscard]] Value make_iterator(Runtime& runtime, std::string_view type, Iterator* iterator);
[[nodiscard]] Iterator* iterate_items(Runtime& runtime, std::vector<Value> items);

}  // namespace rondo::jinja
