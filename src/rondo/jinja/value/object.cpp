#include "jinja/value/object.h"

#include <string>

#include "jinja/value/runtime.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

std::string Object::repr(Runtime&) { return "<" + object_type() + ">"; }

std::optional<Value> Object::attribute(Runtime&, std::string_view) { return std::nullopt; }

std::optional<Value> Object::element(Runtime&, const Value&) { return std::nullopt; }

Value Object::call(Runtime& runtime, const Args&) {
  runtime.fail("'" + std::string(type_name()) + "' object is not callable");
}

Iterator* Object::iterate(Runtime&) { return nullptr; }

std::optional<std::size_t> Object::length(Runtime&) { return std::nullopt; }

bool Object::truthy(Runtime& runtime) {
  const std::optional<std::size_t> size = length(runtime);
  return !size || *size != 0;
}

std::optional<bool> Object::equals(Runtime&, const Value&) { return std::nullopt; }

}  // namespace rondo::jinja
