// Characters that a template replaces inside values: `<` becomes `&lt;`, a quote gets a backslash.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"

namespace rondo::format {

// Returns the escapes of strings in JSON: quotes, backslashes and control characters.
[[nodiscard]] std::vector<Escape> json_escapes();

// Returns `text` as the template writes it.
[[nodiscard]] std::string escaped(std::string_view text, std::span<const Escape> escapes);

// Returns the text that `written` stands for.  Reads from left to right; what is not an escape stands for itself.  If
// `%` is written as `%25`, the bytes of a whole character, written in this way, are an escape too: `%E6%97%A5`.
[[nodiscard]] std::string unescaped(std::string_view written, std::span<const Escape> escapes);

// Returns the text that `written` stands for, which is all that the template writes of a text: a string of JSON also
// loses its quotes.
[[nodiscard]] std::string unescaped_text(std::string_view written, std::span<const Escape> escapes);

// Returns how many bytes at the start of `written` begin no escape.
[[nodiscard]] inline std::size_t plain_size(std::string_view written, std::span<const Escape> escapes) {
  for (const Escape& escape : escapes) written = written.substr(0, written.find(escape.written.front()));
  return written.size();
}

// Returns the size of the first unit of `written`: an escape's size, otherwise 1.
//
// REQUIRES: `written` is not empty.
[[nodiscard]] std::size_t unit_size(std::string_view written, std::span<const Escape> escapes);

// `written` is the beginning of a longer text.  Returns how much of it is certain: everything before what may become an
// escape at its end.
[[nodiscard]] std::size_t whole_units(std::string_view written, std::span<const Escape> escapes);

}  // namespace rondo::format
