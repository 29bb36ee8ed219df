// Filters that the reference writes as generators: nothing happens, and no error shows, until someone iterates.
#include "jinja/builtins/filters_lazy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "jinja/builtins/filters.h"
#include "jinja/builtins/tests.h"
#include "jinja/common/operators.h"
#include "jinja/types/access.h"
#include "jinja/types/arithmetic.h"
#include "jinja/types/compare.h"
#include "jinja/types/iteration.h"
#include "jinja/types/params.h"
#include "jinja/types/repr.h"
#include "jinja/types/views.h"
#include "jinja/value/dicts.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

// Arguments that outlive the call.
struct KeptArgs {
  std::vector<Value> positional;
  std::vector<NamedValue> named;

  KeptArgs(Runtime& runtime, const Args& args, std::size_t skip) {
    for (std::size_t i = skip; i < args.positional.size(); ++i) positional.push_back(args.positional[i]);
    for (const NamedValue& argument : args.named) named.push_back({runtime.heap.copy(argument.name), argument.value});
  }
  [[nodiscard]] Args view() const { return {positional, named}; }
};

const Filter& require_filter(Runtime& runtime, const Value& name) {
  const Filter* filter = name.is_string() ? find_filter(bytes_of(runtime, name)) : nullptr;
  if (filter == nullptr) runtime.fail("No filter named " + repr(runtime, name) + ".");
  return *filter;
}

const Test& require_test(Runtime& runtime, const Value& name) {
  const Test* test = name.is_string() ? find_test(bytes_of(runtime, name)) : nullptr;
  if (test == nullptr) runtime.fail("No test named " + repr(runtime, name) + ".");
  return *test;
}

// What all of them share: the first step opens the source, and arguments are not checked if the source is empty.
class LazyIterator : public Iterator {
 public:
  explicit LazyIterator(Value subject) : subject_(subject) {}

  bool next(Runtime& runtime, Value& out) final {
    if (done_) return false;
    const DepthGuard guard(runtime);
    if (source_ == nullptr) {
      if (skips_falsy() && !truthy(runtime, subject_)) {
        done_ = true;
        return false;
      }
      prepare(runtime);
      source_ = iterate(runtime, subject_);
    }
    if (step(runtime, *source_, out)) return true;
    done_ = true;
    return false;
  }

 protected:
  [[nodiscard]] virtual bool skips_falsy() const { return true; }
  virtual void prepare(Runtime& runtime) = 0;
  virtual bool step(Runtime& runtime, Iterator& source, Value& out) = 0;

 private:
  Value subject_;
  Iterator* source_ = nullptr;
  bool done_ = false;
};

class MapIterator final : public LazyIterator {
 public:
  MapIterator(Runtime& runtime, Value subject, const Args& args) : LazyIterator(subject), args_(runtime, args, 0) {}

 protected:
  void prepare(Runtime& runtime) override {
    const Value* attribute = args_.view().find("attribute");
    if (!args_.positional.empty()) {
      name_ = args_.positional[0];
      args_.positional.erase(args_.positional.begin());
      return;
    }
    if (attribute == nullptr) runtime.fail("map requires a filter argument");
    for (const NamedValue& argument : args_.named) {
      if (argument.name == "default") fallback_ = argument.value;
      if (argument.name != "attribute" && argument.name != "default") {
        runtime.fail("Unexpected keyword argument '" + std::string(argument.name) + "'");
      }
    }
    getter_.emplace(runtime, *attribute);
  }

  bool step(Runtime& runtime, Iterator& source, Value& out) override {
    Value item;
    if (!source.next(runtime, item)) return false;
    if (name_ && filter_ == nullptr) filter_ = &require_filter(runtime, *name_);
    out = filter_ != nullptr ? call_filter(runtime, *filter_, item, args_.view())
                             : getter_->get(runtime, item, fallback_);
    return true;
  }

 private:
  KeptArgs args_;
  std::optional<Value> name_;  // of the filter, which is looked up when there is something to filter
  const Filter* filter_ = nullptr;
  std::optional<AttributeGetter> getter_;
  Value fallback_ = Value::none();
};

class SelectIterator final : public LazyIterator {
 public:
  SelectIterator(Runtime& runtime, Value subject, const Args& args, bool by_attribute, bool wanted)
      : LazyIterator(subject), args_(runtime, args, 0), by_attribute_(by_attribute), wanted_(wanted) {}

 protected:
  void prepare(Runtime& runtime) override {
    std::vector<Value>& arguments = args_.positional;
    if (by_attribute_) {
      if (arguments.empty()) runtime.fail("Missing parameter for attribute name");
      getter_.emplace(runtime, arguments[0]);
      arguments.erase(arguments.begin());
    }
    if (arguments.empty()) return;
    name_ = arguments[0];
    arguments.erase(arguments.begin());
  }

  bool step(Runtime& runtime, Iterator& source, Value& out) override {
    Value item;
    while (source.next(runtime, item)) {
      const Value subject = getter_ ? getter_->get(runtime, item) : item;
      if (name_ && test_ == nullptr) test_ = &require_test(runtime, *name_);
      const bool holds =
          test_ != nullptr ? call_test(runtime, *test_, subject, args_.view()) : truthy(runtime, subject);
      if (holds != wanted_) continue;
      out = item;
      return true;
    }
    return false;
  }

 private:
  KeptArgs args_;
  bool by_attribute_;
  bool wanted_;
  std::optional<Value> name_;  // of the test, which is looked up when there is something to test
  const Test* test_ = nullptr;
  std::optional<AttributeGetter> getter_;
};

class UniqueIterator final : public LazyIterator {
 public:
  UniqueIterator(Value subject, Value seen, bool case_sensitive, Value attribute)
      : LazyIterator(subject), seen_(seen), case_sensitive_(case_sensitive), attribute_(attribute) {}

 protected:
  [[nodiscard]] bool skips_falsy() const override { return false; }
  void prepare(Runtime& runtime) override { getter_.emplace(runtime, attribute_); }

  bool step(Runtime& runtime, Iterator& source, Value& out) override {
    Value item;
    while (source.next(runtime, item)) {
      Value key = getter_->get(runtime, item);
      if (!case_sensitive_) key = ignore_case(runtime, key);
      if (find_item(runtime, seen_.as_dict(), key) != nullptr) continue;
      set_item(runtime, seen_.as_dict(), key, Value::none());
      out = item;
      return true;
    }
    return false;
  }

 private:
  Value seen_;  // a dict used as a set
  bool case_sensitive_;
  Value attribute_;
  std::optional<AttributeGetter> getter_;
};

class BatchIterator final : public LazyIterator {
 public:
  BatchIterator(Value subject, Value size, Value fill) : LazyIterator(subject), wanted_(size), fill_(fill) {}

 protected:
  [[nodiscard]] bool skips_falsy() const override { return false; }
  // A size that is not an int is never reached.  Only filling up to it fails.
  void prepare(Runtime&) override {
    if (wanted_.is_small_int()) size_ = wanted_.as_int();
    if (wanted_.is_float() && std::trunc(wanted_.as_float()) == wanted_.as_float() &&
        std::fabs(wanted_.as_float()) < 1e9) {
      size_ = static_cast<std::int64_t>(wanted_.as_float());
    }
  }

  bool step(Runtime& runtime, Iterator& source, Value& out) override {
    std::vector<Value> batch;
    if (held_) batch.push_back(*held_);
    held_.reset();
    Value item;
    while (source.next(runtime, item)) {
      if (static_cast<std::int64_t>(batch.size()) == size_) {
        held_ = item;
        out = make_list(runtime, std::move(batch));
        return true;
      }
      batch.push_back(item);
    }
    if (batch.empty()) return false;
    const bool fills = !fill_.is_none() && compare(runtime, CompareOp::kLt, make_length(batch.size()), wanted_);
    if (fills) {
      if (!wanted_.is_small_int())
        runtime.fail("can't multiply sequence by non-int of type '" + type_name(wanted_) + "'");
      runtime.heap.require(static_cast<std::size_t>(size_));
      runtime.heap.charge(static_cast<std::size_t>(size_) * sizeof(Value));
      batch.resize(static_cast<std::size_t>(size_), fill_);
    }
    out = make_list(runtime, std::move(batch));
    return true;
  }

 private:
  Value wanted_;
  Value fill_;
  std::int64_t size_ = -1;
  std::optional<Value> held_;
};

// Passes on the items of the subject, for sources that are checked only when they are used.
class ItemsIterator final : public LazyIterator {
 public:
  explicit ItemsIterator(Value subject) : LazyIterator(subject), pairs_of_(subject) {}

 protected:
  [[nodiscard]] bool skips_falsy() const override { return false; }
  void prepare(Runtime& runtime) override {
    if (pairs_of_.is_undefined()) return;
    if (!pairs_of_.is_dict()) runtime.fail("Can only get item pairs from a mapping.");
    pairs_ = iterate(runtime, make_view(runtime, pairs_of_, DictPart::kItems));
  }
  bool step(Runtime& runtime, Iterator&, Value& out) override {
    return pairs_ != nullptr && pairs_->next(runtime, out);
  }

 private:
  Value pairs_of_;
  Iterator* pairs_ = nullptr;
};

// Refuses keywords with which the reference's own parameters are already filled.
void require_no_subject(Runtime& runtime, std::string_view function, const Args& args) {
  for (const std::string_view name : {"context", "value"}) {
    if (args.find(name) == nullptr) continue;
    runtime.fail(std::string(function) + "() got multiple values for argument '" + std::string(name) + "'");
  }
}

Value map(Runtime& runtime, const Value& subject, const Args& args) {
  require_no_subject(runtime, "sync_do_map", args);
  return make_generator(runtime, "sync_do_map", runtime.heap.make_object<MapIterator>(runtime, subject, args));
}

Value select_by(Runtime& runtime, const Value& subject, const Args& args, bool by_attribute, bool wanted) {
  const std::string function = std::string("sync_do_") + (wanted ? "select" : "reject") + (by_attribute ? "attr" : "");
  require_no_subject(runtime, function, args);
  return make_generator(runtime, "select_or_reject",
                        runtime.heap.make_object<SelectIterator>(runtime, subject, args, by_attribute, wanted));
}

Value select(Runtime& runtime, const Value& subject, const Args& args) {
  return select_by(runtime, subject, args, false, true);
}
Value reject(Runtime& runtime, const Value& subject, const Args& args) {
  return select_by(runtime, subject, args, false, false);
}
Value selectattr(Runtime& runtime, const Value& subject, const Args& args) {
  return select_by(runtime, subject, args, true, true);
}
Value rejectattr(Runtime& runtime, const Value& subject, const Args& args) {
  return select_by(runtime, subject, args, true, false);
}

Value unique(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_unique", 2), args, {"case_sensitive", "attribute"});
  auto* iterator =
      runtime.heap.make_object<UniqueIterator>(subject, make_dict(runtime), params.boolean(0, false), params[1]);
  return make_generator(runtime, "sync_do_unique", iterator);
}

Value batch(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_batch", 1), args, {"linecount", "fill_with"}, 1);
  auto* iterator = runtime.heap.make_object<BatchIterator>(subject, params[0], params[1]);
  return make_generator(runtime, "do_batch", iterator);
}

class SliceIterator final : public Iterator {
 public:
  SliceIterator(Value subject, Value slices, Value fill) : subject_(subject), slices_(slices), fill_(fill) {}

  bool next(Runtime& runtime, Value& out) override {
    if (!begun_) begin(runtime);
    if (index_ >= count_) return false;
    runtime.spend();
    const auto slices = static_cast<std::size_t>(count_);
    const bool extra = static_cast<std::size_t>(index_) < items_.size() % slices;
    const std::size_t size = items_.size() / slices + (extra ? 1 : 0);
    std::vector<Value> part(items_.begin() + static_cast<std::ptrdiff_t>(at_),
                            items_.begin() + static_cast<std::ptrdiff_t>(at_ + size));
    at_ += size;
    ++index_;
    if (!fill_.is_none() && !extra) part.push_back(fill_);
    out = make_list(runtime, std::move(part));
    return true;
  }

 private:
  void begin(Runtime& runtime) {
    begun_ = true;
    items_ = collect(runtime, subject_);
    // The reference accepts any number where it divides the length, but range() accepts only ints.
    const Value quotient = binary(runtime, BinaryOp::kFloorDiv, make_length(items_.size()), slices_);
    if (!quotient.is_integral()) {
      runtime.fail("'" + type_name(slices_) + "' object cannot be interpreted as an integer");
    }
    count_ = slices_.is_small_int() ? slices_.as_int() : 0;
  }

  Value subject_;
  Value slices_;
  Value fill_;
  std::vector<Value> items_;
  std::int64_t count_ = 0;
  std::int64_t index_ = 0;
  std::size_t at_ = 0;
  bool begun_ = false;
};

Value slice(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("sync_do_slice", 1), args, {"slices", "fill_with"}, 1);
  return make_generator(runtime, "sync_do_slice",
                        runtime.heap.make_object<SliceIterator>(subject, params[0], params[1]));
}

Value items(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_items", 1), args, {});
  return make_generator(runtime, "do_items", runtime.heap.make_object<ItemsIterator>(subject));
}

constexpr auto kLazyFilters = std::to_array<Filter>({
    {"batch", batch},
    plain({"items", items}),
    {"map", map},
    plain({"reject", reject}),
    plain({"rejectattr", rejectattr}),
    {"select", select},
    plain({"selectattr", selectattr}),
    {"slice", slice},
    {"unique", unique},
});
static_assert(std::ranges::is_sorted(kLazyFilters, {}, &Filter::name));

}  // namespace

std::span<const Filter> lazy_filters() { return kLazyFilters; }

}  // namespace rondo::jinja
