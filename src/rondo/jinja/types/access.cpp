#include "jinja/types/access.h"

#include <algorithm>
#include <limits>

#include "jinja/types/arithmetic.h"
#include "jinja/types/iteration.h"
#include "jinja/types/methods.h"
#include "jinja/types/repr.h"
#include "jinja/types/views.h"
#include "jinja/value/dicts.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

UndefinedInfo* make_info(Runtime& runtime) {
  return new (runtime.heap.allocate(sizeof(UndefinedInfo), alignof(UndefinedInfo))) UndefinedInfo;
}

Value missing_element(Runtime& runtime, const Value& object, const Value& key) {
  UndefinedInfo* info = make_info(runtime);
  info->name = runtime.heap.copy(repr(runtime, key));
  info->object_type = runtime.heap.copy(object_type(object));
  info->element = true;
  return Value::undefined(info);
}

Value unsafe(Runtime& runtime, const Value& object, std::string_view name) {
  UndefinedInfo* info = make_info(runtime);
  info->name = name;
  info->hint = runtime.heap.copy("access to attribute '" + std::string(name) + "' of '" + type_name(object) +
                                 "' object is unsafe.");
  info->unsafe = true;
  return Value::undefined(info);
}

// Attributes that every Python object has and the sandbox hides.
bool is_internal(std::string_view name) { return name.size() > 4 && name.starts_with("__") && name.ends_with("__"); }

// The element object[key]; nothing instead of KeyError, IndexError, TypeError.
std::optional<Value> element(Runtime& runtime, const Value& object, const Value& key) {
  if (object.is_dict()) {
    const Value* member = find_item(runtime, object.as_dict(), key);
    return member == nullptr ? std::nullopt : std::optional<Value>(*member);
  }
  if (object.is_object()) return object.as_object().element(runtime, key);
  if (!key.is_small_int()) return std::nullopt;
  std::int64_t index = key.as_int();
  if (object.is_sequence()) {
    const Values& items = items_of(runtime, object);
    if (index < 0) index += static_cast<std::int64_t>(items.size());
    if (index < 0 || index >= static_cast<std::int64_t>(items.size())) return std::nullopt;
    return items[static_cast<std::size_t>(index)];
  }
  if (object.is_string()) {
    const auto size = static_cast<std::int64_t>(code_points(runtime, object));
    if (index < 0) index += size;
    if (index < 0 || index >= size) return std::nullopt;
    const std::size_t begin = byte_offset(runtime, object, static_cast<std::size_t>(index));
    return substring(runtime, object, begin, begin + decode_at(bytes_of(runtime, object), begin).size, "slice");
  }
  return std::nullopt;
}

Value get_element(Runtime& runtime, const Value& object, const Value& key) {
  require_defined(runtime, object);
  if (std::optional<Value> found = element(runtime, object, key)) return *found;
  if (!key.is_string()) return missing_element(runtime, object, key);
  const std::string_view name = bytes_of(runtime, key);
  if (std::optional<Value> found = find_attribute(runtime, object, name)) return *found;
  return missing_attribute(runtime, object, name);
}

// Python's slice.indices(): the elements that a slice picks out of `size`.
struct SliceRange {
  std::int64_t first = 0;
  std::int64_t last = 0;  // where it stops, which may be after the last element
  std::int64_t count = 0;
  std::int64_t step = 1;
};

std::optional<std::int64_t> slice_bound(Runtime& runtime, const Value& value) {
  if (value.is_none()) return std::nullopt;
  if (value.is_small_int()) return value.as_int();
  if (value.kind() == Kind::kBigInt) {
    constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();
    return value.as_big().is_negative() ? -kFar : kFar;
  }
  runtime.fail("slice indices must be integers or None or have an __index__ method");
}

SliceRange slice_range(Runtime& runtime, const Value& start, const Value& stop, const Value& step, std::int64_t size) {
  SliceRange out;
  constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();
  out.step = std::clamp(slice_bound(runtime, step).value_or(1), -kFar, kFar);
  if (out.step == 0) runtime.fail("slice step cannot be zero");
  const std::int64_t lowest = out.step < 0 ? -1 : 0;
  const std::int64_t highest = out.step < 0 ? size - 1 : size;
  const auto bound = [&](const Value& value, std::int64_t fallback) {
    const std::optional<std::int64_t> given = slice_bound(runtime, value);
    if (!given) return fallback;
    const std::int64_t index = *given < 0 ? std::max(*given, -kFar) + size : *given;
    return std::clamp(index, lowest, highest);
  };
  out.first = bound(start, out.step < 0 ? highest : lowest);
  out.last = bound(stop, out.step < 0 ? lowest : highest);
  const std::int64_t distance = out.step < 0 ? out.first - out.last : out.last - out.first;
  if (distance > 0) out.count = (distance - 1) / std::abs(out.step) + 1;
  return out;
}

Value slice_string(Runtime& runtime, const Value& object, const SliceRange& range) {
  const auto at = [&](std::int64_t index) { return byte_offset(runtime, object, static_cast<std::size_t>(index)); };
  if (range.count == 0) return substring(runtime, object, 0, 0, "slice");
  if (range.step == 1) return substring(runtime, object, at(range.first), at(range.first + range.count), "slice");
  const String& source = joined_parts(runtime, object);
  const std::string_view bytes = bytes_of(runtime, object);
  StringBuilder out(runtime);
  std::size_t begin = at(range.first);
  runtime.spend(static_cast<std::uint64_t>(range.count));
  for (std::int64_t i = 0; i < range.count; ++i) {
    out.append(source, begin, begin + decode_at(bytes, begin).size, "slice");
    if (i + 1 == range.count) break;
    for (std::int64_t k = 0; k < std::abs(range.step); ++k) {
      begin = range.step > 0 ? begin + decode_at(bytes, begin).size : previous_start(bytes, begin);
    }
  }
  return out.finish(object.path()).with_markup(object.is_markup());
}

std::optional<Value> object_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  const bool hidden = name == "gi_frame" || name == "gi_code";  // jinja2.sandbox.UNSAFE_GENERATOR_ATTRIBUTES
  if (hidden && object.as_object().type_name() == "generator") return unsafe(runtime, object, name);
  return object.as_object().attribute(runtime, name);
}

// The attributes of Python's int, float and bool.
std::optional<Value> number_attribute(Runtime& runtime, const Value& number, std::string_view name) {
  const bool is_integral = number.is_integral();
  if (name == "imag") return number.is_float() ? Value::floating(0) : Value::integer(0);
  if (name == "denominator" && is_integral) return Value::integer(1);
  if (name != "real" && !(name == "numerator" && is_integral)) return std::nullopt;
  return number.is_bool() ? positive(runtime, number) : number;
}

}  // namespace

std::optional<Value> find_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  if (is_internal(name)) return unsafe(runtime, object, name);
  if (object.is_object()) return object_attribute(runtime, object, name);
  if (object.kind() == Kind::kNamespace) {
    const Value* member = find_item(runtime, object.as_dict(), name);
    if (member == nullptr) return std::nullopt;
    return name.starts_with('_') ? unsafe(runtime, object, name) : *member;  // the sandbox hides it
  }
  if (const Method* method = lookup_method(object, name)) {
    if (method->mutates && runtime.options.strict) return unsafe(runtime, object, name);
    return bind_method(runtime, object, *method);
  }
  if (object.is_tuple() && object.as_list().is_group) {
    if (name == "grouper") return items_of(runtime, object)[0];
    if (name == "list") return items_of(runtime, object)[1];
  }
  return object.is_number() ? number_attribute(runtime, object, name) : std::nullopt;
}

Value missing_attribute(Runtime& runtime, const Value& object, std::string_view name) {
  UndefinedInfo* info = make_info(runtime);
  info->name = name;
  info->object_type = object.is_dict() ? "dict object" : runtime.heap.copy(object_type(object));
  // An absent member is also something that the template learned from the input.
  if (runtime.is_reading() && object.is_dict() && object.has_path()) {
    runtime.add_read(runtime.origins.paths.member(object.path(), name));
  }
  return Value::undefined(info);
}

bool truthy(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kNone: return false;
    case Kind::kBool:
    case Kind::kInt: return value.as_int() != 0;
    case Kind::kBigInt: return true;
    case Kind::kFloat: return value.as_float() != 0;
    case Kind::kString: return value.as_string().size != 0;
    case Kind::kList:
    case Kind::kTuple: {
      const List& list = value.as_list();
      return list.source != nullptr ? !list.source->empty() : !list.items.empty();
    }
    case Kind::kDict: {
      const Dict& dict = value.as_dict();
      return dict.source != nullptr ? !dict.source->empty() : !dict.entries.empty();
    }
    case Kind::kNamespace: return true;
    case Kind::kObject: return value.as_object().truthy(runtime);
  }
  return true;
}

Value get_attr(Runtime& runtime, const Value& object, std::string_view name) {
  const UndefinedInfo* missing_object = object.is_undefined() ? object.undefined_info() : nullptr;
  if (missing_object != nullptr && !missing_object->unsafe && is_internal(name)) return unsafe(runtime, object, name);
  require_defined(runtime, object);
  std::optional<Value> found = find_attribute(runtime, object, name);
  if (!found && object.is_dict()) {
    if (const Value* member = find_item(runtime, object.as_dict(), name)) found = *member;
  } else if (!found && object.is_object()) {
    found = object.as_object().element(runtime, make_computed(runtime, name));
  }
  if (!found) return missing_attribute(runtime, object, name);
  runtime.note(*found);
  return *found;
}

Value get_item(Runtime& runtime, const Value& object, const Value& key) {
  const Value found = get_element(runtime, object, key);
  runtime.note(found);
  return found;
}

Value get_slice(Runtime& runtime, const Value& object, const Value& start, const Value& stop, const Value& step) {
  require_defined(runtime, object);
  if (object.is_string()) {
    const auto size = static_cast<std::int64_t>(code_points(runtime, object));
    return slice_string(runtime, object, slice_range(runtime, start, stop, step, size));
  }
  if (object.is_object() && object.as_object().is_sequence()) {
    const auto size = static_cast<std::int64_t>(length_of(runtime, object).value_or(0));
    const SliceRange range = slice_range(runtime, start, stop, step, size);
    return slice_of_range(runtime, object, {range.first, range.last, range.step});
  }
  if (!object.is_sequence()) {
    if (object.is_dict()) runtime.fail("unhashable type: 'slice'");
    runtime.fail("'" + type_name(object) + "' object is not subscriptable");
  }
  const Values& items = items_of(runtime, object);
  const SliceRange range = slice_range(runtime, start, stop, step, static_cast<std::int64_t>(items.size()));
  std::vector<Value> out;
  out.reserve(static_cast<std::size_t>(range.count));
  runtime.spend(static_cast<std::uint64_t>(range.count) / 4);
  for (std::int64_t i = 0; i < range.count; ++i)
    out.push_back(items[static_cast<std::size_t>(range.first + i * range.step)]);
  // The path is kept, because a part of the messages still belongs to the messages.
  const Value list = make_list(runtime, out);
  return (object.is_tuple() ? Value::tuple(&list.as_list()) : list).with_path(object.path());
}

Value call(Runtime& runtime, const Value& callee, const Args& args) {
  require_defined(runtime, callee);
  if (!callee.is_object() || !callee.as_object().callable()) {
    runtime.fail("'" + type_name(callee) + "' object is not callable");
  }
  const DepthGuard guard(runtime);
  return callee.as_object().call(runtime, args);
}

Value call_method(Runtime& runtime, const Value& object, std::string_view name, const Args& args) {
  if (const Method* method = lookup_method(object, name)) {
    if (!method->mutates || !runtime.options.strict) return run_method(runtime, *method, object, args);
  }
  return call(runtime, get_attr(runtime, object, name), args);
}

}  // namespace rondo::jinja
