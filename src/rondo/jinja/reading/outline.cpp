#include "jinja/reading/outline.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "jinja/syntax/lexer.h"

namespace rondo::jinja {
namespace {

bool is_before(const text::Literal& a, const text::Literal& b) {
  return std::tie(a.line, a.column) < std::tie(b.line, b.column);
}

text::Literal at(const Token& token) { return {token.place.line, token.place.column}; }

// `set x = y` has no body, `set x` has one.
bool opens(const std::vector<Token>& tokens, std::size_t keyword) {
  constexpr std::array<std::string_view, 9> kOpening = {"if",   "for",        "macro",      "call", "filter",
                                                        "with", "autoescape", "generation", "block"};
  const std::string& word = tokens[keyword].text;
  if (std::ranges::find(kOpening, word) != kOpening.end()) return true;
  if (word != "set") return false;
  for (std::size_t i = keyword; i < tokens.size() && tokens[i].kind != TokenKind::kBlockEnd; ++i) {
    if (tokens[i].kind == TokenKind::kAssign) return false;
  }
  return true;
}

}  // namespace

Outline::Outline(std::string_view source) {
  const std::vector<Token> tokens = tokenize(source, {});
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const bool is_block = tokens[i].kind == TokenKind::kBlockBegin;
    if (!is_block && tokens[i].kind != TokenKind::kVariableBegin) continue;
    const TokenKind closing = is_block ? TokenKind::kBlockEnd : TokenKind::kVariableEnd;
    std::size_t last = i;
    while (last + 1 < tokens.size() && tokens[last].kind != closing) ++last;
    add_tag(tokens, i, last);
    if (is_block && tokens[i + 1].kind == TokenKind::kName) follow_blocks(tokens, i, last, open);
    i = last;
  }
}

void Outline::follow_blocks(const std::vector<Token>& tokens, std::size_t first, std::size_t last,
                            std::vector<std::size_t>& open) {
  const Range range{at(tokens[first]), at(tokens[last])};
  const std::string_view word = tokens[first + 1].text;
  if (word == "elif" && !open.empty()) {
    blocks_[open.back()].tags.push_back(range);
  } else if (word.starts_with("end") && !open.empty()) {
    blocks_[open.back()].range.end = range.end;
    open.pop_back();
  } else if (!word.empty() && opens(tokens, first + 1)) {
    Block block;
    block.kind = word == "if" ? Kind::kIf : word == "for" ? Kind::kFor : Kind::kOther;
    block.range = {range.begin, at(tokens.back())};
    block.tags.push_back(range);
    block.depth = open.size();
    open.push_back(blocks_.size());
    blocks_.push_back(std::move(block));
  }
}

void Outline::add_tag(const std::vector<Token>& tokens, std::size_t first, std::size_t last) {
  Tag tag;
  tag.range = {at(tokens[first]), at(tokens[last])};
  const bool is_set = tokens[first + 1].kind == TokenKind::kName && tokens[first + 1].text == "set";
  bool is_target = is_set;
  for (std::size_t i = first + 1; i < last; ++i) {
    if (tokens[i].kind == TokenKind::kAssign) is_target = false;
    if (tokens[i].kind == TokenKind::kPipe && !tag.filter && i + 1 < last) tag.filter = at(tokens[i + 1]);
    if (tokens[i].kind == TokenKind::kString)
      tag.names.push_back({tokens[i].text, at(tokens[i])});  // m['x'] is the same as m.x
    if (tokens[i].kind != TokenKind::kName) continue;
    if (is_target) tag.assigned = tokens[i].text;
    tag.names.push_back({tokens[i].text, at(tokens[i])});
  }
  tags_.push_back(std::move(tag));
}

const Outline::Tag* Outline::tag_of(const text::Literal& place) const {
  const auto begin = [](const Tag& tag) { return tag.range.begin; };
  const auto behind = std::ranges::upper_bound(tags_, place, is_before, begin);
  if (behind == tags_.begin()) return nullptr;
  const Tag& last = *(behind - 1);
  return is_before(place, last.range.end) ? &last : nullptr;
}

const Outline::Block* Outline::if_of(const text::Literal& condition) const {
  for (const Block& block : blocks_) {
    if (block.kind != Kind::kIf) continue;
    for (const Range& tag : block.tags) {
      if (!is_before(condition, tag.begin) && is_before(condition, tag.end)) return &block;
    }
  }
  return nullptr;
}

bool Outline::decides(const text::Literal& condition, const text::Literal& place) const {
  const Tag* tag = tag_of(condition);
  if (tag != nullptr && tag == tag_of(place)) return true;
  const Block* block = if_of(condition);
  return block != nullptr && !is_before(place, block->range.begin) && is_before(place, block->range.end);
}

std::size_t Outline::distance(const text::Literal& condition, const text::Literal& place) const {
  const Tag* tag = tag_of(condition);
  if (tag != nullptr && tag == tag_of(place)) return 0;
  const Block* block = if_of(condition);
  std::size_t deepest = 0;
  for (const Block& other : blocks_) {
    if (!is_before(place, other.range.begin) && is_before(place, other.range.end))
      deepest = std::max(deepest, other.depth);
  }
  return block == nullptr ? deepest + 1 : deepest - std::min(deepest, block->depth) + 1;
}

std::vector<text::Literal> Outline::loops(const text::Literal& place) const {
  std::vector<text::Literal> out;
  for (const Block& block : blocks_) {
    const bool is_around = !is_before(place, block.range.begin) && is_before(place, block.range.end);
    if (block.kind == Kind::kFor && is_around) out.push_back(block.range.begin);
  }
  return out;
}

text::Literal Outline::tag(const text::Literal& place) const {
  const Tag* tag = tag_of(place);
  return tag == nullptr ? place : tag->range.begin;
}

bool Outline::has_name(const Tag& tag, std::string_view name) {
  return std::ranges::find(tag.names, name, &Name::text) != tag.names.end();
}

bool Outline::assigns_for(const text::Literal& other, const text::Literal& condition) const {
  const Tag* asking = tag_of(condition);
  const Block* block = if_of(other);
  if (asking == nullptr || block == nullptr) return false;
  // In an expression with an inline condition, only that part asks something, up to its else.
  const auto begins_before = [&](const Name& name) { return is_before(name.place, condition); };
  const auto first =
      is_condition(condition) ? asking->names.begin() : std::ranges::find_if_not(asking->names, begins_before);
  const auto last = is_condition(condition) ? asking->names.end()
                                            : std::find_if(first, asking->names.end(),
                                                           [](const Name& name) { return name.text == "else"; });
  return std::ranges::any_of(tags_, [&](const Tag& tag) {
    return !tag.assigned.empty() && !is_before(tag.range.begin, block->range.begin) &&
           is_before(tag.range.begin, block->range.end) &&
           std::ranges::find(first, last, tag.assigned, &Name::text) != last;
  });
}

std::vector<text::Literal> Outline::uses(const text::Literal& place) const {
  const Tag* own = tag_of(place);
  std::vector<text::Literal> out;
  if (own == nullptr || own->assigned.empty()) return out;
  for (const Tag& tag : tags_) {
    const bool is_used = has_name(tag, own->assigned);
    if (is_used && tag.assigned != own->assigned) out.push_back(tag.range.begin);
  }
  return out;
}

bool Outline::tag_names(const text::Literal& place, std::string_view name) const {
  const Tag* tag = tag_of(place);
  return tag != nullptr && has_name(*tag, name);
}

bool Outline::names(const text::Literal& condition, std::string_view name) const {
  const Block* block = if_of(condition);
  const Tag* own = tag_of(condition);
  return std::ranges::any_of(tags_, [&](const Tag& tag) {
    const bool is_inside = block != nullptr && !is_before(tag.range.begin, block->range.begin) &&
                           is_before(tag.range.begin, block->range.end);
    return (is_inside || &tag == own) && has_name(tag, name);
  });
}

std::optional<text::Literal> Outline::filtered_before(const text::Literal& place) const {
  const Tag* writing = tag_of(place);
  if (writing == nullptr || writing->filter) return std::nullopt;
  for (const Tag* tag = writing; tag != tags_.data();) {
    --tag;
    if (tag->assigned.empty() || !tag->filter) continue;
    if (has_name(*writing, tag->assigned)) return tag->filter;
  }
  return std::nullopt;
}

}  // namespace rondo::jinja
