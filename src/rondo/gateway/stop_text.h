// Cuts content at a stop text.  Private to gateway/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo::gateway {

// Holds back what may become a stop text, and drops what follows one.
class StopText {
 public:
  // `is_shown`: the text ends with the stop text instead of before it.
  explicit StopText(std::vector<std::string> stops, bool is_shown = false)
      : stops_(std::move(stops)), is_shown_(is_shown) {}

  // Returns the text that is now certain.
  [[nodiscard]] std::string feed(std::string_view text);
  // Returns what was held back, because something else follows or nothing does.
  [[nodiscard]] std::string flush();
  // Returns the stop text that ended the content; "" if none has come yet.
  [[nodiscard]] const std::string& found() const { return found_; }
  [[nodiscard]] bool is_idle() const { return stops_.empty(); }

 private:
  [[nodiscard]] std::size_t first_stop();
  [[nodiscard]] std::size_t certain_size() const;

  std::vector<std::string> stops_;
  bool is_shown_ = false;
  std::string held_;
  std::string found_;
};

}  // namespace rondo::gateway
