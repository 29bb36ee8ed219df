// Follows a text that grows, to tell whether its end is quoted: inside a fence of code, or directly after a backtick.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace rondo::parse {

class Fences {
 public:
  // Takes the next part of the text.  The work is that of finding its backticks.
  void take(std::string_view text) {
    size_ += text.size();
    while (!text.empty()) {
      if (text.front() != '`') {
        backticks_ = in_fence_mark_ = 0;
        text.remove_prefix(std::min(text.find('`'), text.size()));
        continue;
      }
      ++backticks_;
      if (++in_fence_mark_ == kMark) {
        is_open_ = !is_open_;
        in_fence_mark_ = 0;
      }
      text.remove_prefix(1);
    }
  }

  // How many bytes it has taken.
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool quotes() const { return is_open_ || (backticks_ > 0 && backticks_ < kMark); }

 private:
  static constexpr std::size_t kMark = 3;  // backticks that open or close a fence

  std::size_t size_ = 0;
  std::size_t backticks_ = 0;      // at the end of the text
  std::size_t in_fence_mark_ = 0;  // ... those that may begin a fence's mark
  bool is_open_ = false;
};

// Tells whether a place in an answer is quoted.  Before the place come the content so far and text that has not been
// reported yet.  Continues from the place of the last question if it can.
class Quoting {
 public:
  // `pending` is the text between `begin`, an offset in the whole input, and the place.
  bool quotes(std::string_view content, std::string_view pending, std::size_t begin) {
    if (content.size() < content_.size()) *this = {};
    const bool has_grown = content.size() > content_.size();
    content_.take(content.substr(content_.size()));
    if (has_grown || begin != begin_ || pending_.size() > content_.size() + pending.size()) {
      pending_ = content_;
      begin_ = begin;
    }
    pending_.take(pending.substr(pending_.size() - content_.size()));
    return pending_.quotes();
  }

 private:
  Fences content_;
  Fences pending_;  // the content and the bytes from begin_ on
  std::size_t begin_ = 0;
};

}  // namespace rondo::parse
