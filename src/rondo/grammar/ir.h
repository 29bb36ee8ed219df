// Grammar: a context-free grammar over characters, as a graph of nodes in which equal parts are shared.
//
//   Grammar g;
//   const NodeId digit = g.chars(CharSet::range('0', '9'));
//   const RuleId list = g.declare("list");
//   g.define(list, g.choice({digit, g.sequence({digit, g.literal(","), g.reference(list)})}));
//   g.set_root(list);
//   to_gbnf(g)                                   // gbnf.h; lark.h and structural_tag.h print the same graph
//
// Nodes are values: two equal nodes are one node, so the size is that of the distinct parts.  Building simplifies:
// sequences and choices are flat, neighbouring literals are joined, and parts that can never match are removed.  Text
// is valid UTF-8, and characters are code points.  Not thread-safe while it is built.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/format.h"
#include "grammar/char_set.h"

namespace rondo::grammar {

enum class NodeId : std::uint32_t {};
enum class RuleId : std::uint32_t {};

enum class NodeKind : std::uint8_t {
  kNever,       // matches nothing, not even the empty text
  kLiteral,     // `text`
  kChars,       // one character of `set`
  kSequence,    // `children` in sequence; none: the empty text
  kChoice,      // one of `children`
  kRepeat,      // `children[0]`, `least` to `most` times
  kReference,   // the rule `rule`
  kText,        // any text up to its first marker; see Grammar::text()
  kExceptWord,  // any text of characters, except `words`; see Grammar::except()
  kToken,       // `children[0]`, without references: printers with a lexer make it one lexeme
};

inline constexpr std::uint32_t kUnbounded = std::numeric_limits<std::uint32_t>::max();

struct Node {
  NodeKind kind = NodeKind::kNever;
  std::string text;
  CharSet set;
  std::vector<NodeId> children;
  std::vector<std::string> words;
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  RuleId rule{};
  bool operator==(const Node&) const = default;
};

class Grammar {
 public:
  Grammar();

  [[nodiscard]] NodeId never() const { return never_; }
  [[nodiscard]] NodeId empty() const { return empty_; }
  NodeId literal(std::string_view text);
  NodeId chars(const CharSet& set);
  // Sets the escapes for nodes that are made from here on: literal() and chars() then mean characters as these escapes
  // write them.  Nodes that exist already stay as they are.  Returns the escapes that were set before.
  //
  // REQUIRES: each escape stands for one ASCII character.
  std::vector<format::Escape> set_escapes(std::vector<format::Escape> escapes);
  [[nodiscard]] const std::vector<format::Escape>& escapes() const { return escapes_; }
  NodeId sequence(const std::vector<NodeId>& parts);
  NodeId choice(const std::vector<NodeId>& alternatives);
  NodeId repeat(NodeId item, std::uint32_t least, std::uint32_t most);
  NodeId optional(NodeId item) { return repeat(item, 0, 1); }
  NodeId any_number(NodeId item) { return repeat(item, 0, kUnbounded); }
  NodeId reference(RuleId rule);
  // Any text, then `closing`, which must end the first occurrence of any of `markers`.  With an empty `closing`: any
  // text without a marker.  `closing` counts as a marker, and empty markers are ignored.  Outside a token, a marker
  // must follow text without a closing, so that printers with a lexer can cut the text into pieces that no marker runs
  // into.
  NodeId text(std::vector<std::string> markers, std::string_view closing);
  // Any number of `item`, but not exactly one of the texts `words`.  Each item stands for one character.
  //
  // REQUIRES: `item` is kChars, a sequence that begins with a literal, or a choice of these.  `words` consist of
  // characters in its kChars.
  NodeId except(NodeId item, std::vector<std::string> words);
  // `item` as one lexeme, for printers with a lexer.  An item with references stays as it is, because no lexeme can
  // contain a rule.
  NodeId token(NodeId item);
  // A node like `other`, which may be of another grammar, with these children in place of its own.
  //
  // REQUIRES: `other` is not a reference.
  NodeId like(const Node& other, const std::vector<NodeId>& children);

  // A rule is declared first, so it may refer to itself, and then defined once.  `name` is for people.  Printers make
  // it unique and legal.
  RuleId declare(std::string_view name);
  void define(RuleId rule, NodeId body);
  void set_root(RuleId rule) { root_ = rule; }

  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] const std::string& name(RuleId rule) const { return rules_[static_cast<std::size_t>(rule)].name; }
  [[nodiscard]] NodeId body(RuleId rule) const { return rules_[static_cast<std::size_t>(rule)].body; }
  [[nodiscard]] RuleId root() const { return root_; }
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] std::size_t rule_count() const { return rules_.size(); }

  // Returns, by rule index, whether each rule matches any text at all.
  [[nodiscard]] std::vector<bool> productive_rules() const;
  // Returns, by rule index, whether each rule matches the empty text.
  [[nodiscard]] std::vector<bool> empty_rules() const;
  // Returns the part of the grammar that the root reaches, without parts that can never match.  If the root matches
  // nothing, its body is kNever.
  [[nodiscard]] Grammar pruned() const;

 private:
  struct Rule {
    std::string name;
    NodeId body{};
  };
  struct NodeHash {
    std::size_t operator()(const Node& node) const;
  };

  using Needs = std::optional<std::size_t> (*)(const Node&);
  [[nodiscard]] std::vector<bool> settled_rules(Needs needs) const;
  NodeId add(Node node);

  std::vector<Node> nodes_;
  std::vector<bool> has_reference_;  // by node: whether a reference is in it
  std::unordered_map<Node, NodeId, NodeHash> ids_;
  std::vector<Rule> rules_;
  std::vector<format::Escape> escapes_;
  RuleId root_{};
  NodeId never_{};
  NodeId empty_{};
};

// Sets escapes as Grammar::set_escapes() does, and restores the earlier ones at the end of its life.
class EscapedText {
 public:
  EscapedText(Grammar& grammar, std::vector<format::Escape> escapes)
      : grammar_(grammar), before_(grammar.set_escapes(std::move(escapes))) {}
  EscapedText(const EscapedText&) = delete;
  EscapedText& operator=(const EscapedText&) = delete;
  ~EscapedText() { (void)grammar_.set_escapes(std::move(before_)); }

 private:
  Grammar& grammar_;
  std::vector<format::Escape> before_;
};

}  // namespace rondo::grammar
