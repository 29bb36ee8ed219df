// Reads texts that Python code assigns, without running it: string literals, adjacent literals, sums and joins.
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

// Returns true for an ASCII letter, a digit or an underscore.
[[nodiscard]] bool is_name_byte(char c);

// Returns the place of the value after `NAME =`, `"NAME":` or `NAME: str =`.  The name ends at `end_of_name`.
[[nodiscard]] std::optional<std::size_t> behind_assignment(std::string_view python, std::size_t end_of_name);

// Returns the text of the expression that begins at `at`; nullopt if it is not made of literals.
[[nodiscard]] std::optional<std::string> python_text(std::string_view python, std::size_t at);

// Returns the constants of a module: what unindented lines assign to a name, if it is a text or a dictionary of texts.
// A value may name constants above it.  The last assignment counts; a name whose last value is of another kind is left
// out.  Fails with kLimit.
[[nodiscard]] Result<json::Object> python_constants(std::string_view python);

}  // namespace rondo::model
