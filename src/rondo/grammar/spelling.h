// Spellings of JSON values: JSON, Python literals, or a format's own syntax with its own quotes.
//
// A Speller makes the nodes for strings, characters, numbers and constants in one spelling.  Schemas and patterns are
// compiled with it and know no syntax themselves.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"
#include "grammar/ir.h"
#include "json/value.h"

namespace rondo::grammar {

// Larger counts are treated as "any number", because no real text has a billion characters.
inline constexpr std::uint32_t kLargestCount = 1'000'000'000;

struct Spelling {
  enum class Strings : std::uint8_t {
    kJson,       // "a\nb"
    kPython,     // 'a\nb' or "a\nb"
    kDelimited,  // open, the string's own characters, close
    kBare,       // the string's own characters; the caller ends them
  };
  Strings strings = Strings::kJson;
  std::string open;   // for kDelimited
  std::string close;  // for kDelimited; for kBare: the text that the caller writes after it, "" for anything
  std::string true_word = "true";
  std::string false_word = "false";
  std::string null_word = "null";
  std::vector<format::Escape> escapes;  // for kBare: escapes inside whole values
  bool bare_keys = false;               // keys of objects have no quotes
  // The text between members, between elements, and after keys.  With it the value has no other white space, and
  // required members come in the order of their schema.
  struct Separators {
    std::string item;
    std::string key;
    bool operator==(const Separators&) const = default;
  };
  std::optional<Separators> separators;

  bool operator==(const Spelling&) const = default;
  [[nodiscard]] static Spelling json() { return {}; }
  [[nodiscard]] static Spelling python();
  [[nodiscard]] static Spelling delimited(std::string open, std::string close);
  [[nodiscard]] static Spelling bare();
};

// Makes nodes in one spelling.  The grammar must outlive this object.
class Speller {
 public:
  Speller(Grammar& grammar, Spelling spelling) : grammar_(&grammar), spelling_(std::move(spelling)) {}

  [[nodiscard]] Grammar& grammar() const { return *grammar_; }
  [[nodiscard]] const Spelling& spelling() const { return spelling_; }

  // space(): white space between the parts of a value, at most kMostSpace characters.  comma() and colon() include it.
  [[nodiscard]] NodeId space() const;
  [[nodiscard]] NodeId comma() const;
  [[nodiscard]] NodeId colon() const;

  // Any string with its quotes, and the string `text` with its quotes.
  [[nodiscard]] NodeId any_string() const;
  [[nodiscard]] NodeId string(std::string_view text) const;
  // A string with the content that `content(speller)` makes of characters.  For kPython it is called once per kind of
  // quote.
  template <typename Content>
  [[nodiscard]] NodeId quoted(const Content& content) const {
    std::vector<NodeId> ways;
    for (const char quote : quotes()) {
      const Speller inner = within(quote);
      ways.push_back(inner.wrapped(content(inner)));
    }
    return grammar_->choice(ways);
  }

  // One character of `set`, as spelled inside a string with this speller's quote.
  [[nodiscard]] NodeId character(const CharSet& set) const;
  // All of `text`, as spelled inside a string.
  [[nodiscard]] NodeId content(std::string_view text) const;
  // The content of a string of `least` to `most` characters.
  [[nodiscard]] NodeId any_content(std::uint32_t least, std::uint32_t most) const;

  // A key of an object, with quotes if keys have any, and any key except `names`.
  [[nodiscard]] NodeId key(std::string_view name) const;
  [[nodiscard]] NodeId key_except(const std::vector<std::string>& names) const;

  [[nodiscard]] NodeId integer() const;
  [[nodiscard]] NodeId number() const;
  [[nodiscard]] NodeId boolean() const;
  [[nodiscard]] NodeId null() const { return grammar_->literal(spelling_.null_word); }
  // Exactly `value`, with its members in their order, and white space between members and elements.
  [[nodiscard]] NodeId constant(const json::Value& value) const;

 private:
  [[nodiscard]] std::string_view quotes() const;
  [[nodiscard]] Speller within(char quote) const;
  [[nodiscard]] NodeId wrapped(NodeId content) const;
  [[nodiscard]] NodeId any_character() const;
  [[nodiscard]] NodeId escape(char32_t code_point) const;
  [[nodiscard]] std::string escape_letters(const CharSet& set) const;
  [[nodiscard]] NodeId unicode_escapes(const CharSet& set) const;
  [[nodiscard]] CharSet plain() const;
  [[nodiscard]] NodeId constant_number(const json::Value& value) const;

  Grammar* grammar_;
  Spelling spelling_;
  char quote_ = '"';
};

inline constexpr std::uint32_t kMostSpace = 64;

// `least` to `most` characters of white space, as one token.
[[nodiscard]] NodeId white_space(Grammar& grammar, std::uint32_t least, std::uint32_t most);

}  // namespace rondo::grammar
