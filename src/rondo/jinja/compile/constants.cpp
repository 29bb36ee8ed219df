#include "jinja/compile/constants.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "jinja/builtins/filters.h"
#include "jinja/builtins/tests.h"
#include "jinja/common/options.h"
#include "jinja/compile/folding.h"
#include "jinja/syntax/ast.h"
#include "jinja/types/access.h"
#include "jinja/types/arithmetic.h"
#include "jinja/types/compare.h"
#include "jinja/types/iteration.h"
#include "jinja/types/repr.h"
#include "jinja/value/dicts.h"
#include "jinja/value/heap.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

// Whether repr() of the value is Python source for it, from the reference's point of view.
bool has_safe_repr(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kNamespace:
    case Kind::kObject: return false;
    case Kind::kList:
    case Kind::kTuple: {
      const Values& items = items_of(runtime, value);
      return !value.as_list().is_group &&
             std::all_of(items.begin(), items.end(), [&](const Value& item) { return has_safe_repr(runtime, item); });
    }
    case Kind::kDict: {
      const auto& entries = entries_of(runtime, value);
      return std::all_of(entries.begin(), entries.end(), [&](const Dict::Entry& entry) {
        return has_safe_repr(runtime, entry.key) && has_safe_repr(runtime, entry.value);
      });
    }
    default: return true;
  }
}

RenderOptions options_of_constants() {
  RenderOptions options;
  options.origins = false;
  options.limits.instructions = 100'000;  // for a whole template, which compiles in a millisecond or two
  options.limits.memory_bytes = std::size_t{4} << 20U;
  return options;
}

}  // namespace

struct Constants::State {
  text::Origins origins;
  RenderOptions options = options_of_constants();
  BlockPool blocks;
  Runtime runtime{origins, options, blocks};
};

Constants::Constants(const Tree& tree) : tree_(tree), state_(std::make_unique<State>()) {}
Constants::~Constants() = default;

std::optional<Value> Constants::value(const Expr& node, const Escaping& escaping) {
  state_->runtime.autoescape = escaping.on;
  is_open_ = escaping.open;
  try {
    return compute(node);
  } catch (const Failure&) { return std::nullopt; }
}

std::optional<Value> Constants::replacement(const Expr& node, const Escaping& escaping) {
  if (escaping.open) return std::nullopt;
  const std::optional<Value> out = value(node, escaping);
  return out && has_safe_repr(state_->runtime, *out) ? out : std::nullopt;
}

std::optional<std::vector<Value>> Constants::compute_all(const std::vector<ExprPtr>& nodes) {
  std::vector<Value> out;
  for (const ExprPtr& node : nodes) {
    const std::optional<Value> value = compute(*node);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

std::optional<Value> Constants::compute(const Expr& node) {
  Runtime& runtime = state_->runtime;
  runtime.spend();
  switch (node.kind) {
    case ExprKind::kString: return make_computed(runtime, tree_.literal_texts[node.literal]);
    case ExprKind::kInteger:
    case ExprKind::kFloat: return make_number(runtime, node.text, node.kind == ExprKind::kFloat);
    case ExprKind::kBool: return Value::boolean(node.flag);
    case ExprKind::kNone: return Value::none();
    case ExprKind::kCompare: return compute_comparison(node);
    case ExprKind::kGetAttr:
    case ExprKind::kGetItem: return compute_element(node);
    case ExprKind::kFilter:
    case ExprKind::kTest: return compute_call(node);
    case ExprKind::kInlineIf: {
      const std::optional<Value> test = compute(*node.items[0]);
      if (!test) return std::nullopt;
      const ExprPtr& taken = node.items[truthy(runtime, *test) ? 1 : 2];
      return taken == nullptr ? std::nullopt : compute(*taken);
    }
    case ExprKind::kAnd:
    case ExprKind::kOr: {
      const std::optional<Value> left = compute(*node.items[0]);
      if (!left || truthy(runtime, *left) == (node.kind == ExprKind::kOr)) return left;
      return compute(*node.items[1]);
    }
    case ExprKind::kText:
    case ExprKind::kName:
    case ExprKind::kNsRef:
    case ExprKind::kSlice:
    case ExprKind::kCall: return std::nullopt;
    default: return compute_operation(node);
  }
}

// For operations that need all their values.
std::optional<Value> Constants::compute_operation(const Expr& node) {
  Runtime& runtime = state_->runtime;
  const std::optional<std::vector<Value>> items = compute_all(node.items);
  if (!items) return std::nullopt;
  switch (node.kind) {
    case ExprKind::kTuple: return jinja::make_tuple(runtime, *items);
    case ExprKind::kList: return make_list(runtime, *items);
    case ExprKind::kDict: {
      const Value out = make_dict(runtime);
      for (std::size_t i = 0; i + 1 < items->size(); i += 2) {
        set_item(runtime, out.as_dict(), (*items)[i], (*items)[i + 1]);
      }
      return out;
    }
    case ExprKind::kConcat: return concat(runtime, *items).with_markup(false);
    case ExprKind::kNot: return Value::boolean(!truthy(runtime, (*items)[0]));
    case ExprKind::kNegative: return negate(runtime, (*items)[0]);
    case ExprKind::kPositive: return positive(runtime, (*items)[0]);
    case ExprKind::kBinary: return binary(runtime, binary_op(node.token), (*items)[0], (*items)[1]);
    default: return std::nullopt;
  }
}

std::optional<Value> Constants::compute_comparison(const Expr& node) {
  Runtime& runtime = state_->runtime;
  std::optional<Value> left = compute(*node.items[0]);
  for (std::size_t i = 0; left && i < node.comparisons.size(); ++i) {
    const std::optional<Value> right = compute(*node.items[i + 1]);
    if (!right) return std::nullopt;
    if (!compare(runtime, node.comparisons[i].op, *left, *right)) return Value::boolean(false);
    left = right;
  }
  return left ? std::optional(Value::boolean(true)) : std::nullopt;
}

std::optional<Value> Constants::compute_element(const Expr& node) {
  Runtime& runtime = state_->runtime;
  const std::optional<Value> object = compute(*node.items[0]);
  if (!object) return std::nullopt;
  if (node.kind == ExprKind::kGetAttr) return get_attr(runtime, *object, runtime.heap.copy(node.text));
  const Expr& key = *node.items[1];
  if (key.kind != ExprKind::kSlice) {
    const std::optional<Value> index = compute(key);
    return index ? std::optional(get_item(runtime, *object, *index)) : std::nullopt;
  }
  Value bounds[3] = {Value::none(), Value::none(), Value::none()};
  for (std::size_t i = 0; i < std::size(bounds); ++i) {
    if (key.items[i] == nullptr) continue;
    const std::optional<Value> bound = compute(*key.items[i]);
    if (!bound) return std::nullopt;
    bounds[i] = *bound;
  }
  return get_constant_slice(runtime, *object, bounds[0], bounds[1], bounds[2]);
}

std::optional<Value> Constants::compute_call(const Expr& node) {
  Runtime& runtime = state_->runtime;
  const Filter* filter = node.kind == ExprKind::kFilter ? find_filter(node.text) : nullptr;
  const Test* test = node.kind == ExprKind::kTest ? find_test(node.text) : nullptr;
  const bool takes_variables = filter != nullptr && asks_for_variables(node.text);
  if ((filter == nullptr && test == nullptr) || takes_variables || is_open_) return std::nullopt;
  if (node.items.empty() || node.items[0] == nullptr) return std::nullopt;
  std::optional<std::vector<Value>> positional = compute_all(node.call.positional);
  if (!positional) return std::nullopt;
  std::vector<NamedValue> named;
  for (const auto& [name, expression] : node.call.keyword) {
    const std::optional<Value> value = compute(*expression);
    if (!value) return std::nullopt;
    named.push_back({name, *value});
  }
  if (node.call.star) {
    const std::optional<Value> more = compute(*node.call.star);
    if (!more) return std::nullopt;
    const std::vector<Value> items = collect(runtime, *more);
    positional->insert(positional->end(), items.begin(), items.end());
  }
  if (node.call.double_star) return std::nullopt;  // of a constant dict, which nobody writes
  const std::optional<Value> subject = compute(*node.items[0]);
  if (!subject) return std::nullopt;
  const Args args{*positional, named};
  if (filter != nullptr) return call_filter(runtime, *filter, *subject, args);
  return Value::boolean(call_test(runtime, *test, *subject, args));
}

std::string_view Constants::undefined_number(const Value& value) {
  Runtime& runtime = state_->runtime;
  if (value.is_float()) return std::isnan(value.as_float()) ? "nan" : std::isinf(value.as_float()) ? "inf" : "";
  std::string_view out;
  const auto look_at = [&](const Value& part) {
    if (out.empty()) out = undefined_number(part);
  };
  if (value.is_sequence()) {
    for (const Value& item : items_of(runtime, value)) look_at(item);
  } else if (value.is_dict()) {
    for (const Dict::Entry& entry : entries_of(runtime, value)) {
      look_at(entry.key);
      look_at(entry.value);
    }
  }
  return out;
}

}  // namespace rondo::jinja
