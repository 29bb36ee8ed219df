// Unicode normalisation forms as the reference tokenizers compute them: by Unicode 9.0.
//
// Code points that are younger than version 9 are left alone and separate what is around them, as unassigned ones do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::unicode {

enum class Form : std::uint8_t { kNfc, kNfd, kNfkc, kNfkd };

// A code point of normalised text and the bytes of the source that it was made from.
struct Normalised {
  char32_t code_point = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// True if normalising surely changes nothing (false does not mean that it would).
[[nodiscard]] bool is_normalised(std::string_view text, Form form);

// Ill-formed parts of `text` become U+FFFD.  Neither `begin` nor `end` ever decreases along the result.
[[nodiscard]] std::vector<Normalised> normalise_aligned(std::string_view text, Form form);
[[nodiscard]] std::string normalise(std::string_view text, Form form);

}  // namespace rondo::unicode
