// Python values to JSON values and back, without a detour over JSON text.  Internal to python/.
//
// None, bool, int, float, str, list, tuple and mappings with string keys; NumPy's scalars; objects with `model_dump`
// (pydantic) or dataclass fields.  Integers are exact, floats keep their kind and their shortest spelling, dicts their
// order, strings their lone surrogates.  All functions want the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>

#include "chat/conversation.h"
#include "json/value.h"

namespace rondo::python {

// `name` begins the place of what does not fit: "messages[2].content: a set is no JSON value".  Raises InvalidArgumentError
// for such values, for nesting beyond limits::kJsonDepth, for what contains itself, and for more than a gigabyte; lets
// pass what the objects themselves raise.
[[nodiscard]] json::Value to_json(nanobind::handle value, std::string_view name);

// An array of objects.
[[nodiscard]] json::Array to_objects(nanobind::handle value, std::string_view name);
// An object; nothing for None.
[[nodiscard]] json::Object to_object(nanobind::handle value, std::string_view name);

[[nodiscard]] nanobind::object to_python(const json::Value& value);

// UTF-8 to str and back; lone surrogates pass, other ill-formed parts become U+FFFD.
[[nodiscard]] nanobind::object to_python_text(std::string_view text);
[[nodiscard]] nanobind::list texts(const std::vector<std::string>& sentences);
// None for nullopt.
[[nodiscard]] nanobind::object optional_text(const std::optional<std::string>& text);
[[nodiscard]] std::string to_text(nanobind::handle value, std::string_view name);

}  // namespace rondo::python
