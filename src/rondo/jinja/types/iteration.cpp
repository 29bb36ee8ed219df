#include "jinja/types/iteration.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/value/dicts.h"
#include "jinja/value/input.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

class Generator final : public Object {
 public:
  Generator(std::string_view type, std::string_view name, Iterator* iterator)
      : type_(type), name_(name), iterator_(iterator) {}
  [[nodiscard]] std::string_view type_name() const override { return type_; }
  [[nodiscard]] std::string repr(Runtime&) override {
    std::string out = "<";
    out.append(type_).append(" object").append(name_.empty() ? "" : " ").append(name_);
    return out += '>';
  }
  [[nodiscard]] Iterator* iterate(Runtime&) override { return iterator_; }

 private:
  std::string_view type_;
  std::string_view name_;
  Iterator* iterator_;
};

class OwnedItems final : public Iterator {
 public:
  explicit OwnedItems(std::vector<Value> items) : items_(std::move(items)) {}
  bool next(Runtime& runtime, Value& out) override {
    if (at_ >= items_.size()) return false;
    runtime.spend();
    out = items_[at_++];
    return true;
  }

 private:
  std::vector<Value> items_;
  std::size_t at_ = 0;
};

// A list is read at each step, as in Python: a loop sees what its body appends.
class ListIterator final : public Iterator {
 public:
  explicit ListIterator(Value list) : list_(list) {}
  bool next(Runtime& runtime, Value& out) override {
    const Values& items = items_of(runtime, list_);
    if (at_ >= items.size()) return false;
    runtime.spend();
    out = items[at_++];
    return true;
  }

 private:
  Value list_;
  std::size_t at_ = 0;
};

class KeyIterator final : public Iterator {
 public:
  KeyIterator(Runtime& runtime, Value dict) : dict_(dict), size_(entries_of(runtime, dict).size()) {}
  bool next(Runtime& runtime, Value& out) override {
    const auto& entries = entries_of(runtime, dict_);
    if (entries.size() != size_) runtime.fail("dictionary changed size during iteration");
    if (at_ >= entries.size()) return false;
    runtime.spend();
    out = key_of(runtime, dict_.as_dict(), entries[at_++]);
    return true;
  }

 private:
  Value dict_;
  std::size_t size_;
  std::size_t at_ = 0;
};

class CharacterIterator final : public Iterator {
 public:
  explicit CharacterIterator(Value string) : string_(string) {}
  bool next(Runtime& runtime, Value& out) override {
    const std::string_view bytes = bytes_of(runtime, string_);
    if (at_ >= bytes.size()) return false;
    runtime.spend();
    const std::size_t size = decode_at(bytes, at_).size;
    out = substring(runtime, string_, at_, at_ + size, "").with_markup(false);
    at_ += size;
    return true;
  }

 private:
  Value string_;
  std::size_t at_ = 0;
};

}  // namespace

Value make_generator(Runtime& runtime, std::string_view name, Iterator* iterator) {
  return Value::object(runtime.heap.make_object<Generator>("generator", name, iterator));
}

Value make_iterator(Runtime& runtime, std::string_view type, Iterator* iterator) {
  return Value::object(runtime.heap.make_object<Generator>(type, "", iterator));
}

Iterator* iterate_items(Runtime& runtime, std::vector<Value> items) {
  runtime.heap.charge(items.size() * sizeof(Value));
  return runtime.heap.make_object<OwnedItems>(std::move(items));
}

Iterator* iterate(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined: return iterate_items(runtime, {});
    case Kind::kString: return runtime.heap.make_object<CharacterIterator>(value);
    case Kind::kList:
    case Kind::kTuple: return runtime.heap.make_object<ListIterator>(value);
    case Kind::kDict: return runtime.heap.make_object<KeyIterator>(runtime, value);
    case Kind::kObject:
      if (Iterator* iterator = value.as_object().iterate(runtime)) return iterator;
      break;
    default: break;
  }
  runtime.fail("'" + type_name(value) + "' object is not iterable");
}

bool is_iterable(Runtime& runtime, const Value& value) {
  if (value.is_object()) return value.as_object().iterate(runtime) != nullptr;
  return value.is_undefined() || value.is_string() || value.is_sequence() || value.is_dict();
}

std::vector<Value> unpack_items(Runtime& runtime, const Value& value, std::size_t count) {
  if (!is_iterable(runtime, value)) runtime.fail("cannot unpack non-iterable " + type_name(value) + " object");
  std::vector<Value> items = collect(runtime, value);
  const std::string expected = "(expected " + std::to_string(count);
  if (items.size() < count) {
    runtime.fail("not enough values to unpack " + expected + ", got " + std::to_string(items.size()) + ")");
  }
  if (items.size() > count) runtime.fail("too many values to unpack " + expected + ")");
  return items;
}

std::vector<Value> collect(Runtime& runtime, const Value& value) {
  if (value.is_sequence()) {
    const Values& items = items_of(runtime, value);
    runtime.spend(items.size());
    runtime.heap.charge(items.size());  // even short-lived copies count a little
    return {items.begin(), items.end()};
  }
  std::vector<Value> out;
  Iterator* iterator = iterate(runtime, value);
  Value item;
  while (iterator->next(runtime, item)) {
    if ((out.size() & 1023U) == 1023U) runtime.heap.charge(1024 * sizeof(Value));
    out.push_back(item);
  }
  return out;
}

std::optional<std::size_t> length_of(Runtime& runtime, const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined: return 0;
    case Kind::kString: return code_points(runtime, value);
    case Kind::kList:
    case Kind::kTuple: {
      const List& list = value.as_list();
      return list.source != nullptr ? list.source->size() : list.items.size();
    }
    case Kind::kDict: {
      const Dict& dict = value.as_dict();
      return dict.source != nullptr ? dict.source->size() : dict.entries.size();
    }
    case Kind::kObject: return value.as_object().length(runtime);
    default: return std::nullopt;
  }
}

}  // namespace rondo::jinja
