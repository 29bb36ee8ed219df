#include "jinja/types/finder.h"

#include <algorithm>
#include <cassert>

namespace rondo::jinja {
namespace {

constexpr std::size_t kShort = 64;
constexpr std::size_t kNone = std::string_view::npos;

}  // namespace

Finder::Finder(std::string_view key, bool backwards) : key_(key), backwards_(backwards) {
  if (key.size() <= kShort) return;
  borders_.assign(key.size(), 0);
  std::uint32_t border = 0;
  for (std::size_t i = 1; i < key.size(); ++i) {
    while (border > 0 && key_at(i) != key_at(border)) border = borders_[border - 1];
    if (key_at(i) == key_at(border)) ++border;
    borders_[i] = border;
  }
}

std::size_t Finder::find(std::string_view text, std::size_t from) const {
  assert(!backwards_);
  if (borders_.empty()) return text.find(key_, from);
  std::size_t matched = 0;
  for (std::size_t at = from; at < text.size(); ++at) {
    while (matched > 0 && text[at] != key_[matched]) matched = borders_[matched - 1];
    if (text[at] == key_[matched]) ++matched;
    if (matched == key_.size()) return at + 1 - matched;
  }
  return kNone;
}

std::size_t Finder::find_last(std::string_view text, std::size_t end) const {
  assert(backwards_);
  end = std::min(end, text.size());
  if (end < key_.size()) return kNone;
  if (borders_.empty()) return text.rfind(key_, end - key_.size());
  std::size_t matched = 0;
  for (std::size_t at = end; at-- > 0;) {
    while (matched > 0 && text[at] != key_at(matched)) matched = borders_[matched - 1];
    if (text[at] == key_at(matched)) ++matched;
    if (matched == key_.size()) return at;
  }
  return kNone;
}

}  // namespace rondo::jinja
