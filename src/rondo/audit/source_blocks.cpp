#include "audit/source_blocks.h"

#include <algorithm>
#include <set>
#include <utility>

namespace rondo::audit {
namespace {

using jinja::TokenKind;

}  // namespace

SourceBlocks::SourceBlocks(const Source& source) : source_(source) {
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at + 1 < source.tokens().size(); ++at) {
    if (!source.is(at, TokenKind::kBlockBegin)) continue;
    std::size_t close = at;
    while (close + 1 < source.tokens().size() && !source.is(close, TokenKind::kBlockEnd)) ++close;
    add(at, close, open);
    at = close;
  }
}

void SourceBlocks::add(std::size_t open, std::size_t close, std::vector<std::size_t>& open_blocks) {
  static const std::set<std::string, std::less<>> kOpening = {"if",   "for",        "macro",      "call", "filter",
                                                              "with", "autoescape", "generation", "block"};
  const TokenRange tag{open + 1, close};
  const std::string& word = source_.tokens()[open + 1].text;
  if ((word == "elif" || word == "else") && !open_blocks.empty()) {
    blocks_[open_blocks.back()].tags.push_back(tag);
  } else if (word.starts_with("end") && !open_blocks.empty()) {
    SourceBlock& block = blocks_[open_blocks.back()];
    block.tags.push_back(tag);
    block.end = source_.tokens()[close].end;
    open_blocks.pop_back();
  } else {
    bool opens = kOpening.contains(word);
    if (word == "set") {
      opens = true;  // `set x` has a body, `set x = y` does not
      for (std::size_t at = open; at < close; ++at) opens = opens && !source_.is(at, TokenKind::kAssign);
    }
    if (!opens) return;
    open_blocks.push_back(blocks_.size());
    blocks_.push_back({word, {tag}, source_.tokens()[open].begin, source_.text().size()});
  }
}

std::vector<const SourceBlock*> SourceBlocks::around(std::size_t byte) const {
  std::vector<const SourceBlock*> out;
  for (const SourceBlock& block : blocks_) {
    if (block.begin <= byte && byte < block.end) out.push_back(&block);
  }
  std::ranges::reverse(out);
  return out;
}

std::vector<std::string> SourceBlocks::loop_names(std::size_t byte) const {
  std::vector<std::string> out;
  for (const SourceBlock* block : around(byte)) {
    if (block->word != "for" || block->tags.front().end - block->tags.front().begin < 2) continue;
    const std::string& name = source_.tokens()[block->tags.front().begin + 1].text;
    if (std::ranges::find(out, name) == out.end()) out.push_back(name);
  }
  return out;
}

bool SourceBlocks::names(TokenRange tag, const std::string& name) const {
  for (std::size_t at = tag.begin; at < tag.end; ++at) {
    if (source_.is_name(at, name)) return true;
  }
  return false;
}

std::size_t SourceBlocks::branch_of(const SourceBlock& block, std::size_t byte) const {
  std::size_t branch = 0;
  while (branch + 1 < block.tags.size() && source_.tokens()[block.tags[branch + 1].begin].begin <= byte) ++branch;
  return branch;
}

std::string SourceBlocks::condition_of(const SourceBlock& block, std::size_t byte) const {
  std::string out;
  const std::size_t branch = branch_of(block, byte);
  for (std::size_t i = 0; i <= branch && i + 1 < block.tags.size(); ++i) {
    const TokenRange tag = block.tags[i];
    if (source_.is_name(tag.begin, "else")) return out;
    if (!out.empty()) out += " and ";
    out.append(i == branch ? "(" : "not (").append(source_.text_of({tag.begin + 1, tag.end})).append(")");
  }
  return out;
}

std::string SourceBlocks::condition_inside(std::size_t byte, const std::string& name) const {
  std::string out;
  for (const SourceBlock* block : around(byte)) {
    if (block->word != "if") continue;
    if (names(block->tags.front(), name)) return out;
    std::string condition = condition_of(*block, byte);
    if (condition.empty()) continue;
    if (!out.empty()) condition.append(" and ").append(out);
    out = std::move(condition);
  }
  return "";
}

}  // namespace rondo::audit
