// Values of the input: what stands at a path becomes a value when it is first looked at.
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
  // `first`: what first() of an earlier one was.
  PartPaths(Runtime& runtime, text::PathId parent, const json::Object& object, text::PathId first)
      : paths_(runtime.origins.paths), parent_(parent), first_(first), object_(&object) {}

  // Of the first part, if the others follow it; else kNone.
  [[nodiscard]] text::PathId first() const { return first_; }
  [[nodiscard]] text::PathId at(std::size_t i) const {
    if (first_ != text::PathId::kNone) return static_cast<text::PathId>(static_cast<std::size_t>(first_) + i);
    if (parent_ == text::PathId::kNone) return text::PathId::kNone;
    return object_ == nullptr ? paths_.index(parent_, i) : paths_.member(parent_, object_->begin()[i].key);
  }
  // Of a member's key.  REQUIRES: made of an object that has a path.
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

// The input value at `path`.  Containers are wrapped one level at a time, when they are first looked into; strings are
// not copied: `value` must outlive the render.
[[nodiscard]] Value wrap(Runtime& runtime, const json::Value& value, text::PathId path);
// The variable `name` of the input: wrap() with the path of that variable.
[[nodiscard]] Value wrap_variable(Runtime& runtime, std::string_view name, const json::Value& value);
// A string that is `bytes` of the input, which stay where they are.
[[nodiscard]] Value input_string(Runtime& runtime, std::string_view bytes, text::PathId path);
// The key of a dict of the input that stands at `dict`.
[[nodiscard]] Value input_key(Runtime& runtime, std::string_view key, text::PathId dict);

// Elements of a list or tuple.  The reference stays valid while nothing is added.
void wrap_items(Runtime& runtime, List& list);  // of a list of the input
[[nodiscard]] inline Values& items_of(Runtime& runtime, const Value& sequence) {
  List& list = sequence.as_list();
  if (list.source != nullptr) wrap_items(runtime, list);
  return list.items;
}

}  // namespace rondo::jinja
