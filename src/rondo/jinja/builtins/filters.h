// The builtin filters: how one is described and found, and what several of them share.
#pragma once

#include <string_view>
#include <vector>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

struct Filter {
  std::string_view name;
  Value (*run)(Runtime& runtime, const Value& subject, const Args& args);
  bool lenient_only = false;
  // Writes the result directly to `out`, as emit() would under the current context.  nullptr: the filter cannot.
  void (*write)(Runtime& runtime, const Value& subject, const Args& args, text::Text& out) = nullptr;
  // The result is markup only if the input is.  Set for common filters: a template that uses only such filters is
  // written faster.
  bool is_plain = false;
};

constexpr Filter plain(Filter filter) {
  filter.is_plain = true;
  return filter;
}

// Returns nullptr if there is no filter of that name.  Filters of lenient mode are always found, and fail in strict
// mode.
[[nodiscard]] const Filter* find_filter(std::string_view name);
Value call_filter(Runtime& runtime, const Filter& filter, const Value& subject, const Args& args);

// Looks up "a.b.0" in an element.  A comma-separated list gives a list of such values.
class AttributeGetter {
 public:
  // If `attribute` is None, the value is the element itself.
  AttributeGetter(Runtime& runtime, const Value& attribute);
  // `fallback`, if it is not None, replaces undefined values on the way.
  [[nodiscard]] Value get(Runtime& runtime, Value element, const Value& fallback = Value::none()) const;

 private:
  std::vector<Value> parts_;
};

// Returns the value for sorting and comparing without case: strings in lower case, other values unchanged.
[[nodiscard]] Value ignore_case(Runtime& runtime, const Value& value);

}  // namespace rondo::jinja
