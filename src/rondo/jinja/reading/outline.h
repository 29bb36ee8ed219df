// Outline: which statements of a template's source stand around a place of it.
//
//   const Outline outline(chat_template.source());
//   outline.decides(condition, literal)   // is the literal written, or not, by what this condition says?
//   outline.loops(literal)                // the for statements around it, outermost first
//
// Read off the source's tags, so it needs no second look at what the compiler made of them.  Places are those of
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
  // `source` is a template's normalised source (Template::source).  Source that does not lex has an outline up to there.
  explicit Outline(std::string_view source);

  // Whether `condition`, the place of a Decision, belongs to an if statement around `place`, or to the same tag.
  [[nodiscard]] bool decides(const text::Literal& condition, const text::Literal& place) const;
  // How many statements stand between that if statement and `place`: the smaller, the closer.  REQUIRES: decides().
  [[nodiscard]] std::size_t distance(const text::Literal& condition, const text::Literal& place) const;
  // The for statements around `place`, outermost first.
  [[nodiscard]] std::vector<text::Literal> loops(const text::Literal& place) const;
  // The beginning of the tag that `place` stands in; `place` itself if it stands in none.
  [[nodiscard]] text::Literal tag(const text::Literal& place) const;
  // Whether the if statement of the condition `other` assigns to a variable that `condition` names.
  [[nodiscard]] bool assigns_for(const text::Literal& other, const text::Literal& condition) const;
  // Whether `place` stands in the condition of an if statement, and not in what is written.
  [[nodiscard]] bool is_condition(const text::Literal& place) const { return if_of(place) != nullptr; }
  // The tags that name the variable which the tag of `place` assigns to, in order; none if that assigns to none.
  [[nodiscard]] std::vector<text::Literal> uses(const text::Literal& place) const;
  // Whether the tag that `place` stands in names `name`.
  [[nodiscard]] bool tag_names(const text::Literal& place, std::string_view name) const;
  // Whether the if statement of `condition`, or its own tag, names a variable or attribute `name`.
  [[nodiscard]] bool names(const text::Literal& condition, std::string_view name) const;
  // The last assignment before `place` that puts a value through a filter and whose variable the tag of `place` names: its
  // first filter.  Nothing if that tag has a filter of its own.
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
    std::vector<Name> names;  // that it has, string constants among them
    std::string assigned;     // the variable, or the attribute of one, that a set tag assigns to
    std::optional<text::Literal> filter;
  };

  void add_tag(const std::vector<Token>& tokens, std::size_t first, std::size_t last);
  [[nodiscard]] static bool has_name(const Tag& tag, std::string_view name);
  [[nodiscard]] const Tag* tag_of(const text::Literal& place) const;
  [[nodiscard]] const Block* if_of(const text::Literal& condition) const;

  std::vector<Block> blocks_;  // in the order of their beginnings
  std::vector<Tag> tags_;      // all of them, in order
};

}  // namespace rondo::jinja
