// Converts Python values to JSON values and back, without JSON text in between.  Internal to python/.
//
// Converts None, bool, int, float, str, list, tuple and mappings with string keys; NumPy's scalars; and objects with
// `model_dump` (pydantic) or dataclass fields.  Integers are exact, floats keep their kind and their shortest spelling,
// dicts keep their order, and strings their lone surrogates.  All functions need the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <string_view>

#include "chat/conversation.h"
#include "json/value.h"

namespace rondo::python {

// `name` begins the place in an error: "messages[2].content: a set is no JSON value".  Raises InvalidArgumentError for
// values that JSON does not have, for nesting beyond limits::kJsonDepth, for a value that contains itself, and for more
// than a gigabyte.  Exceptions that the objects themselves raise pass through.
[[nodiscard]] json::Value to_json(nanobind::handle value, std::string_view name);

// An array of objects.
[[nodiscard]] json::Array to_objects(nanobind::handle value, std::string_view name);
// Converts an object; None gives an empty one.
[[nodiscard]] json::Object to_object(nanobind::handle value, std::string_view name);

[[nodiscard]] nanobind::object to_python(const json::Value& value);

// Converts UTF-8 to str and back.  Lone surrogates are kept; other ill-formed parts become U+FFFD.
[[nodiscard]] nanobind::object to_python_text(std::string_view text);
[[nodiscard]] nanobind::list texts(const std::vector<std::string>& sentences);
// None for nullopt.
[[nodiscard]] nanobind::object optional_text(const std::optional<std::string>& text);
[[nodiscard]] std::string to_text(nanobind::handle value, std::string_view name);

}  // namespace rondo::python
