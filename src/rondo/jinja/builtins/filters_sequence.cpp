// Filters over sequences that compute their result at once.
#include "jinja/builtins/filters_sequence.h"

#include <algorithm>
#include <array>

#include "jinja/builtins/filters.h"
#include "jinja/common/operators.h"
#include "jinja/types/access.h"
#include "jinja/types/arithmetic.h"
#include "jinja/types/compare.h"
#include "jinja/types/iteration.h"
#include "jinja/types/markup.h"
#include "jinja/types/params.h"
#include "jinja/types/repr.h"
#include "jinja/types/views.h"
#include "jinja/value/dicts.h"
#include "jinja/value/equality.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

Value attr(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_attr", 2), args, {"name"}, 1);
  require_defined(runtime, subject);
  if (!params[0].is_string()) runtime.fail("attribute name must be string, not '" + type_name(params[0]) + "'");
  const std::string_view bytes = bytes_of(runtime, params[0]);
  if (const std::optional<Value> found = find_attribute(runtime, subject, bytes)) {
    runtime.note(*found);
    return *found;
  }
  return make_undefined_hint(runtime, "'" + object_type(subject) + "' has no attribute '" + std::string(bytes) + "'");
}

Value default_value(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_default", 1), args, {"default_value", "boolean"});
  const bool absent = subject.is_undefined() || (params.boolean(1, false) && !truthy(runtime, subject));
  if (!absent) return subject;
  return params.given(0) ? params[0] : empty_string(runtime);
}

Value dictsort(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_dictsort", 1), args, {"case_sensitive", "by", "reverse"});
  const std::string_view by = params.given(1) ? bytes_of(runtime, params.string(1)) : "key";
  if (by != "key" && by != "value") runtime.fail("You can only sort by either \"key\" or \"value\"");
  require_defined(runtime, subject);
  if (!subject.is_dict()) runtime.fail("'" + type_name(subject) + "' object has no attribute 'items'");
  std::vector<Value> items = dict_part(runtime, subject, DictPart::kItems);
  std::vector<Value> keys;
  for (const Value& item : items) {
    const Value& key = items_of(runtime, item)[by == "key" ? 0 : 1];
    keys.push_back(params.boolean(0, false) ? key : ignore_case(runtime, key));
  }
  sort_values(runtime, items, keys, params.flag(2, false));
  return make_list(runtime, std::move(items));
}

Value first(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("sync_do_first", 2), args, {});
  Value out;
  if (iterate(runtime, subject)->next(runtime, out)) return out;
  return make_undefined_hint(runtime, "No first item, sequence was empty.");
}

Value last(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_last", 2), args, {});
  const bool is_set = subject.is_object() && !reversed(runtime, subject);
  if (is_set || !length_of(runtime, subject)) runtime.fail("'" + type_name(subject) + "' object is not reversible");
  if (subject.is_sequence() && !items_of(runtime, subject).empty()) return items_of(runtime, subject).back();
  const std::vector<Value> items = collect(runtime, subject);
  if (!items.empty()) return items.back();
  return make_undefined_hint(runtime, "No last item, sequence was empty.");
}

Value random(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_random", 2), args, {});
  const std::optional<std::size_t> size = length_of(runtime, subject);
  if (!size) runtime.fail("object of type '" + type_name(subject) + "' has no len()");
  if (*size == 0) return make_undefined_hint(runtime, "No random item, sequence was empty.");
  // Renders must be repeatable, so of all choices that the reference may make this is always the first.
  if (subject.is_dict() && find_item(runtime, subject.as_dict(), Value::integer(0)) == nullptr) runtime.fail("0");
  const bool has_elements = !subject.is_object() || subject.as_object().is_sequence();
  if (!has_elements) runtime.fail("'" + type_name(subject) + "' object is not subscriptable");
  return get_item(runtime, subject, Value::integer(0));
}

struct Group {
  Value key;
  std::vector<Value> items;
};

Value groupby(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("sync_do_groupby", 2), args, {"attribute", "default", "case_sensitive"}, 1);
  const AttributeGetter getter(runtime, params[0]);
  const bool case_sensitive = params.boolean(2, false);
  std::vector<Value> items = collect(runtime, subject);
  std::vector<Value> pairs;  // (key, item), so that sorting keeps them together
  std::vector<Value> keys;
  for (const Value& item : items) {
    const Value key = getter.get(runtime, item, params[1]);
    keys.push_back(case_sensitive ? key : ignore_case(runtime, key));
    pairs.push_back(jinja::make_tuple(runtime, {keys.back(), item}));
  }
  sort_values(runtime, pairs, keys, false);
  std::vector<Group> groups;
  for (const Value& pair : pairs) {
    const Values& parts = items_of(runtime, pair);
    if (groups.empty() || !equals(runtime, groups.back().key, parts[0])) groups.push_back({parts[0], {}});
    groups.back().items.push_back(parts[1]);
  }
  std::vector<Value> out;
  for (Group& group : groups) {
    const Value key = case_sensitive ? group.key : getter.get(runtime, group.items.front(), params[1]);
    const Value tuple = jinja::make_tuple(runtime, {key, make_list(runtime, std::move(group.items))});
    tuple.as_list().is_group = true;
    out.push_back(tuple);
  }
  return make_list(runtime, std::move(out));
}

Value join(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("sync_do_join", 2), args, {"d", "attribute"});
  const AttributeGetter getter(runtime, params[1]);
  Value separator = params.given(0) ? to_text(runtime, params[0]) : empty_string(runtime);
  std::vector<Value> parts;
  bool markup = separator.is_markup() && runtime.autoescape;
  Iterator* iterator = iterate(runtime, subject);
  Value item;
  while (iterator->next(runtime, item)) {
    parts.push_back(to_text(runtime, getter.get(runtime, item)));
    markup = markup || (parts.back().is_markup() && runtime.autoescape);
  }
  if (markup) {
    separator = escape_html(runtime, separator);
    for (Value& part : parts) part = escape_html(runtime, part);
  }
  return join_strings(runtime, separator, parts).with_markup(markup);
}

Value length(Runtime& runtime, const Value& subject, const Args& args) {
  require_no_more(runtime, "len", args);
  const std::optional<std::size_t> size = length_of(runtime, subject);
  if (!size) runtime.fail("object of type '" + type_name(subject) + "' has no len()");
  return make_length(*size);
}

Value list(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("sync_do_list", 1), args, {});
  const Value out = make_list(runtime, collect(runtime, subject));
  return subject.is_sequence() ? out.with_path(subject.path()) : out;
}

Value extreme(Runtime& runtime, const Value& subject, const Args& args, bool largest) {
  const Params params(runtime, python(largest ? "do_max" : "do_min", 2), args, {"case_sensitive", "attribute"});
  const AttributeGetter getter(runtime, params[1]);
  const auto key_of_item = [&](const Value& item) {
    const Value key = getter.get(runtime, item);
    return params.boolean(0, false) ? key : ignore_case(runtime, key);
  };
  Iterator* iterator = iterate(runtime, subject);
  Value best;
  if (!iterator->next(runtime, best)) return make_undefined_hint(runtime, "No aggregated item, sequence was empty.");
  Value best_key = key_of_item(best);
  Value item;
  while (iterator->next(runtime, item)) {
    const Value key = key_of_item(item);
    if (!(largest ? compare(runtime, CompareOp::kGt, key, best_key) : less(runtime, key, best_key))) continue;
    best = item;
    best_key = key;
  }
  return best;
}

Value max(Runtime& runtime, const Value& subject, const Args& args) { return extreme(runtime, subject, args, true); }
Value min(Runtime& runtime, const Value& subject, const Args& args) { return extreme(runtime, subject, args, false); }

Value reverse(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_reverse", 1), args, {});
  if (subject.is_string()) {
    const Value step = Value::integer(-1);
    return get_slice(runtime, subject, Value::none(), Value::none(), step);
  }
  // Python returns an iterator for anything that it can traverse backwards, and a list for the rest.
  if (const std::optional<Value> iterator = reversed(runtime, subject)) return *iterator;
  if (!(subject.is_object() && subject.as_object().iterate(runtime) != nullptr)) {
    runtime.fail("argument must be iterable");
  }
  std::vector<Value> items = collect(runtime, subject);
  std::reverse(items.begin(), items.end());
  return make_list(runtime, std::move(items));
}

Value sort(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_sort", 2), args, {"reverse", "case_sensitive", "attribute"});
  std::vector<AttributeGetter> getters;
  if (params[2].is_string()) {
    const Value comma = make_computed(runtime, ",");
    for (const Value& part : items_of(runtime, call_method(runtime, params[2], "split", {std::span(&comma, 1), {}}))) {
      getters.emplace_back(runtime, part);
    }
  } else {
    getters.emplace_back(runtime, params[2]);
  }
  std::vector<Value> items = collect(runtime, subject);
  std::vector<Value> keys;
  for (const Value& item : items) {
    std::vector<Value> parts;
    for (const AttributeGetter& getter : getters) {
      const Value key = getter.get(runtime, item);
      parts.push_back(params.boolean(1, false) ? key : ignore_case(runtime, key));
    }
    // Always a list: equal parts need no order.
    keys.push_back(make_list(runtime, std::move(parts)));
  }
  sort_values(runtime, items, keys, params.flag(0, false));
  return make_list(runtime, std::move(items));
}

Value sum(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("sync_do_sum", 2), args, {"attribute", "start"});
  const AttributeGetter getter(runtime, params[0]);
  Value out = params.value(1, Value::integer(0));
  if (out.is_string()) runtime.fail("sum() can't sum strings [use ''.join(seq) instead]");
  Iterator* iterator = iterate(runtime, subject);
  Value item;
  while (iterator->next(runtime, item)) out = binary(runtime, BinaryOp::kAdd, out, getter.get(runtime, item));
  return out;
}

constexpr auto kSequenceFilters = std::to_array<Filter>({
    {"attr", attr},
    plain({"count", length}),
    {"d", default_value},
    plain({"default", default_value}),
    plain({"dictsort", dictsort}),
    plain({"first", first}),
    {"groupby", groupby},
    plain({"join", join}),
    plain({"last", last}),
    plain({"length", length}),
    plain({"list", list}),
    {"max", max},
    {"min", min},
    {"random", random},
    {"reverse", reverse},
    {"sort", sort},
    {"sum", sum},
});
static_assert(std::ranges::is_sorted(kSequenceFilters, {}, &Filter::name));

}  // namespace

std::span<const Filter> sequence_filters() { return kSequenceFilters; }

}  // namespace rondo::jinja
