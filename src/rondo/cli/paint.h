// Colours and widths of the terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/printing.h"
#include "json/value.h"

namespace rondo::cli {

// Colours text with SGR codes such as "1" or "2;36", or leaves it unchanged.
class Paint {
 public:
  explicit Paint(bool is_on) : is_on_(is_on) {}
  [[nodiscard]] bool is_on() const { return is_on_; }
  [[nodiscard]] std::string operator()(std::string_view code, std::string_view text) const;

 private:
  bool is_on_;
};

// `when` is "always", "never" or "auto": colours are used if standard output is a terminal that can show them and
// NO_COLOR is not set.
[[nodiscard]] Paint paint_for(const std::string& when);

// Whether standard error is a terminal on which a line of progress may be overwritten: neither NO_COLOR nor TERM=dumb
// asks for plain text.
[[nodiscard]] bool shows_progress();

// What erases such a line.
inline constexpr const char* kEraseLine = "\r\x1b[K";

// Returns the columns of the terminal on standard output; 0 if it is not a terminal.
[[nodiscard]] std::size_t terminal_width();

using printing::elided;
using printing::printable;

// Returns the string member `field` of an object, printable on one line; "" if it is missing.
[[nodiscard]] std::string printable_text(const json::Value& object, std::string_view field);

// Appends spaces up to `width` code points.
[[nodiscard]] std::string padded(std::string text, std::size_t width);
// Returns "1 line" or "2 lines".
[[nodiscard]] std::string counted(std::size_t count, const std::string& one);

inline constexpr std::string_view kFaint = "2";

// The roles of messages as a reply lists them, and a colour for each role, in order of appearance.
class Roles {
 public:
  // `list` is an array of strings, in which anything else is shown as "?"; nullptr for none.
  explicit Roles(const json::Value* list);

  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] bool has(std::int64_t message) const {
    return message >= 0 && static_cast<std::size_t>(message) < names_.size();
  }
  // REQUIRES: has(message).
  [[nodiscard]] const std::string& name(std::int64_t message) const {
    return names_[static_cast<std::size_t>(message)];
  }
  [[nodiscard]] std::string_view colour(std::int64_t message) const { return colours_.find(name(message))->second; }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::string_view, std::less<>> colours_;
};

}  // namespace rondo::cli
