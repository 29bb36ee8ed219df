// UTF-8: decoding, encoding, validation and counting.  Character classes and case are in unicode/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace rondo::utf8 {

inline constexpr char32_t kReplacement = U'\uFFFD';
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // that some editors write first

// One decoded unit: a code point and its length in bytes.  If the byte starts no well-formed sequence, `valid` is
// false, `code_point` is U+FFFD, and `size` is the length of the maximal ill-formed part (as in the WHATWG decoder).
struct Decoded {
  char32_t code_point = 0;
  std::uint8_t size = 0;
  bool valid = true;
};

// Decodes the unit that starts at `at`.
//
// REQUIRES: at < text.size().
[[nodiscard]] Decoded decode(std::string_view text, std::size_t at);

// Appends the UTF-8 form.  A surrogate (U+D800..DFFF) is written as three bytes, as Python's "surrogatepass" does.
void append(std::string& out, char32_t code_point);

// Returns `text` without a byte order mark at its beginning.
[[nodiscard]] constexpr std::string_view without_mark(std::string_view text) {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

// True for a byte 10xxxxxx.
[[nodiscard]] constexpr bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

[[nodiscard]] bool is_valid(std::string_view text);

// Returns the offset after the run of ASCII characters that starts at `at`.
[[nodiscard]] inline std::size_t skip_ascii(std::string_view text, std::size_t at) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  for (std::uint64_t words[4]; at + sizeof words <= text.size(); at += sizeof words) {
    std::memcpy(words, text.data() + at, sizeof words);
    if (((words[0] | words[1] | words[2] | words[3]) & kHighBits) != 0) break;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at;
}

// Returns the offset of the first ill-formed byte, or text.size() if there is none.
[[nodiscard]] std::size_t first_invalid(std::string_view text);

// Returns the number of code points.  Each ill-formed part counts as one.
[[nodiscard]] std::size_t length(std::string_view text);

// Returns the byte offset of code point `index`, or text.size() if there are fewer.
[[nodiscard]] std::size_t offset_of(std::string_view text, std::size_t index);

// Returns `text` with each ill-formed part replaced by U+FFFD.
[[nodiscard]] std::string to_valid(std::string_view text);

// Returns the start of the sequence that contains byte `at`, or text.size() if `at` is past the end.
[[nodiscard]] inline std::size_t boundary(std::string_view text, std::size_t at) {
  if (at >= text.size()) return text.size();
  while (at > 0 && is_continuation(text[at])) --at;
  return at;
}

// Returns the first, or the last, whole sequences of `text`: at most `most` bytes.
[[nodiscard]] inline std::string_view head(std::string_view text, std::size_t most) {
  return text.substr(0, boundary(text, most));
}
[[nodiscard]] inline std::string_view tail(std::string_view text, std::size_t most) {
  std::size_t begin = text.size() > most ? text.size() - most : 0;
  while (begin < text.size() && is_continuation(text[begin])) ++begin;
  return text.substr(begin);
}

// Returns the length of the longest prefix that does not end in an incomplete sequence.
[[nodiscard]] std::size_t complete_prefix(std::string_view text);

}  // namespace rondo::utf8
