#include "grammar/char_set.h"

#include <algorithm>

#include "base/utf8.h"

namespace rondo::grammar {
namespace {

constexpr char32_t kFirstSurrogate = 0xD800;
constexpr char32_t kLastSurrogate = 0xDFFF;

}  // namespace

CharSet CharSet::all() {
  CharSet out;
  out.ranges_ = {{0, kFirstSurrogate - 1}, {kLastSurrogate + 1, kLastCodePoint}};
  return out;
}

CharSet CharSet::range(char32_t first, char32_t last) {
  CharSet out;
  out.add(first, last);
  return out;
}

CharSet CharSet::any_of(std::string_view ascii) {
  CharSet out;
  for (const char byte : ascii) out.add(static_cast<unsigned char>(byte), static_cast<unsigned char>(byte));
  return out;
}

bool CharSet::contains(char32_t code_point) const {
  const auto found = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [code_point](const Range& range) { return range.last < code_point; });
  return found != ranges_.end() && found->first <= code_point;
}

bool CharSet::is_single(char32_t& code_point) const {
  if (ranges_.size() != 1 || ranges_[0].first != ranges_[0].last) return false;
  code_point = ranges_[0].first;
  return true;
}

void CharSet::add(char32_t first, char32_t last) {
  last = std::min(last, kLastCodePoint);
  if (first > last) return;
  if (first <= kLastSurrogate && last >= kFirstSurrogate) {  // leave the surrogates out
    if (first < kFirstSurrogate) add(first, kFirstSurrogate - 1);
    if (last > kLastSurrogate) add(kLastSurrogate + 1, last);
    return;
  }
  std::vector<Range> out;
  out.reserve(ranges_.size() + 1);
  Range added{first, last};
  bool is_placed = false;
  for (const Range& range : ranges_) {
    if (range.last + 1 < added.first) {
      out.push_back(range);
    } else if (added.last + 1 < range.first) {
      if (!is_placed) out.push_back(added);
      is_placed = true;
      out.push_back(range);
    } else {
      added = {std::min(added.first, range.first), std::max(added.last, range.last)};
    }
  }
  if (!is_placed) out.push_back(added);
  ranges_ = std::move(out);
}

CharSet CharSet::united(const CharSet& other) const {
  CharSet out = *this;
  for (const Range& range : other.ranges_) out.add(range.first, range.last);
  return out;
}

CharSet CharSet::complement() const {
  CharSet out;
  char32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) out.add(next, range.first - 1);
    next = range.last + 1;
  }
  if (next <= kLastCodePoint) out.add(next, kLastCodePoint);
  return out;
}

// The common part of two sorted lists of ranges, in one pass.
CharSet CharSet::common(const CharSet& other) const {
  CharSet out;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    const char32_t first = std::max(a->first, b->first);
    const char32_t last = std::min(a->last, b->last);
    if (first <= last) out.ranges_.push_back({first, last});
    if (a->last < b->last) {
      ++a;
    } else {
      ++b;
    }
  }
  return out;
}

std::u32string code_points(std::string_view text) {
  std::u32string out;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    out += next.code_point;
    at += next.size;
  }
  return out;
}

}  // namespace rondo::grammar
