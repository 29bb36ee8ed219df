// Neighbouring characters of a text, and the bits that say what the vocabulary has of them.  Internal to bpe.cpp and
// bpe_obstacles.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/bpe.h"

namespace rondo::tokenizer::joints {

inline constexpr TokenId kNone = -1;
inline constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();

constexpr std::uint64_t mix(std::uint64_t key) { return (key ^ (key >> 29U)) * 0x9E3779B97F4A7C15U; }

// Returns how many bytes a character has that starts with `lead`, which is not ASCII.
constexpr unsigned byte_size(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// How many bits index Obstacles::neighbours; and the bit of two characters.
constexpr unsigned kNeighbourBits = 20;
constexpr std::size_t neighbour_bit(char32_t before, char32_t behind) {
  return static_cast<std::size_t>(mix(static_cast<std::uint64_t>(before) << 21U | behind) >> (64 - kNeighbourBits));
}

// How many bits index Obstacles::halves; and the bit of a character and a byte of its neighbour.
constexpr unsigned kHalfBits = 17;
constexpr std::size_t half_bit(char32_t whole, char part, bool is_behind) {
  const std::uint64_t key =
      std::uint64_t{whole} << 9U | std::uint64_t{static_cast<unsigned char>(part)} << 1U | unsigned{is_behind};
  return static_cast<std::size_t>(mix(mix(key)) >> (64 - kHalfBits));
}

inline bool has_bit(const std::vector<std::uint64_t>& bits, std::size_t bit) {
  return (bits[bit / 64] >> (bit % 64) & 1U) != 0;
}
inline void set_bit(std::vector<std::uint64_t>& bits, std::size_t bit) {
  bits[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

// Returns the index of a pair of neighbouring bytes.
inline std::size_t byte_pair(char before, char behind) {
  return static_cast<unsigned char>(before) * std::size_t{256} + static_cast<unsigned char>(behind);
}
inline std::size_t byte_pair(std::string_view text, std::size_t at) { return byte_pair(text[at - 1], text[at]); }
constexpr bool is_ascii(char32_t c) { return c < 0x80; }

// Does utf8::decode(), faster for the most frequent characters of three bytes.  After these first bytes, any second and
// third byte are valid.
inline utf8::Decoded decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t offset) { return static_cast<unsigned char>(text[at + offset]); };
  if (at + 3 <= text.size() && byte(0) > 0xE0 && byte(0) < 0xED && utf8::is_continuation(text[at + 1]) &&
      utf8::is_continuation(text[at + 2])) {
    const unsigned code_point = (byte(0) & 0xFU) << 12U | (byte(1) & 0x3FU) << 6U | (byte(2) & 0x3FU);
    return {static_cast<char32_t>(code_point), 3, true};
  }
  return utf8::decode(text, at);
}

// Decodes the character that ends at `at`.  The result is not valid if there is none.
inline utf8::Decoded decode_before(std::string_view text, std::size_t at) {
  std::size_t begin = at - 1;
  while (begin > 0 && at - begin < 4 && utf8::is_continuation(text[begin])) --begin;
  utf8::Decoded found = decode(text.substr(0, at), begin);
  found.valid = found.valid && begin + found.size == at;
  return found;
}

}  // namespace rondo::tokenizer::joints

namespace rondo::tokenizer {

// Goes through the neighbouring characters of a text, pair by pair.
class Bpe::Joints {
 public:
  // REQUIRES: begin < text.size().
  Joints(std::string_view text, std::size_t begin) : text_(text), behind_(joints::decode(text, begin)), at_(begin) {}

  // Moves to the next pair.  Returns false if there is none.
  [[nodiscard]] bool next() {
    before_ = behind_;
    at_ += before_.size;
    if (at_ >= text_.size()) return false;
    behind_ = joints::decode(text_, at_);
    return true;
  }
  [[nodiscard]] std::size_t at() const { return at_; }  // where the second one starts
  [[nodiscard]] char32_t before() const { return before_.code_point; }
  [[nodiscard]] char32_t behind() const { return behind_.code_point; }
  [[nodiscard]] char byte_before() const { return text_[at_ - 1]; }
  [[nodiscard]] char byte_behind() const { return text_[at_]; }
  // Returns whether both are characters and one of them is not ASCII.
  [[nodiscard]] bool is_wide() const {
    const bool wide = !joints::is_ascii(before_.code_point | behind_.code_point);
    return (unsigned{wide} & unsigned{before_.valid} & unsigned{behind_.valid}) != 0;
  }

 private:
  std::string_view text_;
  utf8::Decoded before_;
  utf8::Decoded behind_;
  std::size_t at_;
};

}  // namespace rondo::tokenizer
