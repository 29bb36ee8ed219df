// Truth, attributes, elements, slices and calls of values, as jinja2's environment.getattr, getitem and call define
// them.
#pragma once

#include <optional>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

[[nodiscard]] bool truthy(Runtime& runtime, const Value& value);
// object.name looks for an attribute, then an item; object[key] for an item, then an attribute.  A missing one is
// undefined.  Fails if the object itself is undefined.
[[nodiscard]] Value get_attr(Runtime& runtime, const Value& object, std::string_view name);
[[nodiscard]] Value get_item(Runtime& runtime, const Value& object, const Value& key);
// object[start:stop:step]; an absent bound is None.
[[nodiscard]] Value get_slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop,
                              const Value& step);
// Returns the value of object.name if there is no such attribute or member.  `name` must outlive the render.
[[nodiscard]] Value missing_attribute(Runtime& runtime, const Value& object, std::string_view name);
// Returns the attribute as Python's getattr() finds it; nullopt instead of AttributeError.
[[nodiscard]] std::optional<Value> find_attribute(Runtime& runtime, const Value& object, std::string_view name);

// callee(args): functions, bound methods, macros.  Fails if the value cannot be called.
Value call(Runtime& runtime, const Value& callee, const Args& args);
// object.name(args), without making a bound method.
Value call_method(Runtime& runtime, const Value& object, std::string_view name, const Args& args);

}  // namespace rondo::jinja
