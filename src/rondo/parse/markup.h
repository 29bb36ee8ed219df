// Objects and arrays that are written in the markup of the format's own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"
#include "json/value.h"
#include "parse/values.h"

namespace rondo::parse {

// Returns what closes a parameter with that key.
[[nodiscard]] std::string closing_tag(const format::Parameters& parameters, std::string_view key);

// A parameter's value that may be in the format's own markup.
struct Markup {
  bool is_possible = false;
  const format::ValueForm* tagged = nullptr;  // the value's form, if objects and arrays have markers of their own
  std::ptrdiff_t depth = 0;                   // how many open parts of the value have the same close as the value
  std::size_t seen = 0;                       // the offset in the whole input up to which they were counted

  // Returns whether a closer of the value ends a part of it.  `unseen` is the text before the closer that was not
  // counted yet, and `open` what opens a parameter of the same name.
  [[nodiscard]] bool is_inner_close(std::string_view unseen, std::string_view open);

  // Reads `text` as an object or array: a sequence of parameters, members or items.  Returns nullopt if it is not one,
  // or is not well formed.
  [[nodiscard]] std::optional<json::Value> read(std::string_view text, const format::Parameters& parameters,
                                                const SchemaPlace& place) const;

  // Returns the text that closes the parts of `begun`, the beginning of such an object or array, and `close`, which ends
  // the value and may have begun.  If the first marker is cut off, `is_list` tells which of the two it is.  Returns
  // nullopt if `begun` is neither, or if parts have markers of their own.
  [[nodiscard]] std::optional<std::string> closing(std::string_view begun, const format::Parameters& parameters,
                                                   std::string_view close, bool is_list) const;
};

// Returns the form of an object or array whose parts have markers of their own, if a value may have only that form.
[[nodiscard]] const format::ValueForm* tagged_among(const std::vector<const format::ValueForm*>& forms);

}  // namespace rondo::parse
