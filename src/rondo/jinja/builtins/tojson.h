// Values as JSON, in the form of Python's json.dumps().
#pragma once

#include <optional>
#include <string>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"
#include "text/text.h"

namespace rondo::jinja {

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::optional<std::string> indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool html_safe = false;  // write <, >, & and ' as \u003c, ..., as jinja2's own tojson does
};
[[nodiscard]] Value to_json(Runtime& runtime, const Value& value, const JsonStyle& style);
// Appends the JSON to `out`, which is the template's output.
void write_json(Runtime& runtime, const Value& value, const JsonStyle& style, text::Text& out);

}  // namespace rondo::jinja
