#include "cli/paint.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "base/utf8.h"

namespace rondo::cli {
namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// Whether it is a terminal that obeys sequences of control characters, and may be sent them.
bool takes_sequences(int file) {
  const char* terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return isatty(file) != 0 && !is_set("NO_COLOR") && !is_dumb;
}

}  // namespace

std::string Paint::operator()(std::string_view code, std::string_view text) const {
  if (!is_on_ || text.empty() || code.empty()) return std::string(text);
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

Paint paint_for(const std::string& when) {
  return Paint(when == "auto" ? takes_sequences(STDOUT_FILENO) : when == "always");
}

bool shows_progress() { return takes_sequences(STDERR_FILENO); }

std::size_t terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t length = utf8::length(text);
  if (length < width) text.append(width - length, ' ');
  return text;
}

std::string counted(std::size_t count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string printable_text(const json::Value& object, std::string_view field) {
  return printable(object.find_string(field).value_or(""), false);
}

Roles::Roles(const json::Value* list) {
  constexpr std::array<std::string_view, 6> kColours = {"36", "32", "33", "35", "34", "31"};
  if (list == nullptr) return;
  for (const json::Value& role : list->as_array()) {
    names_.push_back(role.is_string() ? printable(role.as_string(), false) : "?");
    colours_.try_emplace(names_.back(), kColours[colours_.size() % kColours.size()]);
  }
}

}  // namespace rondo::cli
