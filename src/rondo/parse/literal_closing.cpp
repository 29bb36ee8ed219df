// What completes a value in JSON or Python spelling that is cut off.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/json_scan.h"
#include "parse/values.h"

namespace rondo::parse {
namespace {

using format::is_space;

// Follows the rules of the reader of literals (values.cpp).  What is missing where the text ends is added from the
// innermost value outwards.
class LiteralCloser {
 public:
  LiteralCloser(std::string_view text, const NestedSyntax& syntax) : text_(text) {
    if (syntax.string_open.size() <= 1) return;  // usual quotes
    own_open_ = syntax.string_open;
    own_close_ = syntax.string_close;
  }

  [[nodiscard]] std::optional<std::string> run() {
    if (!value(0)) return std::nullopt;
    skip_space();
    return is_over() ? std::optional(std::move(out_)) : std::nullopt;
  }

 private:
  [[nodiscard]] bool is_over() const { return at_ >= text_.size(); }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  void skip_space() {
    while (!is_over() && is_space(text_[at_])) ++at_;
  }
  // Adds an empty string, between the quotes that the text itself has.
  void add_none() {
    const bool has_own = text_.find(own_open_) != std::string_view::npos;
    const bool has_usual = text_.find_first_of("\"'") != std::string_view::npos;
    const bool is_usual = own_open_.empty() || (!has_own && has_usual);
    out_ += is_usual ? R"("")" : std::string(own_open_) + std::string(own_close_);
  }

  // Each of these returns false if no such value begins here, or if it is deeper than the reader goes.
  bool value(int depth) {
    skip_space();
    if (is_over()) {
      add_none();
      return true;
    }
    if (depth > limits::kJsonDepth / 2) return false;
    if (text_[at_] == '{') return object(depth + 1);
    if (text_[at_] == '[') return array(depth + 1, ']');
    if (text_[at_] == '(') return array(depth + 1, ')');
    return string() || scalar();
  }

  bool string() {
    if (!own_open_.empty() && rest().starts_with(own_open_.substr(0, rest().size()))) {
      own_string();
      return true;
    }
    if (string_opening(rest()).quotes == 0) return false;
    while (!is_over() && string_opening(rest()).quotes != 0) {  // strings in a row are one
      quoted();
      skip_space();
    }
    return true;
  }

  // Reads the string in quotes that begins here.
  void quoted() {
    const StringOpening opening = string_opening(rest());
    at_ += opening.prefix;
    const char quote = text_[at_];
    const std::string close(opening.quotes, quote);
    at_ += opening.quotes;
    for (; !is_over() && !rest().starts_with(close); ++at_) {
      if (rest().size() < close.size() && rest().find_first_not_of(quote) == std::string_view::npos) break;
      if (text_[at_] == '\\') skip_escape();
    }
    const std::size_t shown = at_ < text_.size() ? std::min(rest().size(), close.size()) : 0;
    out_ += close.substr(shown);
    at_ = std::min(at_ + shown, text_.size());
  }

  // Moves to the last byte of an escape.
  void skip_escape() {
    const std::string_view escape = rest();
    const std::size_t size = escape.size() < 2 ? 2 : escape[1] == 'u' ? 6 : escape[1] == 'x' ? 4 : 2;
    if (escape.size() < size) out_ += size == 2 ? "\\" : std::string(size - escape.size(), '0');
    at_ += std::min(size, escape.size()) - 1;
  }

  void own_string() {
    if (rest().size() < own_open_.size()) {
      out_ += std::string(own_open_.substr(rest().size())) + std::string(own_close_);
      at_ = text_.size();
      return;
    }
    at_ += own_open_.size();
    if (const std::size_t end = rest().find(own_close_); end != std::string_view::npos) {
      at_ += end + own_close_.size();
      return;
    }
    std::size_t begun = std::min(own_close_.size() - 1, rest().size());
    while (!rest().ends_with(own_close_.substr(0, begun))) --begun;
    out_ += own_close_.substr(begun);
    at_ = text_.size();
  }

  bool scalar() {
    const std::size_t begin = at_;
    while (!is_over() && !is_space(text_[at_]) &&
           std::string_view(",:{}[]()\"'").find(text_[at_]) == std::string_view::npos)
      ++at_;
    if (is_over()) out_ += scalar_closing(text_.substr(begin));
    return at_ > begin;
  }

  // Whether more elements may follow the one that has just been read; `close` ends them.
  bool goes_on(char close) {
    skip_space();
    if (is_over()) {
      out_ += close;
      return false;
    }
    return text_[at_++] == ',';
  }

  bool ends(char close) {
    skip_space();
    if (is_over()) {
      out_ += close;
      return true;
    }
    if (text_[at_] != close) return false;
    ++at_;
    return true;
  }

  bool array(int depth, char close) {
    ++at_;
    while (!ends(close)) {
      if (!value(depth)) return false;
      if (!goes_on(close)) return is_over() || text_[at_ - 1] == close;
    }
    return true;
  }

  // A set of Python begins as an object does.
  bool object(int depth) {
    const std::size_t begin = at_;
    if (members(depth)) return true;
    at_ = begin;
    return array(depth, '}');
  }

  bool members(int depth) {
    ++at_;
    while (!ends('}')) {
      if (!key()) return false;
      if (!value(depth)) return false;
      if (!goes_on('}')) return is_over() || text_[at_ - 1] == '}';
    }
    return true;
  }

  // Reads a key and the colon behind it.
  bool key() {
    if (!string()) {
      while (!is_over() && std::string_view(":,{}[]\"'<>").find(text_[at_]) == std::string_view::npos) ++at_;
    }
    skip_space();
    if (is_over()) {
      out_ += ':';
      return true;
    }
    return text_[at_++] == ':';
  }

  std::string_view text_;
  std::string_view own_open_;
  std::string_view own_close_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::optional<TextClosing> json_text_closing(std::string_view begun) {
  JsonScanner around;
  for (const char byte : begun) {
    if (around.step(byte).bad || around.done()) return std::nullopt;
  }
  const std::string quoted = around.closing();
  if (!begun.starts_with('"') || quoted.empty()) return std::nullopt;
  // An escape that has begun becomes a character that changes nothing where that is possible: white space outside of the
  // object's strings, and the end of a string inside.
  const std::string rest = quoted.substr(0, quoted.size() - 1);
  std::vector<std::string> ways = {rest};
  if (rest == "\\") ways = {"n", "\"", "\\"};
  if (rest.starts_with('0')) ways = {std::string("0020").substr(4 - rest.size()), rest};
  for (const std::string& way : ways) {
    const auto text = json::parse(std::string(begun) + way + '"');
    if (!text.ok() || !text.value().is_string()) continue;
    const std::string& object = text.value().as_string();
    JsonScanner inside;
    if (std::ranges::any_of(object, [&inside](char byte) { return inside.step(byte).bad; })) continue;
    const std::string closing = inside.started() ? inside.closing() : "{}";
    const auto whole = json::parse(object + closing);
    if (!whole.ok() || !whole.value().is_object()) continue;
    TextClosing out{way, quoted.size()};
    json::append_escaped(out.text, closing, false);
    out.text += '"';
    return out;
  }
  return std::nullopt;
}

std::string scalar_closing(std::string_view begun) {
  static constexpr std::array<std::string_view, 6> kSpelledWords = {"true", "false", "null", "True", "False", "None"};
  if (begun.empty()) return "";
  for (const std::string_view word : kSpelledWords) {
    if (word.starts_with(begun)) return std::string(word.substr(begun.size()));
  }
  const bool is_number = begun.find_first_not_of("+-.0123456789eE") == std::string_view::npos;
  return is_number && std::string_view("-+.eE").find(begun.back()) != std::string_view::npos ? "0" : "";
}

std::optional<std::string> literal_closing(std::string_view begun, const NestedSyntax& syntax) {
  begun.remove_prefix(std::min(begun.size(), begun.find_first_not_of(" \t\r\n")));
  if (begun.empty()) return std::nullopt;
  const bool is_own = syntax.string_open.size() > 1 && begun.front() == syntax.string_open.front();
  if (!is_own && std::string_view("{[(\"'").find(begun.front()) == std::string_view::npos) return std::nullopt;
  return LiteralCloser(begun, syntax).run();
}

}  // namespace rondo::parse
