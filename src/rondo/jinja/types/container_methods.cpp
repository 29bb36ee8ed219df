// The methods of list, tuple, dict, int and float.
#include "jinja/types/container_methods.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "base/hex.h"
#include "jinja/types/access.h"
#include "jinja/types/arithmetic.h"
#include "jinja/types/iteration.h"
#include "jinja/types/methods.h"
#include "jinja/types/params.h"
#include "jinja/types/repr.h"
#include "jinja/types/views.h"
#include "jinja/value/bigint.h"
#include "jinja/value/dicts.h"
#include "jinja/value/equality.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

// --- list and tuple

Value sequence_index(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of(self.is_tuple() ? "tuple" : "list", "index"), args, 1, 3);
  const Values& items = items_of(runtime, self);
  const Params params(runtime, c_function("index"), args, {"value", "start", "stop"}, 1);
  const auto size = static_cast<std::int64_t>(items.size());
  const auto bound = [&](std::size_t which, std::int64_t fallback) {
    if (!params.given(which)) return fallback;
    if (!params[which].is_integral()) runtime.fail("slice indices must be integers or have an __index__ method");
    const std::int64_t index = clipped(params[which]);
    return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
  };
  for (std::int64_t i = bound(1, 0); i < bound(2, size); ++i) {
    runtime.spend();
    const Value& item = items[static_cast<std::size_t>(i)];
    if (item.is_same(params[0]) || equals(runtime, item, params[0])) return Value::integer(i);
  }
  if (self.is_tuple()) runtime.fail("tuple.index(x): x not in tuple");
  runtime.fail(repr(runtime, params[0]) + " is not in list");
}

Value sequence_count(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of(self.is_tuple() ? "tuple" : "list", "count"), args, 1, 1);
  std::int64_t count = 0;
  for (const Value& item : items_of(runtime, self)) {
    runtime.spend();
    if (item.is_same(args.positional[0]) || equals(runtime, item, args.positional[0])) ++count;
  }
  return Value::integer(count);
}

Value list_copy(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("list", "copy"), args, 0, 0);
  return make_list(runtime, collect(runtime, self)).with_path(self.path());
}

Value list_append(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("list", "append"), args, 1, 1);
  runtime.heap.charge(sizeof(Value));
  items_of(runtime, self).push_back(args.positional[0]);
  return Value::none();
}

Value list_clear(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("list", "clear"), args, 0, 0);
  items_of(runtime, self).clear();
  return Value::none();
}

Value list_extend(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("list", "extend"), args, 1, 1);
  const std::vector<Value> more = collect(runtime, args.positional[0]);
  runtime.heap.charge(more.size() * sizeof(Value));
  Values& items = items_of(runtime, self);
  items.insert(items.end(), more.begin(), more.end());
  return Value::none();
}

Value list_insert(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("list", "insert"), args, 2, 2);
  const Params params(runtime, c_function("insert"), args, {"index", "object"}, 2);
  Values& items = items_of(runtime, self);
  const auto size = static_cast<std::int64_t>(items.size());
  std::int64_t index = params.integer(0, 0);
  if (index < 0) index += size;
  runtime.heap.charge(sizeof(Value));
  runtime.spend(items.size() / 64);
  items.insert(items.begin() + std::clamp<std::int64_t>(index, 0, size), params[1]);
  return Value::none();
}

Value list_pop(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("list", "pop"), args, 0, 1);
  const Params params(runtime, c_function("pop"), args, {"index"});
  Values& items = items_of(runtime, self);
  if (items.empty()) runtime.fail("pop from empty list");
  std::int64_t index = params.integer(0, -1);
  if (index < 0) index += static_cast<std::int64_t>(items.size());
  if (index < 0 || index >= static_cast<std::int64_t>(items.size())) runtime.fail("pop index out of range");
  const Value out = items[static_cast<std::size_t>(index)];
  runtime.spend(items.size() / 64);
  items.erase(items.begin() + index);
  return out;
}

Value list_remove(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("list", "remove"), args, 1, 1);
  const Value index = [&] {
    const Values& items = items_of(runtime, self);
    for (std::size_t i = 0; i < items.size(); ++i) {
      runtime.spend();
      if (items[i].is_same(args.positional[0]) || equals(runtime, items[i], args.positional[0])) return make_length(i);
    }
    runtime.fail("list.remove(x): x not in list");
  }();
  Values& items = items_of(runtime, self);
  items.erase(items.begin() + index.as_int());
  return Value::none();
}

Value list_reverse(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("list", "reverse"), args, 0, 0);
  Values& items = items_of(runtime, self);
  runtime.spend(items.size() / 16);
  std::reverse(items.begin(), items.end());
  return Value::none();
}

Value list_sort(Runtime& runtime, const Value& self, const Args& args) {
  if (!args.positional.empty()) runtime.fail("sort() takes no positional arguments");
  const Params params(runtime, c_function("sort"), args, {"key", "reverse"});
  const bool reverse = params.flag(1, false);
  const Values& old = items_of(runtime, self);
  std::vector<Value> items(old.begin(), old.end());
  std::vector<Value> keys;
  if (!params[0].is_none()) {
    for (const Value& item : items) keys.push_back(call(runtime, params[0], {std::span(&item, 1), {}}));
  }
  sort_values(runtime, items, keys.empty() ? items : keys, reverse);
  items_of(runtime, self).assign(items.begin(), items.end());
  return Value::none();
}

// --- dict

Value dict_get(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("dict", "get"), args, 1, 2);
  const Value& key = args.positional[0];
  if (!hash_of(runtime, key)) fail_unhashable(runtime, key);
  if (const Value* found = find_item(runtime, self.as_dict(), key)) {
    runtime.note(*found);
    return *found;
  }
  if (runtime.is_reading() && self.has_path() && key.is_string()) {
    runtime.add_read(runtime.origins.paths.member(self.path(), bytes_of(runtime, key)));
  }
  return args.size() > 1 ? args.positional[1] : Value::none();
}

Value dict_view(Runtime& runtime, const Value& self, const Args& args, DictPart part, std::string_view name) {
  require_positional(runtime, method_of("dict", name), args, 0, 0);
  return make_view(runtime, self, part);
}

Value dict_items(Runtime& runtime, const Value& self, const Args& args) {
  return dict_view(runtime, self, args, DictPart::kItems, "items");
}

Value dict_keys(Runtime& runtime, const Value& self, const Args& args) {
  return dict_view(runtime, self, args, DictPart::kKeys, "keys");
}

Value dict_values(Runtime& runtime, const Value& self, const Args& args) {
  return dict_view(runtime, self, args, DictPart::kValues, "values");
}

Value dict_copy(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("dict", "copy"), args, 0, 0);
  return copy_dict(runtime, self).with_path(self.path());
}

Value dict_fromkeys(Runtime& runtime, const Value&, const Args& args) {
  require_positional(runtime, method_of("dict", "fromkeys"), args, 1, 2);
  const Value out = make_dict(runtime);
  for (const Value& key : collect(runtime, args.positional[0])) {
    set_item(runtime, out.as_dict(), key, args.size() > 1 ? args.positional[1] : Value::none());
  }
  return out;
}

Value dict_clear(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("dict", "clear"), args, 0, 0);
  entries_of(runtime, self).clear();
  self.as_dict().slots.clear();
  return Value::none();
}

Value dict_pop(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("dict", "pop"), args, 1, 2);
  const Value& key = args.positional[0];
  if (const Value* found = find_item(runtime, self.as_dict(), key)) {
    const Value out = *found;
    erase_item(runtime, self.as_dict(), key);
    return out;
  }
  // Python asks an empty dict nothing.
  if (!entries_of(runtime, self).empty() && !hash_of(runtime, key)) fail_unhashable(runtime, key);
  if (args.size() < 2) runtime.fail(repr(runtime, key));
  return args.positional[1];
}

Value dict_popitem(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("dict", "popitem"), args, 0, 0);
  if (entries_of(runtime, self).empty()) runtime.fail("'popitem(): dictionary is empty'");
  const Dict::Entry last = entries_of(runtime, self).back();
  const Value out = jinja::make_tuple(runtime, {key_of(runtime, self.as_dict(), last), last.value});
  erase_item(runtime, self.as_dict(), last.key);
  return out;
}

Value dict_setdefault(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("dict", "setdefault"), args, 1, 2);
  if (const Value* found = find_item(runtime, self.as_dict(), args.positional[0])) return *found;
  const Value value = args.size() > 1 ? args.positional[1] : Value::none();
  set_item(runtime, self.as_dict(), args.positional[0], value);
  return value;
}

Value dict_update(Runtime& runtime, const Value& self, const Args& args) {
  if (args.positional.size() > 1) {
    runtime.fail("update expected at most 1 argument, got " + std::to_string(args.positional.size()));
  }
  if (!args.positional.empty()) {
    require_defined(runtime, args.positional[0]);
    update_dict(runtime, self.as_dict(), args.positional[0]);
  }
  for (const NamedValue& argument : args.named) {
    set_item(runtime, self.as_dict(), make_computed(runtime, argument.name), argument.value);
  }
  return Value::none();
}

// --- int and float

Value int_bit_count(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("int", "bit_count"), args, 0, 0);
  const BigInt value = to_big(self);
  runtime.spend(value.square() / 4);
  const std::string bits = (value.is_negative() ? value.negated() : value).to_string(2);
  return Value::integer(std::count(bits.begin(), bits.end(), '1'));
}

Value int_bit_length(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("int", "bit_length"), args, 0, 0);
  return make_length(to_big(self).bit_length());
}

Value int_itself(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of(self.is_float() ? "float" : "int", "conjugate"), args, 0, 0);
  return positive(runtime, self);
}

Value int_ratio(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("int", "as_integer_ratio"), args, 0, 0);
  return jinja::make_tuple(runtime, {positive(runtime, self), Value::integer(1)});
}

Value float_is_integer(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("float", "is_integer"), args, 0, 0);
  return Value::boolean(std::isfinite(self.as_float()) && std::trunc(self.as_float()) == self.as_float());
}

Value float_hex(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("float", "hex"), args, 0, 0);
  const double value = self.as_float();
  if (std::isnan(value)) return make_computed(runtime, "nan");
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isinf(value)) return make_computed(runtime, sign + "inf");
  if (value == 0) return make_computed(runtime, sign + "0x0.0p+0");
  constexpr std::uint64_t kFraction = (std::uint64_t{1} << 52U) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<int>(bits >> 52U & 0x7FFU);
  std::string digits;
  hex::append(digits, bits & kFraction, 13);
  const int power = exponent == 0 ? -1022 : exponent - 1023;
  return make_computed(runtime, sign + (exponent == 0 ? "0x0." : "0x1.") + digits + "p" + (power < 0 ? "" : "+") +
                                    std::to_string(power));
}

Value float_ratio(Runtime& runtime, const Value& self, const Args& args) {
  require_positional(runtime, method_of("float", "as_integer_ratio"), args, 0, 0);
  if (!std::isfinite(self.as_float())) runtime.fail("cannot convert Infinity or NaN to integer ratio");
  double numerator = self.as_float();
  BigInt denominator(1);
  while (std::trunc(numerator) != numerator) {
    numerator *= 2;
    denominator = denominator + denominator;
  }
  return jinja::make_tuple(runtime,
                           {make_integer(runtime, BigInt::truncate(numerator)), make_integer(runtime, denominator)});
}

constexpr auto kListMethods = std::to_array<Method>({
    {"append", list_append, true},
    {"clear", list_clear, true},
    {"copy", list_copy},
    {"count", sequence_count},
    {"extend", list_extend, true},
    {"index", sequence_index},
    {"insert", list_insert, true},
    {"pop", list_pop, true},
    {"remove", list_remove, true},
    {"reverse", list_reverse, true},
    {"sort", list_sort, true},
});
static_assert(std::ranges::is_sorted(kListMethods, {}, &Method::name));
constexpr auto kTupleMethods = std::to_array<Method>({{"count", sequence_count}, {"index", sequence_index}});
static_assert(std::ranges::is_sorted(kTupleMethods, {}, &Method::name));
constexpr auto kDictMethods = std::to_array<Method>({
    {"clear", dict_clear, true},
    {"copy", dict_copy},
    {"fromkeys", dict_fromkeys, false, false, true},
    {"get", dict_get},
    {"items", dict_items},
    {"keys", dict_keys},
    {"pop", dict_pop, true},
    {"popitem", dict_popitem, true},
    {"setdefault", dict_setdefault, true},
    {"update", dict_update, true},
    {"values", dict_values},
});
static_assert(std::ranges::is_sorted(kDictMethods, {}, &Method::name));
constexpr auto kIntMethods = std::to_array<Method>({
    {"as_integer_ratio", int_ratio},
    {"bit_count", int_bit_count},
    {"bit_length", int_bit_length},
    {"conjugate", int_itself},
});
static_assert(std::ranges::is_sorted(kIntMethods, {}, &Method::name));
constexpr auto kFloatMethods = std::to_array<Method>({
    {"as_integer_ratio", float_ratio},
    {"conjugate", int_itself},
    {"hex", float_hex},
    {"is_integer", float_is_integer},
});
static_assert(std::ranges::is_sorted(kFloatMethods, {}, &Method::name));

}  // namespace

void update_dict(Runtime& runtime, Dict& dict, const Value& from) {
  if (from.is_dict()) {
    const std::pmr::vector<Dict::Entry> entries =
        entries_of(runtime, from);  // a copy, because `from` may be `dict` itself
    for (const Dict::Entry& entry : entries)
      set_item(runtime, dict, key_of(runtime, from.as_dict(), entry), entry.value);
    return;
  }
  require_defined(runtime, from);
  std::size_t index = 0;
  for (const Value& element : collect(runtime, from)) {
    if (element.is_number() || element.is_none()) {
      runtime.fail("cannot convert dictionary update sequence element #" + std::to_string(index) + " to a sequence");
    }
    const std::vector<Value> pair = collect(runtime, element);
    if (pair.size() != 2) {
      runtime.fail("dictionary update sequence element #" + std::to_string(index) + " has length " +
                   std::to_string(pair.size()) + "; 2 is required");
    }
    set_item(runtime, dict, pair[0], pair[1]);
    ++index;
  }
}

std::span<const Method> list_methods() { return kListMethods; }
std::span<const Method> tuple_methods() { return kTupleMethods; }
std::span<const Method> dict_methods() { return kDictMethods; }
std::span<const Method> int_methods() { return kIntMethods; }
std::span<const Method> float_methods() { return kFloatMethods; }

}  // namespace rondo::jinja
