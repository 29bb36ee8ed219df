#include "tokenizer/added_tokens.h"

#include <algorithm>

#include "base/utf8.h"
#include "unicode/classes.h"

namespace rondo::tokenizer {
namespace {

bool is_word(char32_t c) {
  const auto found = unicode::category(c);
  return unicode::is_letter(c) || unicode::is_mark(c) || found == unicode::Category::kNd ||
         found == unicode::Category::kNl || found == unicode::Category::kPc || c == 0x200C || c == 0x200D;
}

std::uint32_t start_of_last(std::string_view text, std::uint32_t end) {
  std::uint32_t at = end - 1;
  while (at > 0 && utf8::is_continuation(text[at])) --at;
  return at;
}

bool touches_word(std::string_view text, Range range) {
  if (range.begin > 0 && is_word(utf8::decode(text, start_of_last(text, range.begin)).code_point)) return true;
  return range.end < text.size() && is_word(utf8::decode(text, range.end).code_point);
}

std::uint32_t strip_left(std::string_view text, std::uint32_t begin, std::uint32_t limit) {
  while (begin > limit) {
    const std::uint32_t last = start_of_last(text, begin);
    if (last < limit || !unicode::is_white_space(utf8::decode(text, last).code_point)) break;
    begin = last;
  }
  return begin;
}

std::uint32_t strip_right(std::string_view text, std::uint32_t end) {
  while (end < text.size()) {
    const utf8::Decoded decoded = utf8::decode(text, end);
    if (!unicode::is_white_space(decoded.code_point)) break;
    end += decoded.size;
  }
  return end;
}

// Whether ranges, touching ones taken together, cover all of `wanted`.
bool covers(const std::vector<ByteRange>& ranges, Range wanted) {
  auto it = std::upper_bound(ranges.begin(), ranges.end(), wanted.begin,
                             [](std::uint32_t at, const ByteRange& range) { return at < range.end; });
  std::size_t at = wanted.begin;
  for (; it != ranges.end() && it->begin <= at; ++it) {
    at = std::max(at, it->end);
    if (at >= wanted.end) return true;
  }
  return false;
}

}  // namespace

std::uint32_t AddedMatcher::child(std::uint32_t node, unsigned char byte) const {
  const auto& children = nodes_[node].children;
  const auto found = std::lower_bound(children.begin(), children.end(), byte,
                                      [](const auto& entry, unsigned char wanted) { return entry.first < wanted; });
  return found != children.end() && found->first == byte ? found->second : 0;
}

void AddedMatcher::add(std::string_view pattern, const AddedToken* token) {
  if (pattern.empty()) return;
  if (nodes_.empty()) nodes_.emplace_back();
  std::uint32_t node = 0;
  for (const char c : pattern) {
    const auto byte = static_cast<unsigned char>(c);
    std::uint32_t next = child(node, byte);
    if (next == 0) {
      next = static_cast<std::uint32_t>(nodes_.size());
      auto& children = nodes_[node].children;
      children.insert(std::upper_bound(children.begin(), children.end(), std::make_pair(byte, 0U)), {byte, next});
      nodes_.emplace_back();
    }
    node = next;
  }
  if (nodes_[node].token == nullptr) nodes_[node].token = token;
}

void AddedMatcher::finish() {
  if (nodes_.empty()) return;
  roots_.assign(256, 0);
  pairs_.assign(std::size_t{256} * 256, false);
  for (const auto& [first, node] : nodes_[0].children) {
    roots_[first] = node;
    const bool alone = nodes_[node].token != nullptr;
    for (unsigned second = 0; second < 256; ++second) {
      pairs_[first * std::size_t{256} + second] = alone || child(node, static_cast<unsigned char>(second)) != 0;
    }
  }
}

void AddedMatcher::find_all(const Aligned& aligned, const EncodeOptions& options, std::vector<AddedMatch>& out) const {
  if (nodes_.empty()) return;
  const std::string_view text = aligned.text();
  const auto size = static_cast<std::uint32_t>(text.size());
  std::uint32_t done = 0;  // behind the last match with what it stripped
  for (std::uint32_t at = 0; at < size;) {
    const auto first = static_cast<unsigned char>(text[at]);
    if (roots_[first] == 0 ||
        (at + 1 < size && !pairs_[first * std::size_t{256} + static_cast<unsigned char>(text[at + 1])])) {
      ++at;
      continue;
    }
    const AddedToken* found = nullptr;
    std::uint32_t end = at;
    std::uint32_t node = roots_[first];
    for (std::uint32_t to = at + 1; node != 0; ++to) {
      const AddedToken* token = nodes_[node].token;
      if (token != nullptr && (options.allowed == nullptr || covers(*options.allowed, aligned.origin({at, to})))) {
        found = token;
        end = to;
      }
      if (to >= size) break;
      node = child(node, static_cast<unsigned char>(text[to]));
    }
    if (found == nullptr) {
      ++at;
      continue;
    }
    // A match that is not wanted still takes its text, as in the reference: no shorter token is looked for in it.
    Range range{at, end};
    at = end;
    if (!(found->special ? options.parse_special : options.parse_added)) continue;
    if (range.begin < done || (found->single_word && touches_word(text, range))) continue;
    if (found->lstrip) range.begin = strip_left(text, range.begin, done);
    if (found->rstrip) range.end = strip_right(text, range.end);
    out.push_back({range, found});
    done = range.end;
  }
}

}  // namespace rondo::tokenizer
