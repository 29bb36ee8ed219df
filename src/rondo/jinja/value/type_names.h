// The names of types in messages.
#pragma once

#include <string>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

[[nodiscard]] std::string type_name(const Value& value);  // "str", "NoneType", ...
// "dict object", "jinja2.utils.Namespace object".
[[nodiscard]] std::string object_type(const Value& value);
// Returns the message for an undefined value: "'x' is undefined".
[[nodiscard]] std::string undefined_message(const Value& value);
// Fails with that message.
[[noreturn]] void fail_undefined(Runtime& runtime, const Value& value);
// Fails with that message if the value is undefined.
inline void require_defined(Runtime& runtime, const Value& value) {
  if (value.is_undefined()) fail_undefined(runtime, value);
}

}  // namespace rondo::jinja
