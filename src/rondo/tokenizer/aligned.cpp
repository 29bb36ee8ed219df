#include "tokenizer/aligned.h"

#include <algorithm>

#include "base/utf8.h"

namespace rondo::tokenizer {

Range Aligned::origin(Range range) const {
  if (!changed_) return {base_ + range.begin, base_ + range.end};
  if (origins_.empty()) return {base_, base_};
  if (range.begin == range.end) {
    const std::uint32_t at = range.begin < origins_.size() ? origins_[range.begin].begin : origins_.back().end;
    return {at, at};
  }
  const std::uint32_t begin = origins_[range.begin].begin;
  const std::uint32_t end = origins_[range.end - 1].end;
  return {begin, end < begin ? begin : end};
}

bool Aligned::leads(std::uint32_t at) const {
  if (changed_) return at < lead_;
  return base_ == 0 && at < utf8::decode(source_, 0).size;
}

Aligned Aligned::part(Range range) const {
  const std::uint32_t size = range.end - range.begin;
  if (!changed_) return {source_.substr(range.begin, size), base_ + range.begin};
  Aligned made({}, origin({range.begin, range.begin}).begin);
  made.changed_ = true;
  made.owned_ = owned_.substr(range.begin, size);
  made.origins_.assign(origins_.begin() + range.begin, origins_.begin() + range.end);
  made.lead_ = std::min(lead_, range.end) - std::min(lead_, range.begin);
  return made;
}

AlignedBuilder::AlignedBuilder(const Aligned& from) : from_(from), to_({}, from.origin({0, 0}).begin) {
  to_.changed_ = true;
  to_.owned_.reserve(from.text().size() + from.text().size() / 4);
  to_.origins_.reserve(from.text().size() + from.text().size() / 4);
}

void AlignedBuilder::lead(bool leads, std::size_t bytes) {
  leading_ = leading_ && (leads || bytes == 0);
  if (leading_) to_.lead_ += static_cast<std::uint32_t>(bytes);
}

void AlignedBuilder::lead_after_drop(std::size_t bytes) {
  if (bytes == 0) return;
  lead(from_.leads(0), bytes);
  leading_ = false;
  dropped_ = false;
}

void AlignedBuilder::copy(Range range) {
  if (dropped_ && range.begin < range.end) lead_after_drop(utf8::decode(from_.text(), range.begin).size);
  for (std::uint32_t at = range.begin; leading_ && at < range.end; ++at) lead(from_.leads(at), 1);
  to_.owned_.append(from_.text().substr(range.begin, range.end - range.begin));
  if (from_.changed_) {
    to_.origins_.insert(to_.origins_.end(), from_.origins_.begin() + range.begin, from_.origins_.begin() + range.end);
    return;
  }
  for (std::uint32_t at = range.begin; at < range.end; ++at) {
    to_.origins_.push_back({from_.base_ + at, from_.base_ + at + 1});
  }
}

void AlignedBuilder::put(std::string_view bytes, Range range) {
  if (dropped_) {
    lead_after_drop(bytes.size());
  } else {
    lead(range.begin < from_.text().size() && from_.leads(range.begin), bytes.size());
  }
  put_origin(bytes, range);
}

void AlignedBuilder::put_for_last(std::string_view bytes, Range range) {
  lead(range.end == 0 || from_.leads(range.end - 1), bytes.size());
  put_origin(bytes, range);
}

void AlignedBuilder::put_origin(std::string_view bytes, Range range) {
  to_.owned_.append(bytes);
  to_.origins_.insert(to_.origins_.end(), bytes.size(), from_.origin(range));
}

Aligned AlignedBuilder::finish() { return std::move(to_); }

}  // namespace rondo::tokenizer
