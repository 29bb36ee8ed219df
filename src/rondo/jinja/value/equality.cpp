#include "jinja/value/equality.h"

#include <optional>

#include "jinja/value/dicts.h"
#include "jinja/value/input.h"
#include "jinja/value/numbers.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

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

}  // namespace

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

}  // namespace rondo::jinja
