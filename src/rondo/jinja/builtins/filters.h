// The builtin filters: what one is, how it is found, and what several of them share.
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
  // Writes what the filter gives straight to `out`, as emit() would under the current context.  nullptr: none.
  void (*write)(Runtime& runtime, const Value& subject, const Args& args, text::Text& out) = nullptr;
  // Gives no markup unless it was given some; of filters that templates use all the time.  A template whose filters are
  // all plain is written faster.
  bool is_plain = false;
};

constexpr Filter plain(Filter filter) {
  filter.is_plain = true;
  return filter;
}

// nullptr if there is none of that name.  Lenient-only filters are found always and fail under strict options.
[[nodiscard]] const Filter* find_filter(std::string_view name);
Value call_filter(Runtime& runtime, const Filter& filter, const Value& subject, const Args& args);

// Looks up "a.b.0" in an element; the comma-separated form gives a list of such values.
class AttributeGetter {
 public:
  // `attribute` None looks up nothing: the element itself.
  AttributeGetter(Runtime& runtime, const Value& attribute);
  // `fallback`, if not None, takes the place of undefined values on the way.
  [[nodiscard]] Value get(Runtime& runtime, Value element, const Value& fallback = Value::none()) const;

 private:
  std::vector<Value> parts_;
};

// The value that sorting and comparing without regard to case uses: strings lowered, others as they are.
[[nodiscard]] Value ignore_case(Runtime& runtime, const Value& value);

}  // namespace rondo::jinja
