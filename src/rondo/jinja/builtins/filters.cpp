// Finds filters and tests, and has what several of them share.
#include "jinja/builtins/filters.h"

#include <algorithm>

#include "jinja/builtins/filters_lazy.h"
#include "jinja/builtins/filters_number.h"
#include "jinja/builtins/filters_sequence.h"
#include "jinja/builtins/filters_text.h"
#include "jinja/builtins/filters_web.h"
#include "jinja/builtins/json_filters.h"
#include "jinja/types/access.h"
#include "jinja/types/repr.h"
#include "jinja/types/string_case.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/value.h"
#include "unicode/case.h"

namespace rondo::jinja {
namespace {

template <typename Entry>
const Entry* look_up(std::span<const Entry> table, std::string_view name) {
  const auto found = std::lower_bound(table.begin(), table.end(), name,
                                      [](const Entry& entry, std::string_view key) { return entry.name < key; });
  return found != table.end() && found->name == name ? &*found : nullptr;
}

// str.isdigit(), which also accepts digits that int() does not read.
bool is_all_digits(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_at(text, at);
    if (!unicode::is_digit(c.value)) return false;
    at += c.size;
  }
  return !text.empty();
}

}  // namespace

const Filter* find_filter(std::string_view name) {
  for (const std::span<const Filter> table :
       {text_filters(), sequence_filters(), lazy_filters(), json_filters(), number_filters(), web_filters()}) {
    if (const Filter* filter = look_up(table, name)) return filter;
  }
  return nullptr;
}

Value call_filter(Runtime& runtime, const Filter& filter, const Value& subject, const Args& args) {
  if (filter.lenient_only && runtime.options.strict) {
    runtime.fail("No filter named '" + std::string(filter.name) + "'.");
  }
  return filter.run(runtime, subject, args);
}

AttributeGetter::AttributeGetter(Runtime& runtime, const Value& attribute) {
  if (attribute.is_none()) return;
  if (!attribute.is_string()) {
    parts_.push_back(attribute);
    return;
  }
  std::string_view rest = bytes_of(runtime, attribute);
  for (;;) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view part = rest.substr(0, dot);
    const bool digits = is_all_digits(part);
    std::optional<Value> index = digits ? parse_integer(runtime, part, 10) : std::nullopt;
    if (digits && !index) {
      runtime.fail("invalid literal for int() with base 10: " + repr(runtime, make_computed(runtime, part)));
    }
    parts_.push_back(index ? *index : make_computed(runtime, part));
    if (dot == rest.size()) return;
    rest.remove_prefix(dot + 1);
  }
}

Value AttributeGetter::get(Runtime& runtime, Value element, const Value& fallback) const {
  for (const Value& part : parts_) {
    element = get_item(runtime, element, part);
    if (element.is_undefined() && !fallback.is_none()) element = fallback;
  }
  return element;
}

Value ignore_case(Runtime& runtime, const Value& value) {
  return value.is_string() ? make_computed(runtime, folded(runtime, value)) : value;
}

}  // namespace rondo::jinja
