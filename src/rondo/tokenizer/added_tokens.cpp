#include "tokenizer/added_tokens.h"

#include <algorithm>
#include <cstring>

#include "base/utf8.h"
#include "unicode/classes.h"

namespace rondo::tokenizer {
namespace {

constexpr std::size_t kBlock = 32;  // bytes examined together while nothing is found

std::uint32_t start_of_last(std::string_view text, std::uint32_t end) {
  std::uint32_t at = end - 1;
  while (at > 0 && utf8::is_continuation(text[at])) --at;
  return at;
}

bool touches_word(std::string_view text, Range range) {
  if (range.begin > 0 && unicode::is_word(utf8::decode(text, start_of_last(text, range.begin)).code_point)) return true;
  return range.end < text.size() && unicode::is_word(utf8::decode(text, range.end).code_point);
}

// `limit` if that is after `begin`.
std::uint32_t strip_left(std::string_view text, std::uint32_t begin, std::uint32_t limit) {
  while (begin > limit) {
    const std::uint32_t last = start_of_last(text, begin);
    if (last < limit || !unicode::is_white_space(utf8::decode(text, last).code_point)) break;
    begin = last;
  }
  return std::max(begin, limit);
}

std::uint32_t strip_right(std::string_view text, std::uint32_t end) {
  while (end < text.size()) {
    const utf8::Decoded decoded = utf8::decode(text, end);
    if (!unicode::is_white_space(decoded.code_point)) break;
    end += decoded.size;
  }
  return end;
}

// Walks through the allowed ranges from left to right; adjacent ones count as one.
class Mask {
 public:
  Mask(const std::vector<ByteRange>& ranges, std::size_t from) : ranges_(ranges) {
    at_ = std::upper_bound(ranges.begin(), ranges.end(), from,
                           [](std::size_t at, const ByteRange& range) { return at < range.end; });
  }
  // The next maximal range, cut to [begin, end); nothing after the last.
  bool next(Range within, Range& out) {
    while (at_ != ranges_.end() && at_->begin < within.end) {
      std::size_t begin = at_->begin;
      std::size_t end = at_->end;
      for (++at_; at_ != ranges_.end() && at_->begin <= end; ++at_) end = std::max(end, at_->end);
      begin = std::max<std::size_t>(begin, within.begin);
      end = std::min<std::size_t>(end, within.end);
      if (begin >= end) continue;
      out = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
      return true;
    }
    return false;
  }

 private:
  const std::vector<ByteRange>& ranges_;
  std::vector<ByteRange>::const_iterator at_;
};

// Calls `part` with the parts of `aligned` that come from allowed bytes only, from left to right.
template <typename Part>
void for_allowed(const Aligned& aligned, const std::vector<ByteRange>& allowed, Part part) {
  const auto size = static_cast<std::uint32_t>(aligned.text().size());
  const Range whole = aligned.origin({0, size});
  Range open;
  if (aligned.is_original()) {
    Mask mask(allowed, whole.begin);
    while (mask.next(whole, open)) part(Range{open.begin - whole.begin, open.end - whole.begin});
    return;
  }
  // Bytes of changed text come from ranges.  Text that vanished between two bytes must be allowed as well.
  Range held;  // of the text
  Range from;  // an allowed range of the input
  for (std::uint32_t at = 0; at < size; ++at) {
    const Range origin = aligned.origin({at, at + 1});
    if (origin.begin < from.begin || origin.end > from.end || from.end == 0) {
      if (held.begin < held.end) part(held);
      held = {at, at};
      Mask mask(allowed, origin.begin);
      constexpr std::uint32_t kEverything = 0xFFFFFFFFU;
      if (!mask.next({0, kEverything}, from) || origin.begin < from.begin || origin.end > from.end) {
        from = {};
        held = {at + 1, at + 1};
        continue;
      }
    }
    held.end = at + 1;
  }
  if (held.begin < held.end) part(held);
}

}  // namespace

void AddedMatcher::add(std::string_view pattern, const AddedToken* token) {
  if (pattern.empty()) return;
  patterns_.push_back(
      {std::string(pattern.rbegin(), pattern.rend()), static_cast<std::uint32_t>(pattern.size()), token});
}

void AddedMatcher::finish() {
  if (patterns_.empty()) return;
  std::stable_sort(patterns_.begin(), patterns_.end(),
                   [](const Pattern& a, const Pattern& b) { return a.reversed < b.reversed; });
  const auto same = [](const Pattern& a, const Pattern& b) { return a.reversed == b.reversed; };
  patterns_.erase(std::unique(patterns_.begin(), patterns_.end(), same), patterns_.end());
  std::vector<Group> groups = {{0, static_cast<std::uint32_t>(patterns_.size()), 0}};
  nodes_.emplace_back();
  labels_.push_back(0);
  for (std::uint32_t node = 0; node < groups.size(); ++node) grow(node, groups);
  nodes_.push_back({static_cast<std::uint32_t>(nodes_.size()), 0, 0});
  make_skips();
  for (Pattern& pattern : patterns_) pattern.reversed = std::string();
}

// Makes the children of `node`.  Their failure links lead to shallower nodes, which exist already.
void AddedMatcher::grow(std::uint32_t node, std::vector<Group>& groups) {
  const Group group = groups[node];
  nodes_[node].first_child = static_cast<std::uint32_t>(nodes_.size());
  std::uint32_t at = group.begin;
  while (at < group.end && patterns_[at].size == group.depth) ++at;
  while (at < group.end) {
    const char byte = patterns_[at].reversed[group.depth];
    Group next = {at, at, group.depth + 1};
    while (next.end < group.end && patterns_[next.end].reversed[group.depth] == byte) ++next.end;
    at = next.end;
    Node made;
    if (node != 0) {
      std::uint32_t fail = nodes_[node].fail;
      made.fail = child(fail, static_cast<unsigned char>(byte));
      while (made.fail == 0 && fail != 0) {
        fail = nodes_[fail].fail;
        made.fail = child(fail, static_cast<unsigned char>(byte));
      }
    } else {
      roots_[static_cast<unsigned char>(byte)] = static_cast<std::uint32_t>(nodes_.size());
    }
    made.found = patterns_[next.begin].size == next.depth ? next.begin + 1 : nodes_[made.fail].found;
    nodes_.push_back(made);
    labels_.push_back(static_cast<unsigned char>(byte));
    groups.push_back(next);
  }
}

void AddedMatcher::make_skips() {
  pairs_.assign(std::size_t{256} * 256 / 64, 0);
  std::size_t count = 0;
  for (unsigned last = 0; last < 256; ++last) {
    if (roots_[last] == 0) continue;
    if (count < rare_.size()) rare_[count] = static_cast<unsigned char>(last);
    ++count;
    const bool alone = nodes_[roots_[last]].found != 0;
    for (unsigned before = 0; before < 256; ++before) {
      if (!alone && child(roots_[last], static_cast<unsigned char>(before)) == 0) continue;
      const unsigned bit = before * 256 + last;
      pairs_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    }
  }
  is_rare_ = count <= rare_.size();
  for (std::size_t i = count; i < rare_.size(); ++i) rare_[i] = rare_[0];
}

std::uint32_t AddedMatcher::child(std::uint32_t node, unsigned char byte) const {
  if (node == 0) return roots_[byte];
  const std::uint32_t begin = nodes_[node].first_child;
  const std::uint32_t end = nodes_[node + 1].first_child;
  const auto first = labels_.begin() + begin;
  const auto last = labels_.begin() + end;
  const auto found = end - begin <= 8 ? std::find(first, last, byte) : std::lower_bound(first, last, byte);
  return found != last && *found == byte ? static_cast<std::uint32_t>(found - labels_.begin()) : 0;
}

// Whether a token could end with the last bytes of text[begin, end).
inline bool AddedMatcher::can_end(std::string_view text, std::size_t begin, std::size_t end) const {
  const auto last = static_cast<unsigned char>(text[end - 1]);
  const std::uint32_t root = roots_[last];
  if (root == 0) return false;
  if (end - begin < 2) return nodes_[root].found != 0;
  const unsigned bit = static_cast<unsigned char>(text[end - 2]) * 256U + last;
  return (pairs_[bit / 64] >> (bit % 64) & 1U) != 0;
}

// Whether a block has one of the bytes that tokens end with.  Without branches, so that it is compiled to vectors.
inline bool AddedMatcher::has_rare(const char* block) const {
  unsigned char hit = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const auto byte = static_cast<unsigned char>(block[i]);
    hit = static_cast<unsigned char>(hit | (byte == rare_[0]) | (byte == rare_[1]) | (byte == rare_[2]) |
                                     (byte == rare_[3]));
  }
  return hit != 0;
}

// The offset after the last byte of text[begin, end) that could end a token; `begin` if there is none.
std::size_t AddedMatcher::skip(std::string_view text, std::size_t begin, std::size_t end) const {
#ifdef __GLIBC__
  // In most vocabularies all added tokens end with the same byte, for which the library's search is fastest.
  if (is_rare_ && rare_[1] == rare_[0]) {
    while (end > begin) {
      const void* found = memrchr(text.data() + begin, rare_[0], end - begin);
      if (found == nullptr) return begin;
      end = static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + 1;
      if (can_end(text, begin, end)) return end;
      --end;
    }
    return begin;
  }
#endif
  while (end > begin) {
    while (is_rare_ && end - begin >= kBlock && !has_rare(text.data() + end - kBlock)) end -= kBlock;
    const std::size_t stop = end - begin > kBlock ? end - kBlock : begin;
    for (; end > stop; --end) {
      if (can_end(text, begin, end)) return end;
    }
  }
  return begin;
}

// Appends the longest match at every place of `part`, from right to left.
void AddedMatcher::scan(std::string_view text, Range part, std::vector<AddedMatch>& out) const {
  std::uint32_t node = 0;
  std::size_t at = part.end;
  while (at > part.begin) {
    if (node == 0) {
      at = skip(text, part.begin, at);
      if (at == part.begin) return;
    }
    const auto byte = static_cast<unsigned char>(text[--at]);
    std::uint32_t next = child(node, byte);
    while (next == 0 && node != 0) {
      node = nodes_[node].fail;
      next = child(node, byte);
    }
    node = next;
    if (const std::uint32_t found = nodes_[node].found; found != 0) {
      const Pattern& pattern = patterns_[found - 1];
      const auto begin = static_cast<std::uint32_t>(at);
      out.push_back({{begin, begin + pattern.size}, pattern.token});
    }
  }
}

void AddedMatcher::find_all(const Aligned& aligned, const EncodeOptions& options, std::vector<AddedMatch>& out) const {
  if (patterns_.empty()) return;
  const std::string_view text = aligned.text();
  const std::size_t first = out.size();
  const auto scan_part = [&](Range part) {
    const auto begin = static_cast<std::ptrdiff_t>(out.size());
    scan(text, part, out);
    std::reverse(out.begin() + begin, out.end());
  };
  if (options.allowed == nullptr) {
    scan_part({0, static_cast<std::uint32_t>(text.size())});
  } else {
    for_allowed(aligned, *options.allowed, scan_part);
  }
  // Of overlapping matches the leftmost stay.  An unwanted match still takes its text, as in the reference: no shorter
  // token is searched for in it.
  std::size_t kept = first;
  std::uint32_t taken = 0;     // after the last match
  std::uint32_t done = 0;      // after the last match that counts, including what it stripped
  std::uint32_t stripped = 0;  // where the white space examined last ends
  for (std::size_t i = first; i < out.size(); ++i) {
    const AddedMatch match = out[i];
    if (match.range.begin < taken) continue;
    taken = match.range.end;
    const AddedToken& token = *match.token;
    if (!(token.special ? options.parse_special : options.parse_added)) continue;
    if (token.single_word && touches_word(text, match.range)) continue;
    Range range = match.range;
    if (token.lstrip) range.begin = strip_left(text, range.begin, done);
    if (token.rstrip) {
      // Tokens that are white space themselves may follow each other inside stripped text.
      if (stripped < range.end) stripped = strip_right(text, range.end);
      range.end = stripped;
    }
    done = range.end;
    // All of it was already stripped.  The reference drops such a match.
    if (range.begin < range.end) out[kept++] = {range, match.token};
  }
  out.resize(kept);
}

}  // namespace rondo::tokenizer
