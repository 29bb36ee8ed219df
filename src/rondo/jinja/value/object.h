// Values with behaviour, and iteration over the elements of values.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// One iteration over a value.
class Iterator {
 public:
  virtual ~Iterator() = default;
  // Puts the next element into `out`.  Returns false at the end.
  virtual bool next(Runtime& runtime, Value& out) = 0;
};

// A value with behaviour.  Macros, loops, functions, generators, ... derive from it.
class Object {
 public:
  virtual ~Object() = default;
  // Returns Python's class name: "Macro", "generator", "range".
  [[nodiscard]] virtual std::string_view type_name() const = 0;
  // Returns the name in messages about undefined values: "jinja2.runtime.Macro object".
  [[nodiscard]] virtual std::string object_type() const { return std::string(type_name()) + " object"; }
  // str() and repr(): "<Macro 'greet'>".
  [[nodiscard]] virtual std::string repr(Runtime& runtime);

  // Return nullopt if there is no such attribute or element.
  [[nodiscard]] virtual std::optional<Value> attribute(Runtime& runtime, std::string_view name);
  [[nodiscard]] virtual std::optional<Value> element(Runtime& runtime, const Value& key);

  [[nodiscard]] virtual bool callable() const { return false; }
  // REQUIRES: callable().
  virtual Value call(Runtime& runtime, const Args& args);

  // Returns nullptr if the value cannot be iterated.  The heap owns the iterator.
  [[nodiscard]] virtual Iterator* iterate(Runtime& runtime);
  [[nodiscard]] virtual std::optional<std::size_t> length(Runtime& runtime);
  [[nodiscard]] virtual bool is_sequence() const { return false; }  // has __len__ and __getitem__
  [[nodiscard]] virtual bool truthy(Runtime& runtime);
  // Returns nullopt if values are compared by identity.
  [[nodiscard]] virtual std::optional<bool> equals(Runtime& runtime, const Value& other);
};

}  // namespace rondo::jinja
