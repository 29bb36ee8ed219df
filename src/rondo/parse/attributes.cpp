#include "parse/attributes.h"

#include <algorithm>

#include "format/units.h"

namespace rondo::parse {
namespace {

constexpr std::size_t kLongestAttributes = 256;

}  // namespace

AttributeReader::AttributeReader(std::string_view text, bool is_end)
    : text_(text.substr(0, kLongestAttributes)), is_end_(is_end) {
  is_cut_ = text.size() > text_.size();
}

Match AttributeReader::up_to(std::string_view tail, std::size_t fewest) {
  for (std::size_t count = 0;; ++count) {
    const std::size_t behind_space = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    const std::string_view rest = text_.substr(behind_space);
    if (count >= fewest && rest.starts_with(tail)) return {MatchKind::kFull, behind_space + tail.size()};
    const bool may_be_tail = rest.size() < tail.size() && tail.starts_with(rest);
    if (!attribute()) return may_be_tail || at_ == text_.size() ? open() : Match{};
  }
}

void AttributeReader::skip(bool (*is_one)(char)) {
  while (at_ < text_.size() && is_one(text_[at_])) ++at_;
}

// Reads one attribute.  Returns false if there is none, or if the text ends inside it; at_ is then at the end of the text.
bool AttributeReader::attribute() {
  skip([](char byte) { return byte == ' ' || byte == '\t'; });
  const std::size_t name = at_;
  skip(format::is_tag_byte);
  if (at_ == name || at_ == text_.size() || text_[at_] != '=') return false;
  Attribute read{text_.substr(name, at_ - name), {}, 0};
  if (++at_ == text_.size()) return false;
  const char quote = text_[at_];
  if (quote == '"' || quote == '\'') {
    const std::size_t begin = at_ + 1;
    const std::size_t end = text_.find(quote, begin);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    if (end == std::string_view::npos) return false;
    read.value = text_.substr(begin, end - begin);
    read.quote = quote;
  } else {
    const std::size_t begin = at_;
    skip(format::is_tag_byte);
    if (at_ == text_.size()) return false;
    read.value = text_.substr(begin, at_ - begin);
  }
  attributes_.push_back(read);
  return true;
}

}  // namespace rondo::parse
