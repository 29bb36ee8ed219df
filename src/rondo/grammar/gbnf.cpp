#include "grammar/gbnf.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/utf8.h"
#include "grammar/lower.h"

namespace rondo::grammar {
namespace {

constexpr std::string_view kAny = "[\\x00-\\U0010FFFF]";
constexpr std::string_view kNone = "[^\\x00-\\U0010FFFF]";

std::string escaped_code(char32_t code_point) {
  std::array<char, 16> out{};
  const auto value = static_cast<unsigned>(code_point);
  if (value < 0x100) {
    std::snprintf(out.data(), out.size(), "\\x%02X", value);
  } else if (value < 0x10000) {
    std::snprintf(out.data(), out.size(), "\\u%04X", value);
  } else {
    std::snprintf(out.data(), out.size(), "\\U%08X", value);
  }
  return out.data();
}

std::optional<std::string> short_escape(char32_t code_point) {
  switch (code_point) {
    case U'\n': return "\\n";
    case U'\r': return "\\r";
    case U'\t': return "\\t";
    case U'\\': return "\\\\";
    default: return std::nullopt;
  }
}

std::string class_member(char32_t code_point) {
  if (auto escape = short_escape(code_point)) return *escape;
  if (code_point == U']' || code_point == U'[') return {'\\', static_cast<char>(code_point)};
  const bool is_plain =
      code_point > 0x20 && code_point < 0x7F && code_point != U'^' && code_point != U'-' && code_point != U'"';
  if (is_plain || code_point == U' ') return {static_cast<char>(code_point)};
  return escaped_code(code_point);
}

std::string literal_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    const char32_t c = next.code_point;
    if (auto escape = short_escape(c)) {
      out += *escape;
    } else if (c == U'"') {
      out += "\\\"";
    } else if (c < 0x20 || (c >= 0x7F && c < 0xA0)) {
      out += escaped_code(c);
    } else if (next.valid) {
      out += text.substr(at, next.size);
    } else {
      utf8::append(out, utf8::kReplacement);
    }
    at += next.size;
  }
  return out;
}

class GbnfPrinter {
 public:
  explicit GbnfPrinter(const Grammar& grammar) : grammar_(grammar), names_(rule_names(grammar)) {}

  std::string all() {
    std::string out;
    rule(out, grammar_.root());
    for (std::size_t i = 0; i < grammar_.rule_count(); ++i) {
      const RuleId id{static_cast<std::uint32_t>(i)};
      if (id != grammar_.root()) rule(out, id);
    }
    return out;
  }

 private:
  void rule(std::string& out, RuleId id) {
    out += names_[static_cast<std::size_t>(id)] + " ::= ";
    const Node& body = grammar_.node(grammar_.body(id));
    if (body.kind == NodeKind::kChoice) {
      alternatives(out, body);
    } else {
      node(out, body, false);
    }
    out += '\n';
  }

  void alternatives(std::string& out, const Node& choice) {
    for (std::size_t i = 0; i < choice.children.size(); ++i) {
      if (i > 0) out += " | ";
      node(out, grammar_.node(choice.children[i]), false);
    }
  }

  // Writes a node.  `is_operand` means that a repetition mark follows, so more than one item needs parentheses.
  void node(std::string& out, const Node& node_of, bool is_operand) {
    switch (node_of.kind) {
      case NodeKind::kNever: out += kNone; return;
      case NodeKind::kLiteral: {
        const bool is_one = utf8::length(node_of.text) == 1;
        if (is_operand && !is_one) out += '(';
        out += '"' + literal_text(node_of.text) + '"';
        if (is_operand && !is_one) out += ')';
        return;
      }
      case NodeKind::kChars: out += char_class(node_of.set, class_member, kAny, kNone); return;
      case NodeKind::kReference: out += names_[static_cast<std::size_t>(node_of.rule)]; return;
      case NodeKind::kChoice:
        out += '(';
        alternatives(out, node_of);
        out += ')';
        return;
      case NodeKind::kRepeat: {
        if (is_operand) out += '(';
        node(out, grammar_.node(node_of.children[0]), true);
        out += repeat_mark(node_of);
        if (is_operand) out += ')';
        return;
      }
      default: break;
    }
    if (node_of.children.empty()) {
      out += "\"\"";
      return;
    }
    if (is_operand) out += '(';
    for (std::size_t i = 0; i < node_of.children.size(); ++i) {
      if (i > 0) out += ' ';
      node(out, grammar_.node(node_of.children[i]), false);
    }
    if (is_operand) out += ')';
  }

  const Grammar& grammar_;
  std::vector<std::string> names_;
};

}  // namespace

std::string repeat_mark(const Node& repeat) {
  if (repeat.most == kUnbounded) {
    if (repeat.least == 0) return "*";
    return repeat.least == 1 ? "+" : "{" + std::to_string(repeat.least) + ",}";
  }
  if (repeat.least == 0 && repeat.most == 1) return "?";
  if (repeat.least == repeat.most) return "{" + std::to_string(repeat.least) + "}";
  return "{" + std::to_string(repeat.least) + "," + std::to_string(repeat.most) + "}";
}

std::string char_class(const CharSet& set, std::string (*member)(char32_t), std::string_view any,
                       std::string_view none) {
  const bool is_negated = set.contains(kLastCodePoint);
  const CharSet shown = is_negated ? set.complement() : set;
  if (shown.empty()) return std::string(is_negated ? any : none);
  std::string out = is_negated ? "[^" : "[";
  for (const CharSet::Range& range : shown.ranges()) {
    out += member(range.first);
    if (range.last > range.first + 1) out += '-';
    if (range.last > range.first) out += member(range.last);
  }
  return out + "]";
}

// Leaves out characters that names must not have.  Names that become equal get a number.
std::vector<std::string> rule_names(const Grammar& grammar) {
  std::vector<std::string> out(grammar.rule_count());
  std::set<std::string> taken{"root"};
  std::map<std::string, std::size_t> next;
  for (std::size_t i = 0; i < grammar.rule_count(); ++i) {
    const RuleId id{static_cast<std::uint32_t>(i)};
    if (id == grammar.root()) {
      out[i] = "root";
      continue;
    }
    std::string name;
    for (const char byte : grammar.name(id)) {
      const bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
      const bool is_digit = byte >= '0' && byte <= '9';
      if (is_letter || is_digit) {
        name += byte;
      } else if (!name.empty() && name.back() != '-') {
        name += '-';
      }
    }
    while (!name.empty() && name.back() == '-') name.pop_back();
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "r");
    std::string unique = name;
    std::size_t& count = next[name];
    while (!taken.insert(unique).second) unique = name + "-" + std::to_string(++count);
    out[i] = unique;
  }
  return out;
}

std::string to_gbnf(const Grammar& grammar) {
  const Grammar plain = lowered(grammar.pruned());
  return GbnfPrinter(plain).all();
}

}  // namespace rondo::grammar
