// Text that normalisers change: its present bytes, and for each of them the bytes of the input that it stands for.
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

// At first this is a view of the unchanged input, without stored alignment.  It owns its text once something has
// changed it.
class Aligned {
 public:
  // `source` must outlive this.  It starts at byte `base` of the input.
  Aligned(std::string_view source, std::uint32_t base) : source_(source), base_(base) {}

  [[nodiscard]] std::string_view text() const { return changed_ ? std::string_view(owned_) : source_; }
  // Returns whether nothing has changed it: its bytes are those of the input.
  [[nodiscard]] bool is_original() const { return !changed_; }
  // Returns the input bytes that text()[range] stands for; an empty range maps to an empty one.
  [[nodiscard]] Range origin(Range range) const;
  // Returns whether the reference would say that byte `at` was made from the first character of the input.  The
  // reference counts differently than origin(), which covers everything that a byte stands for.
  //
  // REQUIRES: at < text().size().
  [[nodiscard]] bool leads(std::uint32_t at) const;
  // Returns a part of this text, which must outlive the part.
  [[nodiscard]] Aligned part(Range range) const;

 private:
  friend class AlignedBuilder;
  std::string_view source_;
  std::uint32_t base_ = 0;
  bool changed_ = false;
  std::string owned_;
  std::vector<Range> origins_;  // for each byte; only if changed
  std::uint32_t lead_ = 0;      // if changed: how many bytes at the front came from the first character of the input
};

// Writes the next version of an aligned text.
class AlignedBuilder {
 public:
  explicit AlignedBuilder(const Aligned& from);
  // Copies bytes [range) of the old text.
  void copy(Range range);
  // Appends new bytes that stand for bytes [range) of the old text.
  void put(std::string_view bytes, Range range);
  // Does the same for bytes that the reference attributes to the last character of the range.
  void put_for_last(std::string_view bytes, Range range);
  // Drops the beginning of the old text.  The reference then treats the next character as the first.
  //
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
  bool leading_ = true;   // whether all bytes so far lead
  bool dropped_ = false;  // whether the next bytes count as the first
};

}  // namespace rondo::tokenizer
