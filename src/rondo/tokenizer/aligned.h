// Text on its way through normalisers: its bytes now, and for each of them the bytes of the input it stands for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::tokenizer {

// A range of bytes [begin, end).
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool operator==(const Range&) const = default;
};

// Starts as a view of the input, unchanged and without any alignment stored; owns its text once something changed it.
class Aligned {
 public:
  // `source` must outlive this; it stands at byte `base` of the input.
  Aligned(std::string_view source, std::uint32_t base) : source_(source), base_(base) {}

  [[nodiscard]] std::string_view text() const { return changed_ ? std::string_view(owned_) : source_; }
  // Nothing changed it yet: its bytes are those of the input.
  [[nodiscard]] bool is_original() const { return !changed_; }
  // The input bytes that text()[range] stands for; an empty range maps to an empty one.
  [[nodiscard]] Range origin(Range range) const;
  // The reference would say that byte `at` was made from the first character of the input.  It counts otherwise than
  // origin(), which covers all that a byte stands for.  REQUIRES: at < text().size().
  [[nodiscard]] bool leads(std::uint32_t at) const;
  // A part of this one, which must outlive it.
  [[nodiscard]] Aligned part(Range range) const;

 private:
  friend class AlignedBuilder;
  std::string_view source_;
  std::uint32_t base_ = 0;
  bool changed_ = false;
  std::string owned_;
  std::vector<Range> origins_;  // per byte, if changed
  std::uint32_t lead_ = 0;      // if changed: how many bytes lead, all at the front
};

// Writes the successor of an aligned text.
class AlignedBuilder {
 public:
  explicit AlignedBuilder(const Aligned& from);
  // Bytes [range) of the old text, unchanged.
  void copy(Range range);
  // New bytes that stand for bytes [range) of the old text.
  void put(std::string_view bytes, Range range);
  // The same, for what the reference says was made from the last character of the range.
  void put_for_last(std::string_view bytes, Range range);
  // Nothing for what the old text begins with, in such a way that the reference takes the next character for the first.
  // REQUIRES: size() == 0.
  void drop_front() { dropped_ = true; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(to_.owned_.size()); }
  [[nodiscard]] Aligned finish();

 private:
  void put_origin(std::string_view bytes, Range range);
  void lead(bool leads, std::size_t bytes);
  void lead_after_drop(std::size_t bytes);

  const Aligned& from_;
  Aligned to_;
  bool leading_ = true;   // all bytes so far lead
  bool dropped_ = false;  // the next bytes are taken for the first
};

}  // namespace rondo::tokenizer
