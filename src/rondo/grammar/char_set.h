// Sets of code points as sorted, disjoint ranges.  No set contains surrogates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo::grammar {

inline constexpr char32_t kLastCodePoint = 0x10FFFF;

class CharSet {
 public:
  struct Range {
    char32_t first = 0;
    char32_t last = 0;  // included
    bool operator==(const Range&) const = default;
  };

  CharSet() = default;
  [[nodiscard]] static CharSet all();
  [[nodiscard]] static CharSet of(char32_t one) { return range(one, one); }
  [[nodiscard]] static CharSet range(char32_t first, char32_t last);
  // Returns the set of the characters in `ascii`.
  [[nodiscard]] static CharSet any_of(std::string_view ascii);

  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] bool contains(char32_t code_point) const;
  // Returns true if the set has exactly one character, and sets `code_point` to it.
  [[nodiscard]] bool is_single(char32_t& code_point) const;

  void add(char32_t first, char32_t last);
  [[nodiscard]] CharSet united(const CharSet& other) const;
  [[nodiscard]] CharSet complement() const;
  [[nodiscard]] CharSet common(const CharSet& other) const;
  [[nodiscard]] CharSet without(const CharSet& other) const { return common(other.complement()); }

  bool operator==(const CharSet&) const = default;

 private:
  std::vector<Range> ranges_;
};

// Returns the characters of a UTF-8 text.
[[nodiscard]] std::u32string code_points(std::string_view text);

}  // namespace rondo::grammar
