// The builtin tests, as a table sorted by name.
#pragma once

#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

struct Test {
  std::string_view name;
  bool (*run)(Runtime& runtime, const Value& subject, const Args& args);
};

// Returns nullptr if there is no test of that name.
[[nodiscard]] const Test* find_test(std::string_view name);
bool call_test(Runtime& runtime, const Test& test, const Value& subject, const Args& args);

}  // namespace rondo::jinja
