// The text that a machine reads: what it was fed, as far as events have not reported it yet.  Internal to parse/.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "parse/marker.h"

namespace rondo::parse {

// Input is appended to a buffer.  `head_` is the end of the bytes that events have reported, and `pos_` is the cursor.
// The bytes between them are held back.  If `is_end_` is set, no more bytes will come.
class Reader {
 public:
  Reader() = default;
  Reader(const Reader&) = delete;  // starts_ refers to the buffer
  Reader& operator=(const Reader&) = delete;

 protected:
  ~Reader() = default;

  // Appends a byte.  `may_start`: an added token may begin with it.
  void take(char byte, bool may_start) {
    buffer_ += byte;
    if (starts_) starts_->append(may_start);
  }
  // Forgets the buffer, and passes over `size` bytes that are reported without going through it.
  void pass(std::size_t size) {
    base_ += buffer_.size() + size;
    buffer_.clear();
    if (starts_) starts_->clear();
    head_ = pos_ = 0;
  }
  // Drops reported bytes from the front of the buffer, if they are worth moving the rest.
  void drop_reported();
  // Returns the end of the white space at `at`.
  [[nodiscard]] std::size_t skip_space(std::size_t at) const;
  // Returns `end`, moved back before a character that is not complete yet.
  [[nodiscard]] std::size_t whole_characters(std::size_t end) const;
  // Returns where added tokens begin in the buffer; nullptr if that is unknown.
  [[nodiscard]] const TokenStarts* starts() const { return starts_ ? &*starts_ : nullptr; }

  std::string buffer_;
  std::optional<TokenStarts> starts_;  // only if Options::special_tokens lists the added tokens
  std::size_t base_ = 0;               // how many bytes were dropped from the front of the buffer
  std::size_t head_ = 0;
  std::size_t pos_ = 0;
  bool is_end_ = false;

 private:
  mutable std::size_t space_begin_ = 0;  // the latest run of white space; offsets in the whole input
  mutable std::size_t space_end_ = 0;
};

}  // namespace rondo::parse
