#include "grammar/lark_pattern.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace rondo::grammar {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 10U;  // of a definition, and of each sequence in the pattern
constexpr int kMostNesting = 100;

constexpr std::array<std::pair<std::string_view, std::string_view>, 19> kCommon = {{
    {"CNAME", "[_a-zA-Z][_a-zA-Z0-9]*"},
    {"CR", "\\r"},
    {"DECIMAL", "(?:[0-9]+\\.[0-9]*|\\.[0-9]+)"},
    {"DIGIT", "[0-9]"},
    {"ESCAPED_STRING", "\"(?:[^\"\\\\\\n]|\\\\.)*\""},
    {"FLOAT", "(?:[0-9]+[eE][+\\-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)(?:[eE][+\\-]?[0-9]+)?)"},
    {"HEXDIGIT", "[a-fA-F0-9]"},
    {"INT", "[0-9]+"},
    {"LCASE_LETTER", "[a-z]"},
    {"LETTER", "[a-zA-Z]"},
    {"LF", "\\n"},
    {"NEWLINE", "(?:\\r?\\n)+"},
    {"NUMBER", "(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+\\-]?[0-9]+)?"},
    {"SIGNED_INT", "[+\\-]?[0-9]+"},
    {"SIGNED_NUMBER", "[+\\-]?(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:[eE][+\\-]?[0-9]+)?"},
    {"UCASE_LETTER", "[A-Z]"},
    {"WORD", "[a-zA-Z]+"},
    {"WS", "[ \\t\\f\\r\\n]+"},
    {"WS_INLINE", "[ \\t]+"},
}};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view stripped(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

// Returns the offset after the quoted text or regular expression that begins at `at`; npos if it has no end.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  bool in_class = false;
  for (std::size_t i = at + 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (quote == '/' && (text[i] == '[' || text[i] == ']')) {
      in_class = text[i] == '[';
    } else if (text[i] == quote && !in_class) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

// The rules of a definition: their names, and the text after the colon of each.
class Rules {
 public:
  // Joins the lines of each rule.  A line that begins with `|`, or is indented and begins no rule, continues the rule
  // before it.
  Status read(std::string_view text) {
    std::string statement;
    std::size_t at = 0;
    while (at < text.size()) {
      std::string line = next_line(text, at);
      const std::string_view bare = stripped(line);
      if (bare.empty()) continue;
      const bool is_indented = std::isspace(static_cast<unsigned char>(line.front())) != 0;
      const bool goes_on = bare.front() == '|' || (is_indented && !begins_rule(bare));
      if (!goes_on || statement.empty()) {
        if (Status taken = take(statement); !taken.ok()) return taken;
        statement.clear();
      }
      statement += ' ';
      statement += bare;
    }
    return take(statement);
  }
  [[nodiscard]] const std::string* find(const std::string& name) const {
    const auto found = rules_.find(name);
    return found == rules_.end() ? nullptr : &found->second;
  }

 private:
  // Returns the text up to the end of the line, without a comment.  Moves `at` to the next line.
  static std::string next_line(std::string_view text, std::size_t& at) {
    std::string out;
    while (at < text.size() && text[at] != '\n') {
      const bool is_comment = text.substr(at, 2) == "//" || (text[at] == '#' && stripped(out).empty());
      if (is_comment) {
        at = std::min(text.find('\n', at), text.size());
        break;
      }
      const bool is_quoted = text[at] == '"' || text[at] == '/';
      const std::size_t end = is_quoted ? end_of_quoted(text, at) : at + 1;
      const std::size_t stop = end == std::string_view::npos ? at + 1 : end;
      out += text.substr(at, stop - at);
      at = stop;
    }
    ++at;
    return out;
  }

  // Whether the line is a directive, or begins with a name, perhaps a priority, and a colon.
  static bool begins_rule(std::string_view line) {
    if (line.front() == '%')
      return !line.starts_with("%json") && !line.starts_with("%regex") && !line.starts_with("%lark");
    const std::size_t end = line.find_first_of(":\"/|()");
    if (end == std::string_view::npos || line[end] != ':') return false;
    line = stripped(line.substr(0, end));
    return std::ranges::none_of(line, [](char c) { return c == ' ' || c == '\t'; });
  }

  Status take(std::string_view statement) {
    statement = stripped(statement);
    if (statement.empty()) return Done{};
    if (statement.front() == '%') return directive(statement);
    if (statement.front() == '}') return Error(ErrorCode::kUnsupported, "JSON in a grammar is not enforced");
    const std::size_t colon = statement.find(':');
    if (colon == std::string_view::npos)
      return Error(ErrorCode::kInvalidArgument, "the grammar has a line that is no rule: " + std::string(statement));
    std::string_view name = stripped(statement.substr(0, colon));
    while (!name.empty() && (name.front() == '?' || name.front() == '!')) name.remove_prefix(1);
    name = stripped(name.substr(0, name.find('.')));  // a priority may follow the name
    if (name.empty() || !std::ranges::all_of(name, is_name))
      return Error(ErrorCode::kUnsupported, "`" + std::string(name) + "` is no plain rule of a grammar");
    rules_[std::string(name)] = stripped(statement.substr(colon + 1));
    return Done{};
  }

  Status directive(std::string_view statement) {
    constexpr std::string_view kImport = "%import common.";
    if (!statement.starts_with(kImport))
      return Error(ErrorCode::kUnsupported,
                   "`" + std::string(statement.substr(0, statement.find(' '))) + "` of a grammar is not enforced");
    std::string_view name = stripped(statement.substr(kImport.size()));
    std::string_view own = name;
    if (const std::size_t arrow = name.find("->"); arrow != std::string_view::npos) {
      own = stripped(name.substr(arrow + 2));
      name = stripped(name.substr(0, arrow));
    }
    const auto found = std::ranges::find(kCommon, name, [](const auto& one) { return one.first; });
    if (found == kCommon.end())
      return Error(ErrorCode::kUnsupported, "`common." + std::string(name) + "` of a grammar is not known");
    rules_[std::string(own)] = "/" + std::string(found->second) + "/";
    return Done{};
  }

  std::map<std::string, std::string> rules_;
};

class Writer {
 public:
  explicit Writer(const Rules& rules) : rules_(rules) {}

  Result<std::string> run() {
    std::string out = "^" + rule("start") + "$";
    if (error_) return *error_;
    return out;
  }

 private:
  void fail(ErrorCode code, std::string sentence) {
    if (!error_) error_ = Error(code, std::move(sentence));
  }

  std::string rule(const std::string& name) {
    const std::string* body = rules_.find(name);
    if (body == nullptr) fail(ErrorCode::kInvalidArgument, "the grammar has no rule `" + name + "`");
    if (error_) return "";
    if (!open_.insert(name).second) {
      fail(ErrorCode::kUnsupported, "the grammar's rule `" + name + "` refers to itself, which is not enforced");
      return "";
    }
    std::string_view rest = *body;
    std::string out = alternatives(rest, 0);
    if (!rest.empty())
      fail(ErrorCode::kInvalidArgument, "the grammar's rule `" + name + "` has an odd `" + rest.front() + "`");
    open_.erase(name);
    return out;
  }

  static void skip(std::string_view& rest) { rest = stripped(rest); }

  // Reads alternatives from the front of `rest`, and leaves the text after them in it.
  std::string alternatives(std::string_view& rest, int depth) {
    if (depth > kMostNesting) fail(ErrorCode::kUnsupported, "the grammar's groups nest too deep to be enforced");
    std::string out = "(?:" + sequence(rest, depth);
    while (!error_ && rest.starts_with('|')) {
      rest.remove_prefix(1);
      out += "|" + sequence(rest, depth);
    }
    return out + ")";
  }

  std::string sequence(std::string_view& rest, int depth) {
    std::string out;
    for (skip(rest); !error_ && !rest.empty(); skip(rest)) {
      if (rest.starts_with("->")) {  // an alias: a name for the syntax tree
        rest = stripped(rest.substr(2));
        while (!rest.empty() && is_name(rest.front())) rest.remove_prefix(1);
        continue;
      }
      if (rest.front() == '|' || rest.front() == ')' || rest.front() == ']') break;
      std::string part = atom(rest, depth);
      out += part + repetition(rest);
      if (out.size() > kMostBytes) fail(ErrorCode::kUnsupported, "the grammar is too large to be enforced");
    }
    return out;
  }

  std::string atom(std::string_view& rest, int depth) {
    const char first = rest.front();
    if (first == '(' || first == '[') {
      rest.remove_prefix(1);
      std::string inner = alternatives(rest, depth + 1);
      if (!rest.starts_with(first == '(' ? ')' : ']')) {
        fail(ErrorCode::kInvalidArgument, "a group of the grammar has no end");
        return "";
      }
      rest.remove_prefix(1);
      return first == '(' ? inner : inner + "?";
    }
    if (first == '"' || first == '/') return quoted(rest);
    if (std::string_view("%<@&~").find(first) != std::string_view::npos) {  // as llguidance extends the language
      fail(ErrorCode::kUnsupported, std::string("`") + first + "` of a grammar is not enforced");
      return "";
    }
    if (!is_name(first)) {
      fail(ErrorCode::kInvalidArgument, std::string("the grammar has an odd `") + first + "`");
      return "";
    }
    std::size_t size = 0;
    while (size < rest.size() && is_name(rest[size])) ++size;
    const std::string name(rest.substr(0, size));
    rest.remove_prefix(size);
    if (rest.starts_with('{')) fail(ErrorCode::kUnsupported, "templates of a grammar are not enforced");
    return rule(name);
  }

  std::string quoted(std::string_view& rest) {
    const std::size_t end = end_of_quoted(rest, 0);
    if (end == std::string_view::npos) {
      fail(ErrorCode::kInvalidArgument, "a text of the grammar has no end");
      return "";
    }
    const bool is_pattern = rest.front() == '/';
    const std::string_view inner = rest.substr(1, end - 2);
    rest.remove_prefix(end);
    bool ignores_case = false;
    while (!rest.empty() && std::isalpha(static_cast<unsigned char>(rest.front())) != 0) {
      ignores_case = rest.front() == 'i' && !is_pattern;
      if (!ignores_case) fail(ErrorCode::kUnsupported, "flags of a regular expression in a grammar are not enforced");
      rest.remove_prefix(1);
    }
    if (is_pattern) return "(?:" + std::string(inner) + ")";
    std::string low = text_pattern(inner, ignores_case);
    if (!rest.starts_with("..\"")) return low;
    rest.remove_prefix(2);
    const std::string high = quoted(rest);
    return "[" + low.substr(3, low.size() - 4) + "-" + high.substr(3, high.size() - 4) + "]";
  }

  static std::string text_pattern(std::string_view text, bool ignores_case) {
    std::string out = "(?:";
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '\\' && i + 1 < text.size()) {
        const char next = text[++i];
        const bool is_letter = std::isalnum(static_cast<unsigned char>(next)) != 0;
        out += is_letter ? std::string{'\\', next} : escaped(next);
      } else if (ignores_case && std::isalpha(static_cast<unsigned char>(c)) != 0) {
        out += {'[', static_cast<char>(std::tolower(c)), static_cast<char>(std::toupper(c)), ']'};
      } else {
        out += escaped(c);
      }
    }
    return out + ")";
  }

  static std::string escaped(char c) {
    const bool is_special = std::string_view(".^$|()*+?[]{}\\/-").find(c) != std::string_view::npos;
    return is_special ? std::string{'\\', c} : std::string(1, c);
  }

  static std::string digits(std::string_view& rest) {
    skip(rest);
    std::string out;
    while (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0) {
      out += rest.front();
      rest.remove_prefix(1);
    }
    return out;
  }

  std::string repetition(std::string_view& rest) {
    skip(rest);
    if (rest.empty()) return "";
    const char mark = rest.front();
    if (mark == '?' || mark == '*' || mark == '+') {
      rest.remove_prefix(1);
      return std::string(1, mark);
    }
    if (mark != '~') return "";
    rest.remove_prefix(1);
    std::string least = digits(rest);
    if (least.empty()) fail(ErrorCode::kInvalidArgument, "a number is missing behind `~` in the grammar");
    if (!rest.starts_with("..")) return "{" + least + "}";
    rest.remove_prefix(2);
    return "{" + least + "," + digits(rest) + "}";
  }

  const Rules& rules_;
  std::set<std::string> open_;
  std::optional<Error> error_;
};

}  // namespace

Result<std::string> lark_pattern(std::string_view definition) {
  if (definition.size() > kMostBytes) return Error(ErrorCode::kUnsupported, "the grammar is too large to be enforced");
  Rules rules;
  if (const Status read = rules.read(definition); !read.ok()) return read.error();
  return Writer(rules).run();
}

}  // namespace rondo::grammar
