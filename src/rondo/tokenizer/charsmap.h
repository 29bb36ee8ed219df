// The precompiled character map of SentencePiece normalisers: byte sequences and their replacements, in a double array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/result.h"

namespace rondo::tokenizer {

// Immutable.
class Charsmap {
 public:
  Charsmap() = default;  // replaces nothing
  // Parses a map.  `blob` is the size of the array in bytes (four bytes), the array, and the replacements, each ended
  // by a NUL.  Fails with kTokenizer.
  [[nodiscard]] static Result<Charsmap> parse(std::string_view blob);

  // How many bytes are replaced, and by what: valid UTF-8 that lives as long as this.
  struct Match {
    std::size_t size = 0;
    std::string_view replacement;
  };
  // Returns the longest entry that `text` starts with.
  [[nodiscard]] std::optional<Match> longest_prefix(std::string_view text) const;
  // Returns the shortest entry that `text` starts with.
  [[nodiscard]] std::optional<Match> shortest_prefix(std::string_view text) const;
  [[nodiscard]] bool empty() const { return units_.empty(); }

 private:
  template <typename Visit>
  void visit_prefixes(std::string_view text, Visit visit) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
};

}  // namespace rondo::tokenizer
