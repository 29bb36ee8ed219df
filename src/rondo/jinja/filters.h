// The builtin filters and tests, as tables sorted by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/runtime.h"

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

struct Test {
  std::string_view name;
  bool (*run)(Runtime& runtime, const Value& subject, const Args& args);
};

[[nodiscard]] std::span<const Filter> text_filters();
[[nodiscard]] std::span<const Filter> web_filters();
[[nodiscard]] std::span<const Filter> number_filters();
[[nodiscard]] std::span<const Filter> sequence_filters();
[[nodiscard]] std::span<const Filter> lazy_filters();
[[nodiscard]] std::span<const Filter> json_filters();

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
// The text of markup: without tags and comments, with references replaced by what they stand for.
[[nodiscard]] Value strip_tags(Runtime& runtime, const Value& text);
// The filters with files of their own.
Value wordwrap(Runtime& runtime, const Value& subject, const Args& args);
Value urlize(Runtime& runtime, const Value& subject, const Args& args);
// pprint.pformat(value).
[[nodiscard]] std::string pretty_print(Runtime& runtime, const Value& value);
// datetime.strftime(format).
[[nodiscard]] std::string format_time(const LocalTime& time, std::string_view format);

}  // namespace rondo::jinja
