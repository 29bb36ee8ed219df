// How JSON values are spelled: as JSON, as Python literals, or in a format's own syntax with its own quotes.
//
// A Speller makes the nodes for strings, characters, numbers and constants in one such spelling; schemas and patterns
// are compiled against it and know no syntax of their own.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"
#include "grammar/ir.h"
#include "json/value.h"

namespace rondo::grammar {

// Counts beyond this are taken for "any number"; a text of a billion characters is nobody's.
inline constexpr std::uint32_t kLargestCount = 1'000'000'000;

struct Spelling {
  enum class Strings : std::uint8_t {
    kJson,       // "a\nb"
    kPython,     // 'a\nb' or "a\nb"
    kDelimited,  // open, the string's own characters, close
    kBare,       // the string's own characters; what ends them is the caller's
  };
  Strings strings = Strings::kJson;
  std::string open;   // of kDelimited
  std::string close;  // of kDelimited; of kBare: what the caller writes behind, "" for anything
  std::string true_word = "true";
  std::string false_word = "false";
  std::string null_word = "null";
  std::vector<format::Escape> escapes;  // of kBare: how characters of whole values are written
  bool bare_keys = false;               // keys of objects stand without quotes

  bool operator==(const Spelling&) const = default;
  [[nodiscard]] static Spelling json() { return {}; }
  [[nodiscard]] static Spelling python();
  [[nodiscard]] static Spelling delimited(std::string open, std::string close);
  [[nodiscard]] static Spelling bare();
};

// Nodes of one spelling.  The grammar must outlive it.
class Speller {
 public:
  Speller(Grammar& grammar, Spelling spelling) : grammar_(&grammar), spelling_(std::move(spelling)) {}

  [[nodiscard]] Grammar& grammar() const { return *grammar_; }
  [[nodiscard]] const Spelling& spelling() const { return spelling_; }

  // White space between the parts of a value: none to kMostSpace characters.
  [[nodiscard]] NodeId space() const;

  // A whole string, with its quotes.
  [[nodiscard]] NodeId any_string() const;
  [[nodiscard]] NodeId string(std::string_view text) const;
  // `content` is made of characters(); with kPython it is made for each of both quotes.
  template <typename Content>
  [[nodiscard]] NodeId quoted(const Content& content) const {
    std::vector<NodeId> ways;
    for (const char quote : quotes()) {
      const Speller inner = within(quote);
      ways.push_back(inner.wrapped(content(inner)));
    }
    return grammar_->choice(ways);
  }

  // One character of `set`, as it is spelled inside a string (with this speller's quote).
  [[nodiscard]] NodeId character(const CharSet& set) const;
  // All of `text` inside a string.
  [[nodiscard]] NodeId content(std::string_view text) const;
  // The content of a string of `least` to `most` characters.
  [[nodiscard]] NodeId any_content(std::uint32_t least, std::uint32_t most) const;

  // A key of an object, with its quotes if keys have any; any key but those of `names`.
  [[nodiscard]] NodeId key(std::string_view name) const;
  [[nodiscard]] NodeId key_except(const std::vector<std::string>& names) const;

  [[nodiscard]] NodeId integer() const;
  [[nodiscard]] NodeId number() const;
  [[nodiscard]] NodeId boolean() const;
  [[nodiscard]] NodeId null() const { return grammar_->literal(spelling_.null_word); }
  // Exactly `value`; members and elements with white space between them, members in their order.
  [[nodiscard]] NodeId constant(const json::Value& value) const;

 private:
  [[nodiscard]] std::string_view quotes() const;
  [[nodiscard]] Speller within(char quote) const;
  [[nodiscard]] NodeId wrapped(NodeId content) const;
  [[nodiscard]] NodeId any_character() const;
  [[nodiscard]] NodeId escape(char32_t code_point) const;
  [[nodiscard]] NodeId unicode_escapes(const CharSet& set) const;
  [[nodiscard]] CharSet plain() const;
  [[nodiscard]] NodeId constant_number(const json::Value& value) const;

  Grammar* grammar_;
  Spelling spelling_;
  char quote_ = '"';
};

inline constexpr std::uint32_t kMostSpace = 64;

[[nodiscard]] NodeId white_space(Grammar& grammar, std::uint32_t least, std::uint32_t most);

}  // namespace rondo::grammar
