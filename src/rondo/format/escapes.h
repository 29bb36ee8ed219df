// Characters that a template writes in another way inside values: `<` as `&lt;`, a quote behind a backslash.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "format/format.h"

namespace rondo::format {

// `text` as the template writes it.
[[nodiscard]] std::string escaped(std::string_view text, std::span<const Escape> escapes);

// What `written` stands for.  It is read from left to right; what is no escape stands for itself.
[[nodiscard]] std::string unescaped(std::string_view written, std::span<const Escape> escapes);

// How many bytes at the front of `written` no escape begins in.
[[nodiscard]] std::size_t plain_size(std::string_view written, std::span<const Escape> escapes);

// How many bytes the unit that begins `written` has: an escape's, else 1.  REQUIRES: not empty.
[[nodiscard]] std::size_t unit_size(std::string_view written, std::span<const Escape> escapes);

// How much of `written`, the begin of a longer text, is certain: without what may become an escape at its end.
[[nodiscard]] std::size_t whole_units(std::string_view written, std::span<const Escape> escapes);

}  // namespace rondo::format
