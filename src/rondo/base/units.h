// Text as languages have it whose strings are units of one or two bytes: Latin-1, one byte for each code point below U+0100, and
// UTF-16 in the machine's order of bytes.  JavaScript's engine keeps either, and hands it over by copying bytes.
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

// What holds a UTF-8 text, and how many of these.
struct Fit {
  Width width = Width::kLatin1;
  std::size_t count = 0;
  bool is_valid = true;  // else it is no UTF-8, and nothing holds it
  bool is_same = true;   // the text's own bytes are the units: it is ASCII
};
[[nodiscard]] Fit fit(std::string_view text);

// Writes the units of a text to `to`, which has room for fit.count of fit.width.
//
// REQUIRES: `fit` is that of the text, and valid.
void write(std::string_view text, const Fit& fit, char* to);

}  // namespace rondo::units
