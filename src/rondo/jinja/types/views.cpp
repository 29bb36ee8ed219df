#include "jinja/types/views.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "jinja/common/operators.h"
#include "jinja/types/compare.h"
#include "jinja/types/iteration.h"
#include "jinja/types/methods.h"
#include "jinja/types/params.h"
#include "jinja/types/repr.h"
#include "jinja/value/dicts.h"
#include "jinja/value/equality.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

class ViewIterator final : public Iterator {
 public:
  ViewIterator(Runtime& runtime, Value dict, DictPart part, bool backwards)
      : dict_(dict), part_(part), size_(entries_of(runtime, dict).size()), backwards_(backwards) {}
  bool next(Runtime& runtime, Value& out) override {
    const auto& entries = entries_of(runtime, dict_);
    if (entries.size() != size_) runtime.fail("dictionary changed size during iteration");
    if (at_ >= entries.size()) return false;
    runtime.spend();
    const Dict::Entry& entry = entries[backwards_ ? size_ - 1 - at_ : at_];
    ++at_;
    if (part_ == DictPart::kValues) {
      out = entry.value;
    } else if (part_ != DictPart::kItems) {
      out = key_of(runtime, dict_.as_dict(), entry);
    } else {
      out = jinja::make_tuple(runtime, {key_of(runtime, dict_.as_dict(), entry), entry.value});
    }
    return true;
  }

 private:
  Value dict_;
  DictPart part_;
  std::size_t size_;
  std::size_t at_ = 0;
  bool backwards_;
};

class DictView final : public Object {
 public:
  DictView(Value dict, DictPart part) : dict_(dict), part_(part) {}
  [[nodiscard]] std::string_view type_name() const override {
    static constexpr std::string_view kTypes[] = {"dict_keys", "dict_values", "dict_items", "set"};
    return kTypes[static_cast<std::size_t>(part_)];
  }
  [[nodiscard]] std::string repr(Runtime& runtime) override {
    const std::string items = jinja::repr(runtime, make_list(runtime, dict_part(runtime, dict_, part_)));
    if (part_ != DictPart::kSet) return std::string(type_name()) + "(" + items + ")";
    return length(runtime) == 0 ? "set()" : "{" + items.substr(1, items.size() - 2) + "}";
  }
  [[nodiscard]] Iterator* iterate(Runtime& runtime) override {
    return runtime.heap.make_object<ViewIterator>(runtime, dict_, part_, false);
  }
  [[nodiscard]] std::optional<Value> attribute(Runtime& runtime, std::string_view name) override {
    static constexpr Method kOfViews[] = {{"isdisjoint", is_disjoint}};
    if (part_ == DictPart::kValues) return std::nullopt;
    if (const Method* method = find_method(kOfViews, name)) return bind_method(runtime, Value::object(this), *method);
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::size_t> length(Runtime& runtime) override { return length_of(runtime, dict_); }
  [[nodiscard]] DictPart part() const { return part_; }
  [[nodiscard]] std::size_t size(Runtime& runtime) const { return length_of(runtime, dict_).value_or(0); }
  // Looks the item up by its hash, so that an unhashable one is an error even if nothing is equal to it.
  [[nodiscard]] bool contains(Runtime& runtime, const Value& item) const {
    if (part_ == DictPart::kItems) {
      if (!item.is_tuple() || items_of(runtime, item).size() != 2) return false;
      const Values& pair = items_of(runtime, item);
      if (!hash_of(runtime, pair[0])) fail_unhashable(runtime, pair[0]);
      const Value* found = find_item(runtime, dict_.as_dict(), pair[0]);
      return found != nullptr && (found->is_same(pair[1]) || jinja::equals(runtime, *found, pair[1]));
    }
    // Instead of a set, a set looks for an equal frozenset, which templates cannot make.
    const auto* view = part_ == DictPart::kSet ? set_like(item) : nullptr;
    if (view != nullptr && view->part_ == DictPart::kSet) return false;
    if (!hash_of(runtime, item)) fail_unhashable(runtime, item);
    return find_item(runtime, dict_.as_dict(), item) != nullptr;
  }
  // Whether all items of `part` are here.
  [[nodiscard]] bool contains_all(Runtime& runtime, const DictView& part) const {
    const std::vector<Value> items = dict_part(runtime, part.dict_, part.part_);
    return std::all_of(items.begin(), items.end(), [&](const Value& item) { return contains(runtime, item); });
  }
  // The view if it compares as a set does; otherwise nullptr.
  [[nodiscard]] static const DictView* set_like(const Value& value) {
    const auto* view = value.is_object() ? dynamic_cast<const DictView*>(&value.as_object()) : nullptr;
    return view == nullptr || view->part_ == DictPart::kValues ? nullptr : view;
  }
  [[nodiscard]] std::optional<Value> reversed(Runtime& runtime) const {
    if (part_ == DictPart::kSet) return std::nullopt;
    static constexpr std::string_view kTypes[] = {"dict_reversekeyiterator", "dict_reversevalueiterator",
                                                  "dict_reverseitemiterator"};
    return make_iterator(runtime, kTypes[static_cast<std::size_t>(part_)],
                         runtime.heap.make_object<ViewIterator>(runtime, dict_, part_, true));
  }
  [[nodiscard]] std::optional<bool> equals(Runtime& runtime, const Value& other) override {
    const auto* view = other.is_object() ? dynamic_cast<const DictView*>(&other.as_object()) : nullptr;
    if (view == this) return true;
    if (view == nullptr || part_ == DictPart::kValues || view->part_ == DictPart::kValues) return false;
    if (part_ == DictPart::kItems && view->part_ == part_) return jinja::equals(runtime, dict_, view->dict_);
    if (length(runtime) != length_of(runtime, view->dict_)) return false;
    const std::vector<Value> items = dict_part(runtime, dict_, part_);
    return std::all_of(items.begin(), items.end(),
                       [&](const Value& item) { return compare(runtime, CompareOp::kIn, item, other); });
  }

 private:
  static Value is_disjoint(Runtime& runtime, const Value& self, const Args& args) {
    const auto& view = dynamic_cast<const DictView&>(self.as_object());
    require_positional(runtime, method_of(view.type_name(), "isdisjoint"), args, 1, 1);
    const Value& given = args.positional[0];
    const DictView* other = set_like(given);
    if (other == &view) return Value::boolean(view.size(runtime) == 0);
    // Of two that are like sets, the items of the shorter one are looked up.  Sets go only through sets in this way.
    const bool is_alike = other != nullptr && (view.part_ != DictPart::kSet || other->part_ == DictPart::kSet);
    const bool swaps = is_alike && other->size(runtime) > view.size(runtime);
    const DictView& searched = swaps ? *other : view;
    Iterator* items = jinja::iterate(runtime, swaps ? self : given);
    for (Value item; items->next(runtime, item);) {
      if (searched.part_ != DictPart::kItems && !hash_of(runtime, item)) fail_unhashable(runtime, item);
      if (searched.contains(runtime, item)) return Value::boolean(false);
    }
    return Value::boolean(true);
  }

  Value dict_;
  DictPart part_;
};

class RangeIterator final : public Iterator {
 public:
  RangeIterator(std::int64_t first, std::size_t count, std::int64_t step) : next_(first), left_(count), step_(step) {}
  bool next(Runtime& runtime, Value& out) override {
    if (left_ == 0) return false;
    --left_;
    runtime.spend();
    out = Value::integer(next_);
    if (left_ != 0) next_ += step_;
    return true;
  }

 private:
  std::int64_t next_;
  std::size_t left_;
  std::int64_t step_;
};

class Range final : public Object {
 public:
  Range(std::int64_t start, std::int64_t stop, std::int64_t step)
      : start_(start), stop_(stop), step_(step), size_(range_length(start, stop, step)) {}
  [[nodiscard]] std::string_view type_name() const override { return "range"; }
  [[nodiscard]] std::string repr(Runtime&) override {
    const std::string bounds = "range(" + std::to_string(start_) + ", " + std::to_string(stop_);
    return step_ == 1 ? bounds + ")" : bounds + ", " + std::to_string(step_) + ")";
  }
  [[nodiscard]] std::optional<Value> attribute(Runtime& runtime, std::string_view name) override {
    static constexpr Method kOfRanges[] = {{"count", count}, {"index", index}};
    if (const Method* method = find_method(kOfRanges, name)) return bind_method(runtime, Value::object(this), *method);
    if (name == "start") return Value::integer(start_);
    if (name == "stop") return Value::integer(stop_);
    if (name == "step") return Value::integer(step_);
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Value> element(Runtime&, const Value& key) override {
    if (!key.is_small_int()) return std::nullopt;
    const auto size = static_cast<std::int64_t>(size_);
    const std::int64_t index = key.as_int() < 0 ? key.as_int() + size : key.as_int();
    if (index < 0 || index >= size) return std::nullopt;
    return Value::integer(start_ + index * step_);
  }
  [[nodiscard]] Iterator* iterate(Runtime& runtime) override {
    return runtime.heap.make_object<RangeIterator>(start_, size_, step_);
  }
  [[nodiscard]] Iterator* iterate_backwards(Runtime& runtime) const {
    const std::int64_t last = size_ == 0 ? start_ : start_ + static_cast<std::int64_t>(size_ - 1) * step_;
    return runtime.heap.make_object<RangeIterator>(last, size_, -step_);
  }
  [[nodiscard]] RangePart part(const RangePart& of) const {
    return {start_ + of.first * step_, start_ + of.stop * step_, step_ * of.step};
  }
  [[nodiscard]] std::optional<std::size_t> length(Runtime&) override { return size_; }
  [[nodiscard]] bool is_sequence() const override { return true; }
  [[nodiscard]] std::optional<bool> equals(Runtime&, const Value& other) override {
    const auto* range = other.is_object() ? dynamic_cast<const Range*>(&other.as_object()) : nullptr;
    if (range == nullptr || range->size_ != size_) return range == this;
    return size_ == 0 || (range->start_ == start_ && (size_ == 1 || range->step_ == step_));
  }

 private:
  static Value count(Runtime& runtime, const Value& self, const Args& args) {
    require_positional(runtime, method_of("range", "count"), args, 1, 1);
    std::int64_t count = 0;
    for (const Value& item : collect(runtime, self)) count += jinja::equals(runtime, item, args.positional[0]) ? 1 : 0;
    return Value::integer(count);
  }
  static Value index(Runtime& runtime, const Value& self, const Args& args) {
    require_positional(runtime, method_of("range", "index"), args, 1, 1);
    const Value& wanted = args.positional[0];
    const std::vector<Value> items = collect(runtime, self);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (jinja::equals(runtime, items[i], wanted)) return make_length(i);
    }
    if (wanted.is_integral()) runtime.fail(jinja::repr(runtime, wanted) + " is not in range");
    runtime.fail("sequence.index(x): x not in sequence");
  }

  std::int64_t start_;
  std::int64_t stop_;
  std::int64_t step_;
  std::size_t size_;
};

}  // namespace

Value make_view(Runtime& runtime, const Value& dict, DictPart part) {
  return Value::object(runtime.heap.make_object<DictView>(dict, part));
}

std::optional<bool> view_contains(Runtime& runtime, const Value& container, const Value& item) {
  const DictView* view = DictView::set_like(container);
  return view == nullptr ? std::nullopt : std::optional(view->contains(runtime, item));
}

std::optional<bool> compare_views(Runtime& runtime, CompareOp op, const Value& left, const Value& right) {
  const DictView* part = DictView::set_like(left);
  const DictView* whole = DictView::set_like(right);
  if (part == nullptr || whole == nullptr) return std::nullopt;
  if (op == CompareOp::kGt || op == CompareOp::kGe) std::swap(part, whole);
  const bool may_be_equal = op == CompareOp::kLe || op == CompareOp::kGe;
  if (part->size(runtime) + (may_be_equal ? 0 : 1) > whole->size(runtime)) return false;
  return whole->contains_all(runtime, *part);
}

std::vector<Value> dict_part(Runtime& runtime, const Value& dict, DictPart part) {
  std::vector<Value> out;
  ViewIterator iterator(runtime, dict, part, false);
  Value item;
  while (iterator.next(runtime, item)) out.push_back(item);
  return out;
}

std::size_t range_length(std::int64_t start, std::int64_t stop, std::int64_t step) {
  const bool up = step > 0;
  if (up ? start >= stop : start <= stop) return 0;
  const std::uint64_t distance = up ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
                                    : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
  const std::uint64_t stride = up ? static_cast<std::uint64_t>(step) : ~static_cast<std::uint64_t>(step) + 1;
  return (distance - 1) / stride + 1;
}

Value make_range(Runtime& runtime, std::int64_t start, std::int64_t stop, std::int64_t step) {
  return Value::object(runtime.heap.make_object<Range>(start, stop, step));
}

Value slice_of_range(Runtime& runtime, const Value& range, const RangePart& part) {
  const RangePart out = dynamic_cast<const Range&>(range.as_object()).part(part);
  return make_range(runtime, out.first, out.stop, out.step);
}

std::optional<Value> reversed(Runtime& runtime, const Value& value) {
  if (value.is_dict()) {
    return make_iterator(runtime, "dict_reversekeyiterator",
                         runtime.heap.make_object<ViewIterator>(runtime, value, DictPart::kKeys, true));
  }
  if (value.is_sequence() || value.is_undefined()) {
    std::vector<Value> items = collect(runtime, value);
    std::reverse(items.begin(), items.end());
    return make_iterator(runtime, value.is_list() ? "list_reverseiterator" : "reversed",
                         iterate_items(runtime, std::move(items)));
  }
  if (!value.is_object()) return std::nullopt;
  if (const auto* range = dynamic_cast<const Range*>(&value.as_object())) {
    return make_iterator(runtime, "range_iterator", range->iterate_backwards(runtime));
  }
  const auto* view = dynamic_cast<const DictView*>(&value.as_object());
  return view == nullptr ? std::nullopt : view->reversed(runtime);
}

std::optional<Value> subtract_views(Runtime& runtime, const Value& left, const Value& right) {
  const auto part_of = [](const Value& value) {
    const DictView* view = DictView::set_like(value);
    return view == nullptr ? std::nullopt : std::optional(view->part());
  };
  const std::optional<DictPart> parts[] = {part_of(left), part_of(right)};
  const auto is_view = [](const std::optional<DictPart>& part) { return part && *part != DictPart::kSet; };
  // A set by itself combines only with sets.
  if (!is_view(parts[0]) && !is_view(parts[1]) && !(parts[0] && parts[1])) return std::nullopt;
  const Value others = make_dict(runtime);
  const std::vector<Value> items = collect(runtime, left);
  for (const Value& item : collect(runtime, right)) set_item(runtime, others.as_dict(), item, Value::none());
  const Value out = make_dict(runtime);
  for (const Value& item : items) {
    if (find_item(runtime, others.as_dict(), item) == nullptr) set_item(runtime, out.as_dict(), item, Value::none());
  }
  return make_view(runtime, out, DictPart::kSet);
}

namespace {

// CPython's sort for short lists, step by step.  If elements have no total order (NaN), the result depends on these
// steps.
void sort_short(std::vector<std::size_t>& order, const std::function<bool(std::size_t, std::size_t)>& before) {
  std::size_t run = std::min<std::size_t>(order.size(), 1);
  if (order.size() > 1) {
    const bool descending = before(order[1], order[0]);
    for (run = 2; run < order.size() && before(order[run], order[run - 1]) == descending;) ++run;
    if (descending) std::reverse(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(run));
  }
  for (; run < order.size(); ++run) {
    const std::size_t pivot = order[run];
    std::size_t left = 0;
    std::size_t right = run;
    while (left < right) {
      const std::size_t middle = left + (right - left) / 2;
      if (before(pivot, order[middle])) {
        right = middle;
      } else {
        left = middle + 1;
      }
    }
    const auto at = order.begin() + static_cast<std::ptrdiff_t>(left);
    std::rotate(at, order.begin() + static_cast<std::ptrdiff_t>(run),
                order.begin() + static_cast<std::ptrdiff_t>(run) + 1);
  }
}

}  // namespace

void sort_values(Runtime& runtime, std::vector<Value>& values, const std::vector<Value>& keys, bool reverse) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    runtime.spend();
    return less(runtime, keys[a], keys[b]);
  };
  // Equal elements keep their order in both directions: reverse sorts the reversed list and reverses the result.
  constexpr std::size_t kShortList = 64;
  if (reverse) std::reverse(order.begin(), order.end());
  if (order.size() < kShortList) {
    sort_short(order, before);
  } else {
    std::stable_sort(order.begin(), order.end(), before);
  }
  if (reverse) std::reverse(order.begin(), order.end());
  std::vector<Value> sorted;
  sorted.reserve(values.size());
  for (const std::size_t index : order) sorted.push_back(values[index]);
  values = std::move(sorted);
}

}  // namespace rondo::jinja
