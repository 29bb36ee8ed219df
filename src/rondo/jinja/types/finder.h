// Searches text for text, always in linear time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rondo::jinja {

// Finds a key, forwards or backwards.  Long keys use the algorithm of Knuth, Morris and Pratt, because comparing at each
// place could take the product of both lengths.  Short keys use it only in texts where many places begin like the key.
//
//   const Finder finder("ab");
//   finder.find("abab", 1)   // 2
//
// The key must outlive the finder.
class Finder {
 public:
  explicit Finder(std::string_view key, bool backwards = false) : key_(key), backwards_(backwards) {}

  // Returns the first occurrence at or after `from`; npos if there is none.
  //
  // REQUIRES: made for searching forwards.
  [[nodiscard]] std::size_t find(std::string_view text, std::size_t from = 0) const;
  // Returns the last occurrence that ends at or before `end`; npos if there is none.
  //
  // REQUIRES: made for searching backwards.
  [[nodiscard]] std::size_t find_last(std::string_view text, std::size_t end = std::string_view::npos) const;

 private:
  // Do the same by the algorithm for long keys.
  [[nodiscard]] std::size_t find_surely(std::string_view text, std::size_t from) const;
  [[nodiscard]] std::size_t find_last_surely(std::string_view text, std::size_t end) const;
  // For each prefix of the key, in the direction of the search: how much of its beginning its end repeats.
  [[nodiscard]] const std::vector<std::uint32_t>& borders() const;
  [[nodiscard]] char key_at(std::size_t i) const { return backwards_ ? key_[key_.size() - 1 - i] : key_[i]; }

  std::string_view key_;
  bool backwards_;
  mutable std::vector<std::uint32_t> borders_;  // empty before they are needed
};

}  // namespace rondo::jinja
