#include "jinja/types/methods.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "jinja/types/container_methods.h"
#include "jinja/types/string_methods.h"
#include "jinja/value/object.h"
#include "jinja/value/runtime.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

class BoundMethod final : public Object {
 public:
  BoundMethod(Value self, const Method& method) : self_(self), method_(method) {}
  [[nodiscard]] std::string_view type_name() const override { return "builtin_function_or_method"; }
  [[nodiscard]] std::string repr(Runtime&) override {
    const std::string owner = method_.of_class ? "type" : jinja::type_name(self_);
    return "<built-in method " + std::string(method_.name) + " of " + owner + " object>";
  }
  [[nodiscard]] bool callable() const override { return true; }
  Value call(Runtime& runtime, const Args& args) override { return run_method(runtime, method_, self_, args); }
  [[nodiscard]] std::optional<bool> equals(Runtime&, const Value& other) override {
    const auto* method = other.is_object() ? dynamic_cast<const BoundMethod*>(&other.as_object()) : nullptr;
    return method != nullptr && &method->method_ == &method_ && method->self_.is_same(self_);
  }

 private:
  Value self_;
  const Method& method_;
};

}  // namespace

void note_change(Runtime& runtime, const Value& changed) {
  // Without origins nothing tells containers of the input from others.
  const text::PathId path = changed.is_dict() ? changed.as_dict().path : changed.as_list().source_path;
  if (!runtime.tracing || path != text::PathId::kNone) runtime.input_changed = true;
}

Value bind_method(Runtime& runtime, const Value& self, const Method& method) {
  return Value::object(runtime.heap.make_object<BoundMethod>(self, method));
}

const Method* find_method(std::span<const Method> methods, std::string_view name) {
  const auto found = std::lower_bound(methods.begin(), methods.end(), name,
                                      [](const Method& method, std::string_view key) { return method.name < key; });
  return found != methods.end() && found->name == name ? &*found : nullptr;
}

const Method* lookup_method(const Value& self, std::string_view name) {
  std::span<const Method> methods;
  switch (self.kind()) {
    case Kind::kString: methods = string_methods(); break;
    case Kind::kList: methods = list_methods(); break;
    case Kind::kTuple: methods = tuple_methods(); break;
    case Kind::kDict: methods = dict_methods(); break;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kBigInt: methods = int_methods(); break;
    case Kind::kFloat: methods = float_methods(); break;
    default: return nullptr;
  }
  const Method* found = find_method(methods, name);
  return found != nullptr && found->markup_only && !self.is_markup() ? nullptr : found;
}

}  // namespace rondo::jinja
