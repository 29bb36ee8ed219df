// Content up to a stop text.  Private to gateway/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rondo::gateway {

// Holds back what may become a stop text, and drops what follows one.
class StopText {
 public:
  explicit StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  // What is certain of the text now.
  [[nodiscard]] std::string feed(std::string_view text);
  // What was held back: something else comes, or nothing more does.
  [[nodiscard]] std::string flush();
  // The text that ended it; "" where none has come yet.
  [[nodiscard]] const std::string& found() const { return found_; }
  [[nodiscard]] bool is_idle() const { return stops_.empty(); }

 private:
  [[nodiscard]] std::size_t first_stop();
  [[nodiscard]] std::size_t certain_size() const;

  std::vector<std::string> stops_;
  std::string held_;
  std::string found_;
};

}  // namespace rondo::gateway
