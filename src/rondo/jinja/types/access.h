// The truth of values, their attributes, elements and slices, and calls: what jinja2's environment.getattr, getitem and
// call do.
#pragma once

#include <optional>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

[[nodiscard]] bool truthy(Runtime& runtime, const Value& value);
// object.name: attribute, then item.  object[key]: item, then attribute.  Missing ones are undefined; fails when the
// object is undefined itself.
[[nodiscard]] Value get_attr(Runtime& runtime, const Value& object, std::string_view name);
[[nodiscard]] Value get_item(Runtime& runtime, const Value& object, const Value& key);
// object[start:stop:step]; absent bounds are None.
[[nodiscard]] Value get_slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop,
                              const Value& step);
// What object.name gives if there is no such attribute or member.  `name` must outlive the render.
[[nodiscard]] Value missing_attribute(Runtime& runtime, const Value& object, std::string_view name);
// The attribute alone, as Python's getattr() finds it; nothing for AttributeError.
[[nodiscard]] std::optional<Value> find_attribute(Runtime& runtime, const Value& object, std::string_view name);

// callee(args): functions, bound methods, macros; fails if it cannot be called.
Value call(Runtime& runtime, const Value& callee, const Args& args);
// object.name(args), without making the bound method.
Value call_method(Runtime& runtime, const Value& object, std::string_view name, const Args& args);

}  // namespace rondo::jinja
