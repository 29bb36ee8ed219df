// Plain scalars of YAML 1.2's core schema.  Internal to yaml/.
#pragma once

#include <optional>
#include <string_view>

#include "json/value.h"

namespace rondo::yaml {

// Returns the value of `text`: null, a boolean, a number in JSON's spelling, or the text itself.
[[nodiscard]] json::Value resolve_plain(std::string_view text);

[[nodiscard]] bool is_null_word(std::string_view text);
[[nodiscard]] std::optional<bool> bool_of(std::string_view text);
// Keeps the spelling if JSON allows it.  Returns nullopt if `text` is not such a number, or is a hexadecimal or octal
// number of more than 64 bits.
[[nodiscard]] std::optional<json::Number> integer_of(std::string_view text);
[[nodiscard]] std::optional<json::Number> float_of(std::string_view text);

}  // namespace rondo::yaml
