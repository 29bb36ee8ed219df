#include "model/tokenizer_code.h"

#include <array>

#include "base/utf8.h"

namespace rondo::model {
namespace {

// What such files call the pattern, in the spelling of constants as well.
constexpr std::array<std::string_view, 5> kNames = {"pat_str", "PAT_STR", "_pat_str", "pattern", "PATTERN"};
constexpr std::size_t kPatternBytes = 1 << 16;

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

std::optional<unsigned> digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

// Reads a Python expression of string literals: neighbours, sums, parentheses, "SEPARATOR".join([...]).
class Literals {
 public:
  Literals(std::string_view python, std::size_t at) : python_(python), at_(at) {}

  // Nothing if anything but such an expression stands there.
  std::optional<std::string> expression(int depth) {
    std::optional<std::string> text;
    for (bool more = true; more;) {
      auto part = operand(depth);
      if (!part) return std::nullopt;
      text = text.value_or("") + *part;
      if (text->size() > kPatternBytes) return std::nullopt;
      skip();
      more = take('+') || starts_literal() || (depth > 0 && peek() == '(');
    }
    return text;
  }

 private:
  [[nodiscard]] char peek() const { return at_ < python_.size() ? python_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    skip();
    return true;
  }

  // White space, comments, line continuations.
  void skip() {
    while (at_ < python_.size()) {
      const char c = python_[at_];
      if (c == '#') {
        at_ = std::min(python_.find('\n', at_), python_.size());
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\\') {
        // A line ends the expression unless something holds it open.
        if (c == '\n' && open_ == 0) return;
        at_ += c == '\\' && at_ + 1 < python_.size() ? 2 : 1;
      } else {
        return;
      }
    }
  }

  [[nodiscard]] bool starts_literal() const {
    std::size_t at = at_;
    while (at < python_.size() && at < at_ + 2 && (python_[at] == 'r' || python_[at] == 'R' || python_[at] == 'u'))
      ++at;
    return at < python_.size() && (python_[at] == '"' || python_[at] == '\'');
  }

  std::optional<std::string> operand(int depth) {
    if (depth > 8) return std::nullopt;
    if (peek() == '(') {
      ++open_;
      take('(');
      auto inner = expression(depth + 1);
      if (!inner) return std::nullopt;
      skip();
      --open_;
      if (!take(')')) return std::nullopt;
      return inner;
    }
    auto text = literal();
    if (!text || !python_.substr(at_).starts_with(".join(")) return text;
    at_ += std::string_view(".join(").size();
    return joined(*text, depth);
  }

  std::optional<std::string> joined(const std::string& separator, int depth) {
    ++open_;
    skip();
    const char close = peek() == '[' ? ']' : ')';
    if (!take('[') && !take('(')) return std::nullopt;
    std::string out;
    for (bool first = true; peek() != close; first = false) {
      const auto part = expression(depth + 1);
      if (!part || out.size() > kPatternBytes) return std::nullopt;
      if (!first) out += separator;
      out += *part;
      if (!take(',')) break;
    }
    if (!take(close)) return std::nullopt;
    take(',');
    --open_;
    if (!take(')')) return std::nullopt;
    return out;
  }

  std::optional<std::string> literal() {
    if (!starts_literal()) return std::nullopt;
    bool raw = false;
    for (; peek() != '"' && peek() != '\''; ++at_) raw = raw || peek() != 'u';
    const char quote = peek();
    const std::string three(3, quote);
    const bool is_long = python_.substr(at_).starts_with(three);
    const std::string_view end = is_long ? std::string_view(three) : std::string_view(three).substr(0, 1);
    at_ += end.size();
    std::string out;
    while (at_ < python_.size() && !python_.substr(at_).starts_with(end)) {
      if (python_[at_] == '\n' && !is_long) return std::nullopt;
      if (python_[at_] != '\\' || at_ + 1 == python_.size()) {
        out.push_back(python_[at_++]);
      } else if (raw) {
        out += python_.substr(at_, 2);
        at_ += 2;
      } else if (!escape(out)) {
        return std::nullopt;
      }
    }
    if (at_ >= python_.size()) return std::nullopt;
    at_ += end.size();
    return out;
  }

  // A backslash outside raw literals; those that name nothing stay as they are, as in Python.
  bool escape(std::string& out) {
    const char kind = python_[at_ + 1];
    constexpr std::string_view kFrom = "\\'\"nrtfv";
    constexpr std::string_view kTo = "\\'\"\n\r\t\f\v";
    at_ += 2;
    if (const std::size_t found = kFrom.find(kind); found != std::string_view::npos) {
      out.push_back(kTo[found]);
      return true;
    }
    const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (digits == 0) {
      if (kind != '\n') out += {'\\', kind};
      return true;
    }
    char32_t value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const auto next = digit(peek());
      if (!next) return false;
      value = value * 16 + *next;
      ++at_;
    }
    if (value > 0x10FFFF) return false;
    utf8::append(out, value);
    return true;
  }

  std::string_view python_;
  std::size_t at_;
  int open_ = 0;  // brackets that let an expression go on in the next line
};

// The places behind `NAME =`, `"NAME":` and `NAME: str =`.
std::optional<std::size_t> behind_assignment(std::string_view python, std::size_t end_of_name) {
  const auto skip = [&](std::size_t at) {
    while (at < python.size() && (python[at] == ' ' || python[at] == '\t')) ++at;
    return at;
  };
  std::size_t at = end_of_name;
  const bool quoted = at < python.size() && (python[at] == '"' || python[at] == '\'');
  at = skip(at + (quoted ? 1 : 0));
  if (at >= python.size()) return std::nullopt;
  if (python[at] == ':' && !quoted) {  // an annotation
    while (at < python.size() && python[at] != '=' && python[at] != '\n') ++at;
  }
  if (at >= python.size() || python[at] != (quoted ? ':' : '=')) return std::nullopt;
  if (!quoted && at + 1 < python.size() && python[at + 1] == '=') return std::nullopt;
  return skip(at + 1);
}

std::optional<std::string> assigned(std::string_view python, std::string_view name) {
  for (std::size_t at = python.find(name); at != std::string_view::npos; at = python.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at > 0 && is_name(python[at - 1])) || (end < python.size() && is_name(python[end]))) continue;
    const auto value = behind_assignment(python, end);
    if (!value) continue;
    if (auto text = Literals(python, *value).expression(0)) return text;
  }
  return std::nullopt;
}

}  // namespace

TokenizerCode read_tokenizer_code(std::string_view python) {
  TokenizerCode code;
  for (const std::string_view name : kNames) {
    if (!code.pattern) code.pattern = assigned(python, name);
  }
  for (const std::string_view call : {"unicodedata.normalize(\"NFC\"", "unicodedata.normalize('NFC'"}) {
    code.nfc = code.nfc || python.find(call) != std::string_view::npos;
  }
  return code;
}

}  // namespace rondo::model
