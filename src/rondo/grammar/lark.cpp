#include "grammar/lark.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

#include "base/utf8.h"
#include "grammar/gbnf.h"
#include "grammar/lexer_conflicts.h"
#include "grammar/lower.h"
#include "grammar/text_pieces.h"

namespace rondo::grammar {
namespace {

std::string bracketed_code(char32_t code_point) {
  std::array<char, 16> out{};
  std::snprintf(out.data(), out.size(), "\\x{%X}", static_cast<unsigned>(code_point));
  return out.data();
}

// Spells a character inside `/.../`, and inside `[...]` in it.
std::string regex_character(char32_t code_point) {
  if (code_point < 0x20 || code_point == 0x7F || (code_point >= 0x80 && code_point < 0xA0))
    return bracketed_code(code_point);
  if (code_point < 0x80 &&
      std::string_view("\\/[](){}.*+?|^$-&~#").find(static_cast<char>(code_point)) != std::string_view::npos)
    return {'\\', static_cast<char>(code_point)};
  std::string out;
  utf8::append(out, code_point);
  return out;
}

std::string regex_literal(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    out += regex_character(next.code_point);
    at += next.size;
  }
  return out;
}

std::string regex_class(const CharSet& set) {
  return char_class(set, regex_character, "(?s:.)", "[^\\x{0}-\\x{10FFFF}]");
}

std::string string_literal(std::string_view text) {
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    const char32_t c = next.code_point;
    if (c == U'"' || c == U'\\') {
      out += {'\\', static_cast<char>(c)};
    } else if (c == U'\n') {
      out += "\\n";
    } else if (c == U'\r') {
      out += "\\r";
    } else if (c == U'\t') {
      out += "\\t";
    } else if (c < 0x20 || c == 0x7F) {
      std::array<char, 8> code{};
      std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(c));
      out += code.data();
    } else {
      utf8::append(out, c);
    }
    at += next.size;
  }
  return out + "\"";
}

class LarkPrinter {
 public:
  explicit LarkPrinter(const Grammar& grammar) : grammar_(grammar), names_(rule_names(grammar)) {
    uses_.resize(grammar.node_count());
    for (std::size_t i = 0; i < grammar.node_count(); ++i) {
      for (const NodeId child : grammar.node(NodeId{static_cast<std::uint32_t>(i)}).children)
        ++uses_[static_cast<std::size_t>(child)];
    }
    for (std::string& name : names_) {
      for (char& byte : name) byte = byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
    }
    make_unique();
    names_[static_cast<std::size_t>(grammar.root())] = "start";
  }

  std::string all() {
    std::string rules;
    rule(rules, grammar_.root());
    for (std::size_t i = 0; i < grammar_.rule_count(); ++i) {
      const RuleId id{static_cast<std::uint32_t>(i)};
      if (id != grammar_.root()) rule(rules, id);
    }
    return "%llguidance {}\n" + rules + shared_ + terminals_;
  }

 private:
  // Two names may become equal in lower case.
  void make_unique() {
    std::map<std::string, int> seen{{"start", 1}};
    for (std::string& name : names_) {
      const int count = seen[name]++;
      if (count > 0) name += "-v" + std::to_string(count) + "x";
    }
  }

  void rule(std::string& out, RuleId id) {
    out += names_[static_cast<std::size_t>(id)] + ": " + expression(grammar_.body(id), false) + "\n";
  }

  // ---- Rules

  // Writes a node of a rule.  A part that is used more than once becomes a rule of its own, so the output stays linear.
  std::string expression(NodeId id, bool is_operand) {
    const Node& node = grammar_.node(id);
    switch (node.kind) {
      case NodeKind::kLiteral: return string_literal(node.text);
      case NodeKind::kReference: return names_[static_cast<std::size_t>(node.rule)];
      case NodeKind::kText: return node.text.empty() ? pieces(id) : terminal(id);
      case NodeKind::kToken:
      case NodeKind::kExceptWord:
      case NodeKind::kChars:
      case NodeKind::kNever: return terminal(id);
      default: break;
    }
    if (node.children.empty()) return "\"\"";
    if (uses_[static_cast<std::size_t>(id)] < 2 || is_small(node)) {
      std::string text = composed(node);
      return is_operand || node.kind == NodeKind::kChoice ? "(" + text + ")" : text;
    }
    const auto found = parts_.find(id);
    if (found != parts_.end()) return found->second;
    std::string name = "part-" + std::to_string(parts_.size()) + "-p";
    parts_.emplace(id, name);
    const std::string body = composed(node);  // this may add parts, so it comes first
    shared_ += name + ": " + body + "\n";
    return name;
  }

  [[nodiscard]] bool is_small(const Node& node) const {
    if (node.kind == NodeKind::kRepeat) {
      const NodeKind inner = grammar_.node(node.children[0]).kind;
      return inner == NodeKind::kReference || inner == NodeKind::kLiteral || inner == NodeKind::kToken;
    }
    constexpr std::size_t kFew = 3;
    return node.kind == NodeKind::kSequence && node.children.size() <= kFew &&
           std::all_of(node.children.begin(), node.children.end(), [this](NodeId child) {
             const NodeKind kind = grammar_.node(child).kind;
             return kind == NodeKind::kReference || kind == NodeKind::kLiteral || kind == NodeKind::kToken;
           });
  }

  std::string composed(const Node& node) {
    std::string out;
    if (node.kind == NodeKind::kRepeat) return expression(node.children[0], true) + repeat_mark(node);
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      if (i > 0) out += node.kind == NodeKind::kChoice ? " | " : " ";
      out += expression(node.children[i], false);
    }
    return out;
  }

  // Writes text that ends where one of its markers begins, in pieces.
  std::string pieces(NodeId id) {
    const std::vector<TextPiece> pieces = text_pieces(grammar_.node(id).words);
    if (pieces.empty()) return terminal(id);
    std::string ways;
    for (const TextPiece& piece : pieces) {
      if (!piece.begun.empty()) ways += '|';
      for (const char32_t code_point : piece.begun) ways += regex_character(code_point);
      ways += regex_class(piece.next) + (piece.begun.empty() ? "" : "?");
    }
    const auto [found, is_new] = pieces_.try_emplace(ways, "P" + std::to_string(pieces_.size()));
    if (is_new) terminals_ += found->second + ": /" + ways + "/\n";
    return found->second + "*";
  }

  // ---- Terminals

  std::string terminal(NodeId id) {
    const auto found = terminal_names_.find(id);
    if (found != terminal_names_.end()) return found->second;
    const std::string name = "T" + std::to_string(terminal_names_.size());
    terminal_names_.emplace(id, name);
    const std::string body = terminal_body(grammar_.node(id));
    terminals_ += name + ": " + body + "\n";
    return name;
  }

  std::string terminal_body(const Node& node) {
    switch (node.kind) {
      case NodeKind::kToken: return lexeme(node.children[0]);
      case NodeKind::kText: return text(node);
      case NodeKind::kExceptWord: {
        std::string words;
        for (const std::string& word : node.words)
          words += (words.empty() ? "" : " | ") + (word.empty() ? "\"\"" : string_literal(word));
        return "/" + regex(node.children[0]) + "*/ & ~(" + words + ")";
      }
      default: return "/" + regex_class(node.set) + "/";
    }
  }

  // Text up to its first marker: text that ends with the closing, minus text with a marker before its end.
  static std::string text(const Node& node) {
    std::string markers;
    for (const std::string& word : node.words) markers += (markers.empty() ? "" : "|") + regex_literal(word);
    const std::string closing = regex_literal(node.text);
    std::string any = "/(?s:.*)" + closing + "/";
    if (markers.empty()) return any;
    return any + " & ~/(?s:.*)(" + markers + (node.text.empty() ? ")(?s:.*)/" : ")(?s:.+)/");
  }

  // Writes the inside of a terminal: one regular expression if possible, otherwise terminals in sequence.
  std::string lexeme(NodeId id) {
    if (is_plain(id)) return "/" + regex(id) + "/";
    const Node& node = grammar_.node(id);
    switch (node.kind) {
      case NodeKind::kToken: return lexeme(node.children[0]);
      case NodeKind::kRepeat: return "(" + lexeme(node.children[0]) + ")" + repeat_mark(node);
      case NodeKind::kSequence:
      case NodeKind::kChoice: {
        std::string out;
        for (const NodeId child : node.children)
          out += (out.empty() ? "" : node.kind == NodeKind::kChoice ? " | " : " ") + lexeme(child);
        return "(" + out + ")";
      }
      default: return terminal(id);
    }
  }

  bool is_plain(NodeId id) {
    const auto found = plain_.find(id);
    if (found != plain_.end()) return found->second;
    const Node& node = grammar_.node(id);
    const bool is =
        node.kind != NodeKind::kText && node.kind != NodeKind::kExceptWord &&
        std::all_of(node.children.begin(), node.children.end(), [this](NodeId child) { return is_plain(child); });
    plain_.emplace(id, is);
    return is;
  }

  std::string regex(NodeId id) {
    const Node& node = grammar_.node(id);
    switch (node.kind) {
      case NodeKind::kLiteral: return regex_literal(node.text);
      case NodeKind::kChars: return regex_class(node.set);
      case NodeKind::kToken: return regex(node.children[0]);
      case NodeKind::kRepeat: return "(" + regex(node.children[0]) + ")" + repeat_mark(node);
      case NodeKind::kNever: return "[^\\x{0}-\\x{10FFFF}]";
      default: break;
    }
    std::string out;
    for (std::size_t i = 0; i < node.children.size(); ++i)
      out += (i > 0 && node.kind == NodeKind::kChoice ? "|" : "") + regex(node.children[i]);
    return "(" + out + ")";
  }

  const Grammar& grammar_;
  std::vector<std::string> names_;
  std::vector<std::uint32_t> uses_;
  std::map<NodeId, std::string> parts_;
  std::map<NodeId, std::string> terminal_names_;
  std::map<NodeId, bool> plain_;
  std::map<std::string, std::string> pieces_;
  std::string shared_;
  std::string terminals_;
};

}  // namespace

std::string to_lark(const Grammar& grammar) {
  constexpr int kMostRounds = 8;  // a lexeme that is split may show that another one must be
  Grammar out = grammar.pruned();
  for (int round = 0; round < kMostRounds; ++round) {
    const std::set<NodeId> lexemes = lexer_conflicts(out);
    if (lexemes.empty()) break;
    out = with_split_lexemes(out, lexemes);
  }
  return LarkPrinter(out).all();
}

}  // namespace rondo::grammar
