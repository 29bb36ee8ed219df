// Unicode normalisation forms as the reference tokenizers compute them, by Unicode 9.0.
//
// Code points newer than version 9 stay unchanged and separate what is around them, like unassigned ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::unicode {

enum class Form : std::uint8_t { kNfc, kNfd, kNfkc, kNfkd };

// A code point of normalised text, and the source bytes that it was made from.
struct Normalised {
  char32_t code_point = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// Returns true if normalising certainly changes nothing.  False does not mean that it would.
[[nodiscard]] bool is_normalised(std::string_view text, Form form);

// Ill-formed parts of `text` become U+FFFD.  Along the result, neither `begin` nor `end` ever decreases.
[[nodiscard]] std::vector<Normalised> normalise_aligned(std::string_view text, Form form);
[[nodiscard]] std::string normalise(std::string_view text, Form form);

}  // namespace rondo::unicode
