// The builtin tests, which follow `is`.
#include "jinja/builtins/tests.h"

#include <algorithm>
#include <array>

#include "jinja/builtins/filters.h"
#include "jinja/common/operators.h"
#include "jinja/types/arithmetic.h"
#include "jinja/types/compare.h"
#include "jinja/types/iteration.h"
#include "jinja/types/params.h"
#include "jinja/types/repr.h"
#include "jinja/types/string_case.h"
#include "jinja/value/dicts.h"
#include "jinja/value/equality.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

void no_arguments(Runtime& runtime, std::string_view name, const Args& args) {
  if (args.size() != 0) const Params params(runtime, python(name, 1), args, {});
}

const Value& one_argument(Runtime& runtime, std::string_view name, const Args& args, std::string_view parameter) {
  const Params params(runtime, python(name, 1), args, {parameter}, 1);
  return args.positional.empty() ? args.named[0].value : args.positional[0];
}

// These are functions of Python's module `operator`, written in C.
template <CompareOp kOp>
bool compares(Runtime& runtime, const Value& subject, const Args& args) {
  static constexpr std::string_view kNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  const std::string name(kNames[static_cast<std::size_t>(kOp)]);
  if (!args.named.empty()) runtime.fail("_operator." + name + "() takes no keyword arguments");
  if (args.positional.size() != 1) {
    runtime.fail(name + " expected 2 arguments, got " + std::to_string(args.positional.size() + 1));
  }
  return compare(runtime, kOp, subject, args.positional[0]);
}

bool remainder_is(Runtime& runtime, const Value& subject, const Value& divisor, std::int64_t wanted) {
  return equals(runtime, binary(runtime, BinaryOp::kMod, subject, divisor), Value::integer(wanted));
}

bool is_boolean(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_boolean", args);
  return subject.is_bool();
}

bool is_callable(Runtime& runtime, const Value& subject, const Args& args) {
  require_no_more(runtime, "callable", args);
  return subject.is_undefined() || (subject.is_object() && subject.as_object().callable());
}

bool is_defined(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_defined", args);
  return !subject.is_undefined();
}

bool is_divisible(Runtime& runtime, const Value& subject, const Args& args) {
  return remainder_is(runtime, subject, one_argument(runtime, "test_divisibleby", args, "num"), 0);
}

bool is_escaped(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_escaped", args);
  return subject.is_markup();
}

bool is_even(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_even", args);
  return remainder_is(runtime, subject, Value::integer(2), 0);
}

bool is_odd(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_odd", args);
  return remainder_is(runtime, subject, Value::integer(2), 1);
}

bool is_false(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_false", args);
  return subject.is_bool() && !subject.as_bool();
}

bool is_true(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_true", args);
  return subject.is_bool() && subject.as_bool();
}

// The reference looks the subject up in a dict.
void require_hashable(Runtime& runtime, const Value& subject) {
  if (!hash_of(runtime, subject)) fail_unhashable(runtime, subject);
}

bool is_filter(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("test_filter", 2), args, {});
  require_hashable(runtime, subject);
  const Filter* filter = subject.is_string() ? find_filter(bytes_of(runtime, subject)) : nullptr;
  return filter != nullptr && !(filter->lenient_only && runtime.options.strict);
}

bool is_test(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("test_test", 2), args, {});
  require_hashable(runtime, subject);
  return subject.is_string() && find_test(bytes_of(runtime, subject)) != nullptr;
}

bool is_float(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_float", args);
  return subject.is_float();
}

bool is_in(Runtime& runtime, const Value& subject, const Args& args) {
  return compare(runtime, CompareOp::kIn, subject, one_argument(runtime, "test_in", args, "seq"));
}

bool is_integer(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_integer", args);
  return subject.is_integral() && !subject.is_bool();
}

bool can_iterate(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_iterable", args);
  return is_iterable(runtime, subject);
}

bool is_lower(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_lower", args);
  return str_islower(runtime, to_text(runtime, subject), {}).as_bool();
}

bool is_upper(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_upper", args);
  return str_isupper(runtime, to_text(runtime, subject), {}).as_bool();
}

bool is_mapping(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_mapping", args);
  return subject.is_dict();
}

bool is_none(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_none", args);
  return subject.is_none();
}

bool is_number(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_number", args);
  return subject.is_number();
}

// Python's `is`.  Equal scalars and constants count as the same object, because Python's caches usually make them so.
bool is_same_as(Runtime& runtime, const Value& subject, const Args& args) {
  const Value& other = one_argument(runtime, "test_sameas", args, "other");
  if (subject.kind() != other.kind()) return false;
  if (subject.is_markup() != other.is_markup()) return false;
  if (subject.is_string()) return equals(runtime, subject, other);
  return subject.is_same(other) || (subject.is_undefined() && subject.undefined_info() == other.undefined_info());
}

bool is_sequence(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_sequence", args);
  if (subject.is_object()) return subject.as_object().is_sequence();
  return subject.is_undefined() || subject.is_string() || subject.is_sequence() || subject.is_dict();
}

bool is_string(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_string", args);
  return subject.is_string();
}

bool is_undefined(Runtime& runtime, const Value& subject, const Args& args) {
  no_arguments(runtime, "test_undefined", args);
  return subject.is_undefined();
}

constexpr auto kTests = std::to_array<Test>({
    {"!=", compares<CompareOp::kNe>},
    {"<", compares<CompareOp::kLt>},
    {"<=", compares<CompareOp::kLe>},
    {"==", compares<CompareOp::kEq>},
    {">", compares<CompareOp::kGt>},
    {">=", compares<CompareOp::kGe>},
    {"boolean", is_boolean},
    {"callable", is_callable},
    {"defined", is_defined},
    {"divisibleby", is_divisible},
    {"eq", compares<CompareOp::kEq>},
    {"equalto", compares<CompareOp::kEq>},
    {"escaped", is_escaped},
    {"even", is_even},
    {"false", is_false},
    {"filter", is_filter},
    {"float", is_float},
    {"ge", compares<CompareOp::kGe>},
    {"greaterthan", compares<CompareOp::kGt>},
    {"gt", compares<CompareOp::kGt>},
    {"in", is_in},
    {"integer", is_integer},
    {"iterable", can_iterate},
    {"le", compares<CompareOp::kLe>},
    {"lessthan", compares<CompareOp::kLt>},
    {"lower", is_lower},
    {"lt", compares<CompareOp::kLt>},
    {"mapping", is_mapping},
    {"ne", compares<CompareOp::kNe>},
    {"none", is_none},
    {"number", is_number},
    {"odd", is_odd},
    {"sameas", is_same_as},
    {"sequence", is_sequence},
    {"string", is_string},
    {"test", is_test},
    {"true", is_true},
    {"undefined", is_undefined},
    {"upper", is_upper},
});
static_assert(std::ranges::is_sorted(kTests, {}, &Test::name));

}  // namespace

const Test* find_test(std::string_view name) {
  const auto found = std::lower_bound(kTests.begin(), kTests.end(), name,
                                      [](const Test& test, std::string_view key) { return test.name < key; });
  return found != kTests.end() && found->name == name ? &*found : nullptr;
}

bool call_test(Runtime& runtime, const Test& test, const Value& subject, const Args& args) {
  return test.run(runtime, subject, args);
}

}  // namespace rondo::jinja
