// The methods of lists, tuples, dicts and numbers, as tables sorted by name.
#pragma once

#include <span>

#include "jinja/types/methods.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

[[nodiscard]] std::span<const Method> list_methods();
[[nodiscard]] std::span<const Method> tuple_methods();
[[nodiscard]] std::span<const Method> dict_methods();
[[nodiscard]] std::span<const Method> int_methods();
[[nodiscard]] std::span<const Method> float_methods();

// Adds what dict.update() takes: a dict or an iterable of pairs.
void update_dict(Runtime& runtime, Dict& dict, const Value& from);

}  // namespace rondo::jinja
