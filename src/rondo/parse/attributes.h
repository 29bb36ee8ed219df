// Attributes of a tag, `word=value` with or without quotes.  Internal to parse/.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "parse/marker.h"

namespace rondo::parse {

// An attribute as the text has it.  The views point into that text.
struct Attribute {
  std::string_view name;
  std::string_view value;  // without quotes
  char quote = 0;          // 0: none
};

// Reads the attributes of a tag; begins after the tag's first word.
class AttributeReader {
 public:
  AttributeReader(std::string_view text, bool is_end);

  // Matches at least `fewest` attributes, then `tail`.
  Match up_to(std::string_view tail, std::size_t fewest);
  // Returns the attributes that were matched.
  [[nodiscard]] const std::vector<Attribute>& attributes() const { return attributes_; }

 private:
  [[nodiscard]] Match open() const { return {is_end_ || is_cut_ ? MatchKind::kNone : MatchKind::kPartial, 0}; }
  void skip(bool (*is_one)(char));
  bool attribute();

  std::string_view text_;
  bool is_end_;
  bool is_cut_ = false;
  std::size_t at_ = 0;
  std::vector<Attribute> attributes_;
};

}  // namespace rondo::parse
