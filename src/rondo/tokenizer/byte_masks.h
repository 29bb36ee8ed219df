// Classifies 64 neighbouring bytes at once, with a bit per byte.  A scanner can then find all pieces of a stretch of
// ASCII without looking at single characters.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::tokenizer {

struct ByteMasks {
  static constexpr std::size_t kBytes = 64;
  std::uint64_t upper = 0;
  std::uint64_t lower = 0;
  std::uint64_t digit = 0;
  std::uint64_t white = 0;     // space, tab, line ends, \v, \f
  std::uint64_t line_end = 0;  // \r, \n
  std::uint64_t space = 0;
  std::uint64_t apostrophe = 0;
  std::uint64_t slash = 0;
  std::uint64_t beyond = 0;  // bytes that are not ASCII
};

// Reads kBytes bytes.
using MaskFunction = void (*)(const char* bytes, ByteMasks& out);

// Returns the fastest function for this machine; nullptr if none is worth it.
[[nodiscard]] MaskFunction best_mask_function();

}  // namespace rondo::tokenizer
