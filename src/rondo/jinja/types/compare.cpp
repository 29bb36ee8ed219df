#include "jinja/types/compare.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "jinja/common/operators.h"
#include "jinja/types/finder.h"
#include "jinja/types/views.h"
#include "jinja/value/dicts.h"
#include "jinja/value/equality.h"
#include "jinja/value/input.h"
#include "jinja/value/numbers.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

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
    // Charged before the comparison, because its time grows with the number.
    if (left.kind() == Kind::kBigInt) runtime.spend(left.as_big().bit_length() / 128);
    return holds(op, order_numbers(left, right));
  }
  if (left.is_string() && right.is_string()) {
    runtime.spend_bytes(std::min(left.as_string().size, right.as_string().size));
    return holds(op, bytes_of(runtime, left).compare(bytes_of(runtime, right)) <=> 0);
  }
  if (const std::optional<bool> answer = compare_views(runtime, op, left, right)) return *answer;
  if (left.kind() == right.kind() && left.is_sequence()) {
    const DepthGuard guard(runtime);
    const Values& a = items_of(runtime, left);
    const Values& b = items_of(runtime, right);
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
      runtime.spend();
      // Python compares identity before equality, so a NaN in both lists does not end the comparison.
      if (!a[i].is_same(b[i]) && !equals(runtime, a[i], b[i])) return ordered(runtime, op, a[i], b[i]);
    }
    return holds(op, a.size() <=> b.size());
  }
  runtime.fail("'" + std::string(to_string(op)) + "' not supported between instances of '" + type_name(left) +
               "' and '" + type_name(right) + "'");
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
      if (!item.is_string() && !hash_of(runtime, item)) fail_unhashable(runtime, item);
      return find_item(runtime, container.as_dict(), item) != nullptr;
    }
    case Kind::kUndefined:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kObject: break;
    default: runtime.fail("argument of type '" + type_name(container) + "' is not iterable");
  }
  if (container.is_object()) {
    if (const std::optional<bool> answer = view_contains(runtime, container, item)) return *answer;
    Iterator* iterator = container.as_object().iterate(runtime);
    if (iterator == nullptr) runtime.fail("argument of type '" + type_name(container) + "' is not iterable");
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
