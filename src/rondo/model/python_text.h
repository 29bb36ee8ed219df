// Texts that Python code assigns, read without running it: string literals, their neighbours, sums and joins.
//
//   A = "a" 'b'      ->  {"A": "ab", "B": "abc", "C": {"k": "ab"}}
//   B = (A + "c")
//   C: dict = {"k": A}
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::model {

// A letter of ASCII, a digit, an underscore.
[[nodiscard]] bool is_name_byte(char c);

// The place of the value behind `NAME =`, `"NAME":` and `NAME: str =`, where the name ends at `end_of_name`.
[[nodiscard]] std::optional<std::size_t> behind_assignment(std::string_view python, std::size_t end_of_name);

// The text of the expression that begins at `at`; nothing if anything but literals stands there.
[[nodiscard]] std::optional<std::string> python_text(std::string_view python, std::size_t at);

// The constants of a module: what its unindented lines assign to a name, where that is a text or a dictionary of texts, which
// may name constants above it.  The last assignment counts; a name whose last value is of another kind is left out.
// Fails with kLimit.
[[nodiscard]] Result<json::Object> python_constants(std::string_view python);

}  // namespace rondo::model
