// Searches text for text, always in linear time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rondo::jinja {

// Finds a key, forwards or backwards.  Short keys use std::string_view.  For long keys that could take the product of
// both lengths on hostile texts, so they use the algorithm of Knuth, Morris and Pratt.
//
//   const Finder finder("ab");
//   finder.find("abab", 1)   // 2
//
// The key must outlive the finder.
class Finder {
 public:
  explicit Finder(std::string_view key, bool backwards = false);

  // Returns the first occurrence at or after `from`; npos if there is none.
  //
  // REQUIRES: made for searching forwards.
  [[nodiscard]] std::size_t find(std::string_view text, std::size_t from = 0) const;
  // Returns the last occurrence that ends at or before `end`; npos if there is none.
  //
  // REQUIRES: made for searching backwards.
  [[nodiscard]] std::size_t find_last(std::string_view text, std::size_t end = std::string_view::npos) const;

 private:
  [[nodiscard]] char key_at(std::size_t i) const { return backwards_ ? key_[key_.size() - 1 - i] : key_[i]; }

  std::string_view key_;
  bool backwards_;
  std::vector<std::uint32_t> borders_;  // of each prefix in the direction of the search; empty for short keys
};

}  // namespace rondo::jinja
