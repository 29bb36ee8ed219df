#include "model/python_text.h"

#include <algorithm>
#include <utility>

#include "base/hex.h"
#include "base/utf8.h"

namespace rondo::model {
namespace {

constexpr std::size_t kTextBytes = 1 << 16;  // of one text; real ones have some 3 KB
// Texts that refer to each other may grow with each line.
constexpr std::size_t kAllBytes = 1 << 22;
constexpr std::size_t kConstants = 1000;
constexpr std::size_t kDictionaryEntries = 1000;

// Reads a Python expression of string literals: adjacent literals, sums, parentheses, "SEPARATOR".join([...]), and
// names of `known` texts.
class Literals {
 public:
  // `known` may be null.
  Literals(std::string_view python, std::size_t at, const json::Object* known = nullptr)
      : python_(python), at_(at), known_(known) {}

  // Nothing if it is any other expression.
  std::optional<std::string> expression(int depth) {
    std::optional<std::string> text;
    for (bool more = true; more;) {
      auto part = operand(depth);
      if (!part) return std::nullopt;
      text = text.value_or("") + *part;
      if (text->size() > kTextBytes) return std::nullopt;
      skip();
      more = take('+') || starts_literal() || (depth > 0 && peek() == '(');
    }
    return text;
  }

  // The same, or a dictionary of texts, up to the end of its statement.
  std::optional<json::Value> statement() {
    std::optional<json::Value> value;
    if (peek() == '{') {
      value = dictionary();
    } else if (auto text = expression(0)) {
      value = json::Value(*std::move(text));
    }
    skip();
    const bool ends = at_ >= python_.size() || peek() == '\n' || peek() == ';';
    return ends ? value : std::nullopt;
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
        // A line end ends the expression unless something keeps it open.
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
    auto text = starts_literal() ? literal() : named();
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
      if (!part || out.size() > kTextBytes) return std::nullopt;
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

  std::optional<json::Value> dictionary() {
    json::Object out;
    ++open_;
    take('{');
    skip();
    while (peek() != '}') {
      const auto key = expression(1);
      if (!key || !take(':')) return std::nullopt;
      const auto value = expression(1);
      if (!value || out.size() == kDictionaryEntries) return std::nullopt;
      out.set(*key, *value);
      if (!take(',') && peek() != '}') return std::nullopt;
    }
    --open_;
    take('}');
    return json::Value(std::move(out));
  }

  // A constant defined earlier.
  std::optional<std::string> named() {
    const std::size_t begin = at_;
    while (at_ < python_.size() && is_name_byte(python_[at_])) ++at_;
    const json::Value* found = known_ == nullptr ? nullptr : known_->find(python_.substr(begin, at_ - begin));
    if (found == nullptr || !found->is_string()) return std::nullopt;
    return found->as_string();
  }

  // REQUIRES: starts_literal().
  std::optional<std::string> literal() {
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

  // A backslash outside raw literals.  As in Python, one without a meaning stays as it is.
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
      const auto next = hex::digit(peek());
      if (!next) return false;
      value = value * 16 + *next;
      ++at_;
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return false;
    utf8::append(out, value);
    return true;
  }

  std::string_view python_;
  std::size_t at_;
  const json::Object* known_;
  int open_ = 0;  // open brackets, inside which an expression continues on the next line
};

// The offset after a string literal whose quote is at `at`.
std::size_t behind_literal(std::string_view python, std::size_t at) {
  const std::string three(3, python[at]);
  const bool is_long = python.substr(at).starts_with(three);
  const std::string_view end = is_long ? std::string_view(three) : std::string_view(three).substr(0, 1);
  for (at += end.size(); at < python.size(); ++at) {
    if (python.substr(at).starts_with(end)) return at + end.size();
    if (python[at] == '\\')
      ++at;
    else if (python[at] == '\n' && !is_long)
      return at;  // damaged
  }
  return python.size();
}

// The start of the statement after the one at `at`.  Brackets and literals may contain line ends.
std::size_t next_statement(std::string_view python, std::size_t at) {
  for (int open = 0; at < python.size();) {
    const char c = python[at];
    if (c == '#') {
      at = std::min(python.find('\n', at), python.size());
    } else if (c == '"' || c == '\'') {
      at = behind_literal(python, at);
    } else {
      at += c == '\\' ? 2 : 1;
      if (c == '\n' && open <= 0) return at;
      open += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    }
  }
  return python.size();
}

// Python reads every line end as a line feed.
std::string with_line_feeds(std::string_view python) {
  std::string out;
  out.reserve(python.size());
  for (std::size_t i = 0; i < python.size(); ++i) {
    if (python[i] != '\r') {
      out.push_back(python[i]);
    } else if (i + 1 == python.size() || python[i + 1] != '\n') {
      out.push_back('\n');
    }
  }
  return out;
}

std::size_t bytes_of(const json::Value& value) {
  if (value.is_string()) return value.as_string().size();
  std::size_t sum = 0;
  for (const json::Member& member : value.as_object()) sum += member.key.size() + member.value.as_string().size();
  return sum;
}

}  // namespace

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

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

std::optional<std::string> python_text(std::string_view python, std::size_t at) {
  return Literals(python, at).expression(0);
}

Result<json::Object> python_constants(std::string_view code) {
  const std::string python = with_line_feeds(code);
  json::Object out;
  std::size_t bytes = 0;
  for (std::size_t at = 0; at < python.size(); at = next_statement(python, at)) {
    std::size_t end = at;
    while (end < python.size() && is_name_byte(python[end])) ++end;
    if (end == at || end == python.size() || python[end] == '"' || python[end] == '\'') continue;
    const std::string name = python.substr(at, end - at);
    std::size_t sign = end;
    while (sign < python.size() && python[sign] == ' ') ++sign;
    if (std::string_view(python).substr(sign).starts_with("+=")) out.erase(name);
    const auto place = behind_assignment(python, end);
    if (!place) continue;
    auto value = Literals(python, *place, &out).statement();
    if (!value) {
      out.erase(name);
      continue;
    }
    bytes += bytes_of(*value);
    if (bytes > kAllBytes || out.size() == kConstants)
      return Error(ErrorCode::kLimit, "the Python file has more constants than rondo reads");
    out.set(name, *std::move(value));
  }
  return out;
}

}  // namespace rondo::model
