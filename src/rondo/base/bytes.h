// Bytes: comparing short strings without a call, counting a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace rondo {

// Returns a == b.  Fast if both are names of a few bytes.
[[nodiscard]] inline bool same_bytes(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const std::size_t size = a.size();
  const auto equal_at = [&]<typename Word>(Word /*type*/, std::size_t at) {
    Word left = 0;
    Word right = 0;
    std::memcpy(&left, a.data() + at, sizeof(Word));
    std::memcpy(&right, b.data() + at, sizeof(Word));
    return left == right;
  };
  // For every size from one word to two, two overlapping words cover the string.
  if (size > 2 * sizeof(std::uint64_t)) return std::memcmp(a.data(), b.data(), size) == 0;
  if (size >= sizeof(std::uint64_t)) {
    return equal_at(std::uint64_t{}, 0) && equal_at(std::uint64_t{}, size - sizeof(std::uint64_t));
  }
  if (size >= sizeof(std::uint32_t)) {
    return equal_at(std::uint32_t{}, 0) && equal_at(std::uint32_t{}, size - sizeof(std::uint32_t));
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// Returns how often `part` occurs in `text`, without overlaps.
//
// REQUIRES: part is not empty.
[[nodiscard]] inline std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace rondo
