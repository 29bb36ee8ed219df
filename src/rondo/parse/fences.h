// Follows a text that grows, to tell whether its end is quoted: inside a fence of code, or directly behind a backtick.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace rondo::parse {

class Fences {
 public:
  // Goes on with `text`.  The work is that of finding its backticks.
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

// What is before a place in the text: the content so far, and what has not been reported yet.
struct Quoting {
  Fences content = {};
  Fences pending = {};    // the content and the bytes from `begin` on
  std::size_t begin = 0;  // offset in the whole input
};

}  // namespace rondo::parse
