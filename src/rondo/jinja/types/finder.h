// Searching text for text, in linear time whatever they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rondo::jinja {

// Finds a key, forwards or backwards.  Short keys are left to std::string_view; for long ones that would take the product
// of both lengths on texts made for it, so they are searched as Knuth, Morris and Pratt do.
//
//   const Finder finder("ab");
//   finder.find("abab", 1)   // 2
//
// The key must outlive the finder.
class Finder {
 public:
  explicit Finder(std::string_view key, bool backwards = false);

  // The first occurrence at or behind `from`; npos if there is none.  REQUIRES: not backwards.
  [[nodiscard]] std::size_t find(std::string_view text, std::size_t from = 0) const;
  // The last occurrence that ends at or before `end`; npos if there is none.  REQUIRES: backwards.
  [[nodiscard]] std::size_t find_last(std::string_view text, std::size_t end = std::string_view::npos) const;

 private:
  [[nodiscard]] char key_at(std::size_t i) const { return backwards_ ? key_[key_.size() - 1 - i] : key_[i]; }

  std::string_view key_;
  bool backwards_;
  std::vector<std::uint32_t> borders_;  // of each prefix, seen in the direction of search; empty for short keys
};

}  // namespace rondo::jinja
