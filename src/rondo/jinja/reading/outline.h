// Outline: the statements around a place in a template's source.
//
//   const Outline outline(chat_template.source());
//   outline.decides(condition, literal)   // is the literal written, or not, by what this condition says?
//   outline.loops(literal)                // the for statements around it, outermost first
//
// It is read from the tags in the source and does not depend on what the compiler made of them.  Places are as in
// text::Literal: from 1, columns in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/origins.h"

namespace rondo::jinja {

struct Token;

class Outline {
 public:
  // `source` is a template's normalised source (Template::source).  If the source has a lexical error, the outline ends
  // there.
  explicit Outline(std::string_view source);

  // Returns whether `condition`, the place of a Decision, belongs to an if statement around `place` or to the same tag.
  [[nodiscard]] bool decides(const text::Literal& condition, const text::Literal& place) const;
  // Returns how many statements are between that if statement and `place`.
  //
  // REQUIRES: decides().
  [[nodiscard]] std::size_t distance(const text::Literal& condition, const text::Literal& place) const;
  // Returns the for statements around `place`, outermost first.
  [[nodiscard]] std::vector<text::Literal> loops(const text::Literal& place) const;
  // Returns the beginning of the tag around `place`, or `place` itself if it is not in a tag.
  [[nodiscard]] text::Literal tag(const text::Literal& place) const;
  // Returns whether the if statement of the condition `other` assigns to a variable that `condition` names.
  [[nodiscard]] bool assigns_for(const text::Literal& other, const text::Literal& condition) const;
  // Returns whether `place` is in the condition of an if statement.
  [[nodiscard]] bool is_condition(const text::Literal& place) const { return if_of(place) != nullptr; }
  // Returns the tags that name the variable which the tag of `place` assigns to, in order; none if that tag assigns to
  // none.
  [[nodiscard]] std::vector<text::Literal> uses(const text::Literal& place) const;
  // Returns whether the tag around `place` names `name`.
  [[nodiscard]] bool tag_names(const text::Literal& place, std::string_view name) const;
  // Returns whether the if statement of `condition`, or its own tag, names a variable or attribute `name`.
  [[nodiscard]] bool names(const text::Literal& condition, std::string_view name) const;
  // Finds the last assignment before `place` that applies a filter and whose variable the tag of `place` names, and
  // returns its first filter.  Returns nullopt if the tag has a filter of its own.
  [[nodiscard]] std::optional<text::Literal> filtered_before(const text::Literal& place) const;

 private:
  enum class Kind : std::uint8_t { kIf, kFor, kOther };
  struct Range {
    text::Literal begin;
    text::Literal end;
  };
  // A statement with a body.
  struct Block {
    Kind kind = Kind::kOther;
    Range range;              // from its first tag to the end of its last
    std::vector<Range> tags;  // its first tag and its elif tags
    std::size_t depth = 0;
  };

  struct Name {
    std::string text;
    text::Literal place;
  };

  struct Tag {
    Range range;
    std::vector<Name> names;  // names in it, including string constants
    std::string assigned;     // for a set tag: the variable, or the attribute of one, that it assigns to
    std::optional<text::Literal> filter;
  };

  void add_tag(const std::vector<Token>& tokens, std::size_t first, std::size_t last);
  // Opens, continues or closes a block with the block tag [first, last].  `open` holds the indices of the open blocks.
  void follow_blocks(const std::vector<Token>& tokens, std::size_t first, std::size_t last,
                     std::vector<std::size_t>& open);
  [[nodiscard]] static bool has_name(const Tag& tag, std::string_view name);
  [[nodiscard]] const Tag* tag_of(const text::Literal& place) const;
  [[nodiscard]] const Block* if_of(const text::Literal& condition) const;

  std::vector<Block> blocks_;  // in the order in which they begin
  std::vector<Tag> tags_;      // all of them, in order
};

}  // namespace rondo::jinja
