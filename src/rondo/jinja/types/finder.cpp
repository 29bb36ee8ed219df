#include "jinja/types/finder.h"

#include <algorithm>
#include <cassert>

namespace rondo::jinja {
namespace {

constexpr std::size_t kShort = 64;
constexpr std::size_t kNone = std::string_view::npos;

// Whether so many places within `bytes` bytes began like the key that looking at each takes too long.
bool is_hostile(std::size_t tries, std::size_t bytes) { return tries > 4 + bytes / 8; }

}  // namespace

const std::vector<std::uint32_t>& Finder::borders() const {
  if (!borders_.empty()) return borders_;
  borders_.assign(key_.size(), 0);
  std::uint32_t border = 0;
  for (std::size_t i = 1; i < key_.size(); ++i) {
    while (border > 0 && key_at(i) != key_at(border)) border = borders_[border - 1];
    if (key_at(i) == key_at(border)) ++border;
    borders_[i] = border;
  }
  return borders_;
}

std::size_t Finder::find(std::string_view text, std::size_t from) const {
  assert(!backwards_);
  if (from > text.size() || text.size() - from < key_.size()) return kNone;
  if (key_.empty()) return from;
  if (key_.size() > kShort) return find_surely(text, from);
  std::size_t tries = 0;
  for (std::size_t at = text.find(key_[0], from); at != kNone; at = text.find(key_[0], at + 1)) {
    if (text.substr(at).starts_with(key_)) return at;
    if (is_hostile(++tries, at - from)) return find_surely(text, at + 1);
  }
  return kNone;
}

std::size_t Finder::find_surely(std::string_view text, std::size_t from) const {
  const std::vector<std::uint32_t>& borders = this->borders();
  std::size_t matched = 0;
  for (std::size_t at = from; at < text.size(); ++at) {
    while (matched > 0 && text[at] != key_[matched]) matched = borders[matched - 1];
    if (text[at] == key_[matched]) ++matched;
    if (matched == key_.size()) return at + 1 - matched;
  }
  return kNone;
}

std::size_t Finder::find_last(std::string_view text, std::size_t end) const {
  assert(backwards_);
  end = std::min(end, text.size());
  if (end < key_.size()) return kNone;
  if (key_.empty()) return end;
  if (key_.size() > kShort) return find_last_surely(text, end);
  const std::size_t last = end - key_.size();
  std::size_t tries = 0;
  for (std::size_t at = text.rfind(key_[0], last); at != kNone; at = text.rfind(key_[0], at - 1)) {
    if (text.substr(at).starts_with(key_)) return at;
    if (at == 0) return kNone;
    if (is_hostile(++tries, last - at)) return find_last_surely(text, at + key_.size() - 1);
  }
  return kNone;
}

std::size_t Finder::find_last_surely(std::string_view text, std::size_t end) const {
  const std::vector<std::uint32_t>& borders = this->borders();
  std::size_t matched = 0;
  for (std::size_t at = end; at-- > 0;) {
    while (matched > 0 && text[at] != key_at(matched)) matched = borders[matched - 1];
    if (text[at] == key_at(matched)) ++matched;
    if (matched == key_.size()) return at;
  }
  return kNone;
}

}  // namespace rondo::jinja
