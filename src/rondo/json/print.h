// Printing JSON: compactly as sent, or exactly as Python's json.dumps does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"

namespace rondo::json {

// No white space, numbers by their spelling, non-ASCII characters as themselves.  The output is valid UTF-8: a lone
// surrogate (three bytes, from an escape in the input) is written as an escape again, any other invalid UTF-8 in
// strings is replaced by U+FFFD.
[[nodiscard]] std::string to_compact(const Value& value);
// The same with one member or element per line, for people.
[[nodiscard]] std::string to_pretty(const Value& value);

struct PythonOptions {
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::optional<std::string> indent = {};  // one level of indentation; none prints on one line
  std::optional<std::pair<std::string, std::string>> separators = {};  // between items, between key and value
};
// As json.dumps(json.loads(text), ...) prints it: 1e5 -> 100000.0, 1.0 -> 1.0, big integers exact.  Lone surrogates
// stay what they are without `ensure_ascii`, as in Python.
[[nodiscard]] std::string to_python(const Value& value, const PythonOptions& options);

// The parts that other printers share.  Escapes as Python does; bytes that are no UTF-8 are kept, or written as \ufffd
// with `ensure_ascii`.
void append_escaped(std::string& out, std::string_view text, bool ensure_ascii);  // without the quotes
[[nodiscard]] std::string python_float(double value);                             // repr(float): 1e-05, 1e+16, inf, nan
[[nodiscard]] std::string python_number(const Number& number);  // as json.dumps prints it: Infinity, NaN, 100000.0

}  // namespace rondo::json
