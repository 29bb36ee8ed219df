// Values of the input: the value at a path is made when the template first reads it.
#pragma once

#include <cstddef>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"
#include "json/value.h"
#include "text/origins.h"

namespace rondo::jinja {

// The paths of the parts of an input container.
class PartPaths {
 public:
  PartPaths(Runtime& runtime, text::PathId parent, const json::Array& array)
      : paths_(runtime.origins.paths), parent_(parent), first_(paths_.indices(parent, array.size())) {}
  PartPaths(Runtime& runtime, text::PathId parent, const json::Object& object)
      : PartPaths(runtime, parent, object,
                  runtime.origins.paths.members(parent, object.size(), [&](std::size_t i) -> std::string_view {
                    return object.begin()[i].key;
                  })) {}
  // `first` is the result of first() of an earlier PartPaths of the same container.
  PartPaths(Runtime& runtime, text::PathId parent, const json::Object& object, text::PathId first)
      : paths_(runtime.origins.paths), parent_(parent), first_(first), object_(&object) {}

  // Returns the path of the first part if the other parts follow it; otherwise kNone.
  [[nodiscard]] text::PathId first() const { return first_; }
  [[nodiscard]] text::PathId at(std::size_t i) const {
    if (first_ != text::PathId::kNone) return static_cast<text::PathId>(static_cast<std::size_t>(first_) + i);
    if (parent_ == text::PathId::kNone) return text::PathId::kNone;
    return object_ == nullptr ? paths_.index(parent_, i) : paths_.member(parent_, object_->begin()[i].key);
  }
  // Returns the path of a member's key.
  //
  // REQUIRES: made from an object that has a path.
  [[nodiscard]] text::PathId key_at(std::size_t i) const {
    return first_ != text::PathId::kNone ? paths_.key_of_member(at(i))
                                         : paths_.key_of(parent_, object_->begin()[i].key);
  }

 private:
  text::PathTable& paths_;
  text::PathId parent_;
  text::PathId first_;
  const json::Object* object_ = nullptr;
};

// Returns the input value at `path`.  A container is wrapped one level at a time, when the template first reads in it.
// Strings are not copied, so `value` must outlive the render.
[[nodiscard]] Value wrap(Runtime& runtime, const json::Value& value, text::PathId path);
// Returns the variable `name` of the input: wrap() with the path of that variable.
[[nodiscard]] Value wrap_variable(Runtime& runtime, std::string_view name, const json::Value& value);
// Returns a string of `bytes` of the input.  The bytes are not copied.
[[nodiscard]] Value input_string(Runtime& runtime, std::string_view bytes, text::PathId path);
// Returns the key of the input dict at path `dict`.
[[nodiscard]] Value input_key(Runtime& runtime, std::string_view key, text::PathId dict);

// The elements of a list or tuple.  The reference is valid until something is added.
void wrap_items(Runtime& runtime, List& list);  // for a list of the input
[[nodiscard]] inline Values& items_of(Runtime& runtime, const Value& sequence) {
  List& list = sequence.as_list();
  if (list.source != nullptr) wrap_items(runtime, list);
  return list.items;
}

}  // namespace rondo::jinja
