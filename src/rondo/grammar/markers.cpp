#include "grammar/markers.h"

#include "format/units.h"
#include "grammar/spelling.h"

namespace rondo::grammar {
namespace {

bool is_word(char byte) {
  const auto c = static_cast<unsigned char>(byte);
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

}  // namespace

Line& Line::add(NodeId node) {
  if (node == grammar_->empty()) return *this;
  parts_.push_back(node);
  ends_with_space_ = has_blank_ = is_behind_word_ = false;
  return *this;
}

Line& Line::word(NodeId node) {
  if (!ends_with_space_) return add(node);
  const NodeId space = parts_.back();
  parts_.pop_back();
  return add(grammar_->token(grammar_->sequence({space, node})));
}

Line& Line::literal(std::string_view text) {
  if (text.empty()) return *this;
  if (is_word(text.front())) apart();
  word(grammar_->literal(text));
  return behind(text);
}

Line& Line::number() { return apart().word(grammar_->token(grammar::number(*grammar_))).behind("0"); }

Line& Line::behind(std::string_view text) {
  if (text.empty()) return *this;
  is_behind_word_ = is_word(text.back());
  has_blank_ = false;
  return *this;
}

Line& Line::apart() { return ends_apart() ? space(1) : *this; }

Line& Line::space(std::size_t least) {
  if (ends_with_space_ && least > 0) parts_.pop_back();
  if (!ends_with_space_ || least > 0)
    parts_.push_back(white_space(*grammar_, static_cast<std::uint32_t>(least), kMostSpace));
  ends_with_space_ = true;
  return *this;
}

Line& Line::marker(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    if (text[at] == format::kCounter) {
      number();
      ++end;
    } else if (!format::is_space(text[at])) {
      while (end < text.size() && !format::is_space(text[end]) && text[end] != format::kCounter) ++end;
      literal(text.substr(at, end - at));
    } else {
      while (end < text.size() && format::is_space(text[end])) ++end;
      // Two words must stay apart.
      const bool is_needed = at > 0 && end < text.size() && is_word(text[at - 1]) && is_word(text[end]);
      if (is_needed) {
        add(white_space(*grammar_, 1, kMostSpace));
      } else {
        space();
        has_blank_ = true;
      }
    }
    at = end;
  }
  return *this;
}

bool ends_with_word(std::string_view marker) {
  const std::string_view core = format::trimmed(marker);
  return !core.empty() && is_word(core.back()) && format::is_space(marker.back());
}

bool runs_into(std::string_view marker, std::string_view next) {
  next = format::trimmed(next);
  return ends_with_word(marker) && !next.empty() && is_word(next.front());
}

NodeId number(Grammar& grammar) { return grammar.repeat(grammar.chars(CharSet::range('0', '9')), 1, kUnbounded); }

NodeId marker(Grammar& grammar, std::string_view text) { return Line(grammar).marker(text).node(); }

std::string pattern_escaped(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (std::string_view("\\^$.|?*+()[]{}/").find(byte) != std::string_view::npos) out += '\\';
    if (byte == format::kCounter) {
      out += "\\d+";
    } else {
      out += byte;
    }
  }
  return out;
}

}  // namespace rondo::grammar
