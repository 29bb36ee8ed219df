// Text as arrays of units, as in languages whose strings are not UTF-8.  Latin-1 has one byte for each code point,
// which is below U+0100; UTF-16 has two bytes in the machine's order.  A JavaScript engine uses both, and passes a
// string on by copying these bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rondo::units {

enum class Width : std::uint8_t { kLatin1 = 1, kUtf16 = 2 };

// Appends the UTF-8 form of `units`, of which there are size() / `width`.  A surrogate without its other half is written as three
// bytes, as utf8::append does.
//
// REQUIRES: `units` has whole units.
void append(std::string& out, std::string_view units, Width width);

// The narrowest units that can hold a UTF-8 text, and their number.
struct Fit {
  Width width = Width::kLatin1;
  std::size_t count = 0;
  bool is_valid = true;  // false: the text is not UTF-8
  bool is_same = true;   // the text is ASCII, so its bytes are the units
};
[[nodiscard]] Fit fit(std::string_view text);

// Writes the units of a text to `to`, which has room for fit.count of fit.width.
//
// REQUIRES: `fit` is that of the text, and valid.
void write(std::string_view text, const Fit& fit, char* to);

}  // namespace rondo::units
