#include "jinja/vm/loop.h"

#include <algorithm>
#include <utility>

#include "jinja/common/operators.h"
#include "jinja/program/instructions.h"
#include "jinja/types/compare.h"
#include "jinja/types/iteration.h"
#include "jinja/types/params.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"
#include "jinja/vm/vm.h"

namespace rondo::jinja {
namespace {

// loop.cycle and loop.changed, before they are called.
class LoopMethod final : public Object {
 public:
  LoopMethod(LoopState& loop, bool is_cycle) : loop_(loop), is_cycle_(is_cycle) {}
  [[nodiscard]] std::string_view type_name() const override { return "method"; }
  [[nodiscard]] bool callable() const override { return true; }
  Value call(Runtime& runtime, const Args& args) override {
    if (!args.named.empty()) {
      runtime.fail(std::string("LoopContext.") + (is_cycle_ ? "cycle" : "changed") +
                   "() got an unexpected keyword argument '" + std::string(args.named[0].name) + "'");
    }
    return is_cycle_ ? loop_.cycle(args) : Value::boolean(loop_.changed(args));
  }

 private:
  LoopState& loop_;
  bool is_cycle_;
};

// Iterating over `loop` itself takes the remaining items from the loop, each paired with the loop.
class LoopIterator final : public Iterator {
 public:
  explicit LoopIterator(LoopState& loop) : loop_(loop) {}
  bool next(Runtime& runtime, Value& out) override {
    if (!loop_.advance()) return false;
    out = make_tuple(runtime, {loop_.current(), Value::object(&loop_)});
    return true;
  }

 private:
  LoopState& loop_;
};

}  // namespace

void LoopState::begin(const Value& iterable, std::uint32_t filter, Activation* activation) {
  iterable_ = iterable;
  iterator_ = iterable.is_sequence() ? nullptr : jinja::iterate(vm_.runtime(), iterable);
  position_ = 0;
  filter_ = filter;
  is_plain_ = iterator_ == nullptr && filter == kNoFunction;
  activation_ = activation;
  ahead_.items.clear();
  ahead_.position = 0;
  ahead_.is_used = false;
  length_.reset();
  index0_ = -1;
  before_ = current_ = after_ = Value();
  has_after_ = false;
  last_changed_.reset();
  completed = false;
  is_value = false;
  recursion.function = kNoFunction;
  recursion.depth0 = 0;
}

bool LoopState::read_any(Value& out) {
  if (iterator_ != nullptr) return iterator_->next(vm_.runtime(), out);
  // Looked up again each time, because the body may extend the list.
  const Values& items = items_of(vm_.runtime(), iterable_);
  if (position_ >= items.size()) return false;
  out = items[position_++];
  return true;
}

bool LoopState::read(Value& out) {
  if (ahead_.is_used) {
    if (ahead_.position >= ahead_.items.size()) return false;
    out = ahead_.items[ahead_.position++];
    return true;
  }
  while (read_any(out)) {
    vm_.runtime().iterate_once();
    if (filter_ == kNoFunction || vm_.passes_filter(filter_, activation_, out, outside.control.context)) return true;
  }
  return false;
}

bool LoopState::advance_slowly() {
  Value next;
  if (has_after_) {
    next = after_;
    has_after_ = false;
  } else if (!read(next)) {
    return false;
  }
  ++index0_;
  before_ = current_;
  current_ = next;
  return true;
}

bool LoopState::peek() {
  if (!has_after_) has_after_ = read(after_);
  return has_after_;
}

std::size_t LoopState::count() {
  if (length_) return *length_;
  if (filter_ == kNoFunction) length_ = length_of(vm_.runtime(), iterable_);
  if (!length_) {
    // A generator has no length, so read it to its end.
    std::vector<Value> rest;
    Value item;
    while (read(item)) rest.push_back(item);
    ahead_.items = std::move(rest);
    ahead_.position = 0;
    ahead_.is_used = true;
    length_ = ahead_.items.size() + static_cast<std::size_t>(index0_ + 1) + (has_after_ ? 1 : 0);
  }
  return *length_;
}

Value LoopState::attribute_of(LoopAttr attribute) {
  switch (attribute) {
    case LoopAttr::kIndex: return Value::integer(index0_ + 1);
    case LoopAttr::kIndex0: return Value::integer(index0_);
    case LoopAttr::kRevIndex: return Value::integer(static_cast<std::int64_t>(count()) - index0_);
    case LoopAttr::kRevIndex0: return Value::integer(static_cast<std::int64_t>(count()) - index0_ - 1);
    case LoopAttr::kFirst: return Value::boolean(index0_ == 0);
    case LoopAttr::kLast: return Value::boolean(!peek());
    case LoopAttr::kLength: return Value::integer(static_cast<std::int64_t>(count()));
    case LoopAttr::kDepth: return Value::integer(recursion.depth0 + 1);
    case LoopAttr::kDepth0: return Value::integer(recursion.depth0);
    case LoopAttr::kPrevItem:
      return index0_ == 0 ? make_undefined_hint(vm_.runtime(), "there is no previous item") : before_;
    case LoopAttr::kNextItem: return peek() ? after_ : make_undefined_hint(vm_.runtime(), "there is no next item");
  }
  return Value();
}

std::optional<Value> LoopState::attribute(Runtime& runtime, std::string_view name) {
  static constexpr std::pair<std::string_view, LoopAttr> kAttributes[] = {
      {"index", LoopAttr::kIndex},         {"index0", LoopAttr::kIndex0},     {"revindex", LoopAttr::kRevIndex},
      {"revindex0", LoopAttr::kRevIndex0}, {"first", LoopAttr::kFirst},       {"last", LoopAttr::kLast},
      {"length", LoopAttr::kLength},       {"depth", LoopAttr::kDepth},       {"depth0", LoopAttr::kDepth0},
      {"previtem", LoopAttr::kPrevItem},   {"nextitem", LoopAttr::kNextItem},
  };
  for (const auto& [text, id] : kAttributes) {
    if (text == name) return attribute_of(id);
  }
  if (name == "cycle" || name == "changed") {
    return Value::object(runtime.heap.make_object<LoopMethod>(*this, name == "cycle"));
  }
  return std::nullopt;
}

std::string LoopState::repr(Runtime& /*runtime*/) {
  return "<LoopContext " + std::to_string(index0_ + 1) + "/" + std::to_string(count()) + ">";
}

Iterator* LoopState::iterate(Runtime& runtime) { return runtime.heap.make_object<LoopIterator>(*this); }

std::optional<std::size_t> LoopState::length(Runtime& /*runtime*/) { return count(); }

Value LoopState::call(Runtime& runtime, const Args& args) {
  if (recursion.function == kNoFunction) {
    runtime.fail("The loop must have the 'recursive' marker to be called recursively.");
  }
  const Params params(runtime, python("LoopContext.__call__", 1), args, {"iterable"}, 1);
  return vm_.call_loop(recursion.function, recursion.parent, params[0], recursion.depth0 + 1);
}

Value LoopState::cycle(const Args& args) {
  if (args.positional.empty()) vm_.runtime().fail("no items for cycling given");
  return args.positional[static_cast<std::size_t>(index0_) % args.positional.size()];
}

bool LoopState::changed(const Args& args) {
  const bool same = last_changed_ && last_changed_->size() == args.positional.size() &&
                    std::equal(last_changed_->begin(), last_changed_->end(), args.positional.begin(),
                               [&](const Value& left, const Value& right) {
                                 return compare(vm_.runtime(), CompareOp::kEq, left, right);
                               });
  if (same) return false;
  last_changed_.emplace(args.positional.begin(), args.positional.end());
  return true;
}

}  // namespace rondo::jinja
