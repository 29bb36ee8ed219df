// The methods of Python's types, and how to find them.
#pragma once

#include <span>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

struct Method {
  std::string_view name;
  Value (*run)(Runtime& runtime, const Value& self, const Args& args);
  bool mutates = false;      // forbidden under strict options
  bool markup_only = false;  // only for strings that are markup
  bool of_class = false;     // does not use `self`
};

// Notes that the list or dict is about to change: what the input says of it may be out of date.
void note_change(Runtime& runtime, const Value& changed);
// Calls a method that the options allow.
[[nodiscard]] inline Value run_method(Runtime& runtime, const Method& method, const Value& self, const Args& args) {
  if (method.mutates) note_change(runtime, self);
  return method.run(runtime, self, args);
}
// Returns `method` bound to `self`, to be called later.
[[nodiscard]] Value bind_method(Runtime& runtime, const Value& self, const Method& method);
// Returns nullptr if there is no method of that name.
[[nodiscard]] const Method* find_method(std::span<const Method> methods, std::string_view name);
// Returns nullptr if values of this type have no such method.
[[nodiscard]] const Method* lookup_method(const Value& self, std::string_view name);

}  // namespace rondo::jinja
