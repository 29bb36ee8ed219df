#include "parse/reader.h"

#include "base/utf8.h"
#include "format/units.h"

namespace rondo::parse {

namespace {

constexpr std::size_t kDropAfterBytes = 4096;  // dropping less is not worth moving the rest of the buffer

}  // namespace

void Reader::drop_reported() {
  if (head_ <= kDropAfterBytes || head_ <= buffer_.size() / 2) return;
  buffer_.erase(0, head_);
  if (starts_) starts_->drop_front(head_);
  base_ += head_;
  pos_ -= head_;
  head_ = 0;
}

// Remembers the latest run of white space, so a run that grows byte by byte is not read again from its start.
std::size_t Reader::skip_space(std::size_t at) const {
  const std::size_t begin = base_ + at;
  if (begin >= space_begin_ && begin < space_end_) {
    at = space_end_ - base_;
  } else {
    space_begin_ = begin;
  }
  while (at < buffer_.size() && format::is_space(buffer_[at])) ++at;
  space_end_ = base_ + at;
  return at;
}

std::size_t Reader::whole_characters(std::size_t end) const {
  if (end < buffer_.size() || is_end_ || end <= head_ || static_cast<unsigned char>(buffer_[end - 1]) < 0x80)
    return end;
  const std::size_t from = end - head_ > 4 ? end - 4 : head_;
  const std::string_view last = std::string_view(buffer_).substr(from, end - from);
  std::size_t skip = 0;  // the first of the four bytes may be inside a character
  while (skip < last.size() && utf8::is_continuation(last[skip])) ++skip;
  if (skip == last.size()) return end;
  return from + skip + utf8::complete_prefix(last.substr(skip));
}

}  // namespace rondo::parse
