// Equality, order and membership, as Python has them.
#include <algorithm>
#include <cmath>

#include "jinja/finder.h"
#include "jinja/operations.h"
#include "jinja/runtime.h"
#include "jinja/strings.h"

namespace rondo::jinja {
namespace {

std::partial_ordering order_int_float(std::int64_t left, double right) {
  if (std::isnan(right)) return std::partial_ordering::unordered;
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (right >= kTwoTo63) return std::partial_ordering::less;
  if (right < -kTwoTo63) return std::partial_ordering::greater;
  const double whole = std::trunc(right);
  const auto integer = static_cast<std::int64_t>(whole);
  if (left != integer) return left <=> integer;
  return 0.0 <=> right - whole;
}

std::partial_ordering reversed(std::partial_ordering order) {
  if (order < 0) return std::partial_ordering::greater;
  if (order > 0) return std::partial_ordering::less;
  return order;
}

bool equal_items(Runtime& runtime, const Value& left, const Value& right) {
  const Values& a = items_of(runtime, left);
  const Values& b = items_of(runtime, right);
  if (a.size() != b.size()) return false;
  const DepthGuard guard(runtime);
  for (std::size_t i = 0; i < a.size(); ++i) {
    runtime.spend();
    if (!a[i].is_same(b[i]) && !equals(runtime, a[i], b[i])) return false;
  }
  return true;
}

bool equal_dicts(Runtime& runtime, const Value& left, const Value& right) {
  const auto& a = entries_of(runtime, left);
  if (a.size() != entries_of(runtime, right).size()) return false;
  const DepthGuard guard(runtime);
  for (const Dict::Entry& entry : a) {
    runtime.spend();
    const Value* other = find_item(runtime, right.as_dict(), entry.key);
    if (other == nullptr || !(entry.value.is_same(*other) || equals(runtime, entry.value, *other))) return false;
  }
  return true;
}

std::string_view symbol(CompareOp op) {
  switch (op) {
    case CompareOp::kEq: return "==";
    case CompareOp::kNe: return "!=";
    case CompareOp::kLt: return "<";
    case CompareOp::kLe: return "<=";
    case CompareOp::kGt: return ">";
    case CompareOp::kGe: return ">=";
    case CompareOp::kIn: return "in";
    case CompareOp::kNotIn: return "not in";
  }
  return "?";
}

bool holds(CompareOp op, std::partial_ordering order) {
  switch (op) {
    case CompareOp::kLt: return order < 0;
    case CompareOp::kLe: return order <= 0;
    case CompareOp::kGt: return order > 0;
    case CompareOp::kGe: return order >= 0;
    default: return false;
  }
}

bool ordered(Runtime& runtime, CompareOp op, const Value& left, const Value& right) {
  require_defined(runtime, left);
  require_defined(runtime, right);
  if (left.is_number() && right.is_number()) {
    if (left.kind() == Kind::kBigInt) runtime.spend(left.as_big().bit_length() / 128);
    return holds(op, order_numbers(left, right));
  }
  if (left.is_string() && right.is_string()) {
    runtime.spend_bytes(std::min(left.as_string().size, right.as_string().size));
    return holds(op, bytes_of(runtime, left).compare(bytes_of(runtime, right)) <=> 0);
  }
  if (left.kind() == right.kind() && left.is_sequence()) {
    const DepthGuard guard(runtime);
    const Values& a = items_of(runtime, left);
    const Values& b = items_of(runtime, right);
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
      runtime.spend();
      if (!a[i].is_same(b[i]) && !equals(runtime, a[i], b[i])) return ordered(runtime, op, a[i], b[i]);
    }
    return holds(op, a.size() <=> b.size());
  }
  runtime.fail("'" + std::string(symbol(op)) + "' not supported between instances of '" + type_name(left) + "' and '" +
               type_name(right) + "'");
}

bool contains(Runtime& runtime, const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::kString: {
      if (!item.is_string()) { runtime.fail("'in <string>' requires string as left operand, not " + type_name(item)); }
      log_probe(runtime, "in", item, container);
      runtime.spend_bytes(container.as_string().size);
      return Finder(bytes_of(runtime, item)).find(bytes_of(runtime, container)) != std::string_view::npos;
    }
    case Kind::kDict: {
      if (!item.is_string() && !hash_of(runtime, item)) { runtime.fail("unhashable type: '" + type_name(item) + "'"); }
      return find_item(runtime, container.as_dict(), item) != nullptr;
    }
    case Kind::kUndefined:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kObject: break;
    default: runtime.fail("argument of type '" + type_name(container) + "' is not iterable");
  }
  if (container.is_object()) {
    Iterator* iterator = container.as_object().iterate(runtime);
    if (iterator == nullptr) runtime.fail("argument of type '" + type_name(container) + "' is not iterable");
    const std::string_view type = container.as_object().type_name();
    if ((type == "dict_keys" || type == "set") && !hash_of(runtime, item)) {
      runtime.fail("unhashable type: '" + type_name(item) + "'");
    }
    Value candidate;
    while (iterator->next(runtime, candidate)) {
      if (candidate.is_same(item) || equals(runtime, candidate, item)) return true;
    }
    return false;
  }
  if (container.is_undefined()) return false;
  for (const Value& candidate : items_of(runtime, container)) {
    runtime.spend();
    if (candidate.is_same(item) || equals(runtime, candidate, item)) return true;
  }
  return false;
}

}  // namespace

std::partial_ordering order_numbers(const Value& left, const Value& right) {
  if (left.is_small_int() && right.is_small_int()) return left.as_int() <=> right.as_int();
  if (left.is_float() && right.is_float()) return left.as_float() <=> right.as_float();
  if (left.is_small_int() && right.is_float()) return order_int_float(left.as_int(), right.as_float());
  if (left.is_float() && right.is_small_int()) return reversed(order_int_float(right.as_int(), left.as_float()));
  if (left.is_float()) return reversed(order_numbers(right, left));
  if (right.is_float()) {
    const double number = right.as_float();
    if (std::isnan(number)) return std::partial_ordering::unordered;
    if (std::isinf(number)) return 0.0 <=> number;
    return left.as_big() <=> BigInt::truncate(number);  // beyond 64 bits every double is whole
  }
  return to_big(left) <=> to_big(right);
}

bool equals(Runtime& runtime, const Value& left, const Value& right) {
  if (left.is_number() && right.is_number()) return order_numbers(left, right) == 0;
  if (left.is_object()) {
    const std::optional<bool> answer = left.as_object().equals(runtime, right);
    return answer.value_or(left.is_same(right));
  }
  if (left.kind() != right.kind()) {
    if (right.is_object()) return right.as_object().equals(runtime, left).value_or(false);
    return false;
  }
  switch (left.kind()) {
    case Kind::kUndefined:
    case Kind::kNone: return true;
    case Kind::kString:
      if (left.as_string().size != right.as_string().size) return false;
      runtime.spend_bytes(left.as_string().size);
      return bytes_of(runtime, left) == bytes_of(runtime, right);
    case Kind::kList:
    case Kind::kTuple: return equal_items(runtime, left, right);
    case Kind::kDict: return equal_dicts(runtime, left, right);
    default: return left.is_same(right);
  }
}

bool less(Runtime& runtime, const Value& left, const Value& right) {
  return ordered(runtime, CompareOp::kLt, left, right);
}

bool compare(Runtime& runtime, CompareOp op, const Value& left, const Value& right) {
  switch (op) {
    case CompareOp::kIn: return contains(runtime, right, left);
    case CompareOp::kNotIn: return !contains(runtime, right, left);
    case CompareOp::kEq:
    case CompareOp::kNe: return equals(runtime, left, right) == (op == CompareOp::kEq);
    default: return ordered(runtime, op, left, right);
  }
}

}  // namespace rondo::jinja
