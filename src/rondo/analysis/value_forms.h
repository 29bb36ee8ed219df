// How a template writes the values of each type of argument.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/evidence.h"
#include "format/format.h"
#include "json/value.h"

namespace rondo::analysis {

// A repeated key is written as this.
inline constexpr const char* kKeyMark = "\x01";

// One type of value, as written between key k1 and key k2.
struct Seen {
  format::ValueType type = format::ValueType::kString;
  json::Value value;
  std::string key_front;  // the text between the parameter before and the key
  std::string before, after, text;
  std::vector<std::string> inner;  // the literals of the template inside the value, between its parts
  std::size_t keys = 0;            // how often the key is written
  bool has_value = false;          // false: `before` is all of the text between the keys
};

// Returns how the template writes a line end in the string if it indents the lines after it: "\n    ".  Otherwise "".
[[nodiscard]] std::string indented_line_end(const Seen& seen);

// Returns the text that ends what follows each value.  If parameters of some types begin differently, they also close
// differently.  The shared text then begins with a whole marker, or inside the tag that repeats the key.
[[nodiscard]] std::string shared_after(const std::vector<Seen>& all, const Evidence& evidence);

// Infers the forms of all types.  The text that all values share before them becomes `key_close`; `after` is the text
// that they share after them.  `escapes` are those of strings.
void infer_forms(const std::vector<Seen>& all, const std::string& after, std::span<const format::Escape> escapes,
                 format::Parameters& parameters);

}  // namespace rondo::analysis
