// Kinds of 64 neighbouring bytes at once, a bit for each byte: what lets a scanner find all pieces of a stretch of ASCII
// without looking at its characters one by one.
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
  std::uint64_t beyond = 0;  // not ASCII
};

// Reads kBytes bytes.
using MaskFunction = void (*)(const char* bytes, ByteMasks& out);

// The fastest way that this machine has; nullptr if it has none that is worth it.
[[nodiscard]] MaskFunction best_mask_function();

}  // namespace rondo::tokenizer
