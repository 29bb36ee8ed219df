#include "engine/gbnf_check.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/hex.h"

namespace rondo::engine {
namespace {

constexpr std::uint64_t kMostRepetitions = 2000;  // the library's own limit on rules that a repetition makes
constexpr int kMostNesting = 200;                 // the library reads groups recursively

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Status run() {
    space(true);
    while (wrong_.empty() && at_ < text_.size()) rule();
    if (wrong_.empty()) check_names();
    if (wrong_.empty()) return Done{};
    const auto line = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    return Error(ErrorCode::kInvalidArgument, wrong_ + " in line " + std::to_string(line), "grammar");
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void fail(std::string sentence) {
    if (wrong_.empty()) wrong_ = std::move(sentence);
  }
  void expect(char c) {
    if (peek() != c) return fail(std::string("a `") + c + "` is missing");
    ++at_;
  }

  void space(bool over_lines) {
    for (; at_ < text_.size(); ++at_) {
      if (peek() == '#') {
        while (at_ + 1 < text_.size() && text_[at_ + 1] != '\n' && text_[at_ + 1] != '\r') ++at_;
      } else if (peek() != ' ' && peek() != '\t' && !(over_lines && (peek() == '\r' || peek() == '\n'))) {
        return;
      }
    }
  }

  std::string name() {
    const std::size_t begin = at_;
    while (is_word(peek())) ++at_;
    if (at_ == begin) fail("a name is missing");
    return std::string(text_.substr(begin, at_ - begin));
  }

  void rule() {
    const std::string own = name();
    space(false);
    if (text_.substr(at_, 3) != "::=") return fail("a `::=` is missing");
    at_ += 3;
    space(true);
    alternatives(false, 0);
    if (!wrong_.empty()) return;
    names_[own] = 0;
    if (at_ < text_.size() && peek() != '\n' && peek() != '\r')
      return fail("a rule continues with something that is not part of one");
    space(true);
  }

  // How many rules the library makes.
  std::uint64_t alternatives(bool is_nested, int depth) {
    if (depth > kMostNesting) fail("groups nest too deep");
    std::uint64_t made = sequence(is_nested, depth);
    while (wrong_.empty() && peek() == '|') {
      ++at_;
      space(true);
      made += sequence(is_nested, depth);
    }
    return made;
  }

  std::uint64_t sequence(bool is_nested, int depth) {
    std::uint64_t made = 0;      // all rules
    std::uint64_t previous = 1;  // that a repetition of the last part would repeat
    bool has_part = false;
    while (wrong_.empty() && at_ < text_.size()) {
      const char c = peek();
      if (c == '*' || c == '+' || c == '?' || c == '{') {
        if (!has_part) fail("a repetition repeats nothing");
        made += repetition(previous, is_nested);
        continue;
      }
      previous = 1;
      if (c == '"') {
        literal();
      } else if (c == '[') {
        char_class();
      } else if (c == '(') {
        ++at_;
        space(true);
        previous = 1 + alternatives(true, depth + 1);
        made += previous;
        expect(')');
      } else if (c == '.') {
        ++at_;
      } else if (c == '<' || c == '!') {
        token();
      } else if (is_word(c)) {
        const std::size_t place = at_;
        if (names_.emplace(name(), place + 1).second) ++made;
      } else {
        break;
      }
      has_part = true;
      space(is_nested);
    }
    return made;
  }

  std::uint64_t repetition(std::uint64_t& previous, bool is_nested) {
    const char mark = peek();
    ++at_;
    space(is_nested);
    std::uint64_t least = mark == '+' ? 1 : 0;
    std::uint64_t most = mark == '?' ? 1 : 0;  // 0 if unlimited
    if (mark == '{') {
      least = number(is_nested);
      most = least;
      if (peek() == ',') {
        ++at_;
        space(is_nested);
        most = is_digit(peek()) ? number(is_nested) : 0;
      }
      expect('}');
      space(is_nested);
      if (most > kMostRepetitions) most = 0;
    }
    const std::uint64_t rules = std::max<std::uint64_t>({1, most, most == 0 ? least : 0});
    if (least > kMostRepetitions || previous * rules > kMostRepetitions)
      fail("something is repeated " + std::to_string(rules) + " times, which with what it holds is more than the " +
           std::to_string(kMostRepetitions) + " that the engine takes");
    previous *= rules;
    return most == 0 ? 1 : most - std::min(least, most);
  }

  std::uint64_t number(bool is_nested) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail("a number is missing, or too large");
    at_ = static_cast<std::size_t>(end - text_.data());
    space(is_nested);
    return value;
  }

  void literal() {
    ++at_;
    while (wrong_.empty() && peek() != '"') character();
    if (wrong_.empty()) ++at_;
  }

  void char_class() {
    ++at_;
    if (peek() == '^') ++at_;
    while (wrong_.empty() && peek() != ']') {
      character();
      if (peek() == '-' && peek(1) != ']') {
        ++at_;
        character();
      }
    }
    if (wrong_.empty()) ++at_;
  }

  void character() {
    if (at_ >= text_.size() || peek() == '\0') return fail("a text has no end");
    if (peek() != '\\') {
      ++at_;
      return;
    }
    const char kind = peek(1);
    at_ += 2;
    if (const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0; digits > 0) {
      for (std::size_t i = 0; i < digits; ++i, ++at_) {
        if (!hex::digit(peek())) return fail("an escape has too few digits");
      }
    } else if (std::string_view("trn\\\"[]-").find(kind) == std::string_view::npos) {
      fail(std::string("there is no escape `\\") + kind + "`");
    }
  }

  void token() {
    if (peek() == '!') ++at_;
    expect('<');
    const std::size_t end = text_.find('>', at_);
    if (end == std::string_view::npos) return fail("a token has no end");
    at_ = end + 1;
  }

  void check_names() {
    for (const auto& [name, place] : names_) {
      if (place == 0) continue;  // it is defined
      at_ = place - 1;
      return fail("there is no rule `" + name + "`");
    }
    if (!names_.contains("root")) fail("there is no rule `root`");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string wrong_;
  std::map<std::string, std::size_t> names_;  // 0 if defined, else one past the place of its first use
};

}  // namespace

Status check_gbnf(std::string_view grammar) { return Reader(grammar).run(); }

}  // namespace rondo::engine
