// A text that its copies share.  The turns of a conversation begin with the same messages; each is in memory once.
//
//   SharedText text = std::string("...");    // takes the string
//   const SharedText same = text;            // shares it
//
// As thread-safe as a constant string.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace rondo {

class SharedText {
 public:
  SharedText() = default;
  SharedText(std::string text)  // NOLINT(google-explicit-constructor): a string is a text
      : text_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}

  [[nodiscard]] const std::string& get() const {
    static const std::string kNothing;
    return text_ == nullptr ? kNothing : *text_;
  }
  operator std::string_view() const { return get(); }  // NOLINT(google-explicit-constructor)

  friend bool operator==(const SharedText& a, const SharedText& b) { return a.text_ == b.text_ || a.get() == b.get(); }

 private:
  std::shared_ptr<const std::string> text_;  // null: an empty text
};

}  // namespace rondo
