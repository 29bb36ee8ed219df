// The methods of Python's own types, as tables sorted by name.
#pragma once

#include <span>
#include <string_view>

#include "jinja/runtime.h"

namespace rondo::jinja {

struct Method {
  std::string_view name;
  Value (*run)(Runtime& runtime, const Value& self, const Args& args);
  bool mutates = false;      // forbidden under strict options
  bool markup_only = false;  // of strings that are markup
  bool of_class = false;     // does not look at `self`
};

[[nodiscard]] std::span<const Method> string_methods();
[[nodiscard]] std::span<const Method> list_methods();
[[nodiscard]] std::span<const Method> tuple_methods();
[[nodiscard]] std::span<const Method> dict_methods();
[[nodiscard]] std::span<const Method> int_methods();
[[nodiscard]] std::span<const Method> float_methods();

// `method` of `self`, to be called later.
[[nodiscard]] Value bind_method(Runtime& runtime, const Value& self, const Method& method);
// nullptr if there is none of that name.
[[nodiscard]] const Method* find_method(std::span<const Method> methods, std::string_view name);
// nullptr if values of this type have no such method.
[[nodiscard]] const Method* lookup_method(const Value& self, std::string_view name);

}  // namespace rondo::jinja
