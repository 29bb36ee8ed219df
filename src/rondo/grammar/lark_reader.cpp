#include "grammar/lark_reader.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "grammar/pattern.h"
#include "grammar/spelling.h"

namespace rondo::grammar {
namespace {

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
  // What may stand between the terminals of rules.
  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }

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
    name = stripped(name.substr(0, name.find('.')));     // a priority may follow the name
    constexpr std::string_view kCaptured = "[capture]";  // for the client, which wants to know what the rule takes
    if (name.ends_with(kCaptured)) name.remove_suffix(kCaptured.size());
    if (name.empty() || !std::ranges::all_of(name, is_name))
      return Error(ErrorCode::kUnsupported, "`" + std::string(name) + "` is no plain rule of a grammar");
    rules_[std::string(name)] = stripped(statement.substr(colon + 1));
    return Done{};
  }

  Status directive(std::string_view statement) {
    constexpr std::string_view kImport = "%import common.";
    constexpr std::string_view kIgnore = "%ignore ";
    constexpr std::string_view kOptions = "%llguidance ";  // of the engine that reads the grammar
    if (statement.starts_with(kOptions) && stripped(statement.substr(kOptions.size())) == "{}") return Done{};
    if (statement.starts_with(kIgnore)) {
      ignored_.emplace_back(stripped(statement.substr(kIgnore.size())));
      return Done{};
    }
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
  std::vector<std::string> ignored_;
};

class LarkReader {
 public:
  explicit LarkReader(const Rules& rules) : rules_(rules), speller_(grammar_, Spelling::bare()) {}

  Result<Grammar> run() {
    read_ignored();
    const RuleId root = grammar_.declare("root");
    grammar_.define(root, grammar_.sequence({space_, rule("start")}));
    while (!open_.empty() && !error_) {
      const std::string name = std::move(open_.back());
      open_.pop_back();
      grammar_.define(ids_.find(name)->second, body(name));
    }
    if (error_) return *error_;
    grammar_.set_root(root);
    return std::move(grammar_);
  }

 private:
  void fail(ErrorCode code, std::string sentence) {
    if (!error_) error_ = Error(code, std::move(sentence));
  }

  void read_ignored() {
    std::vector<NodeId> ways;
    is_terminal_ = true;
    for (std::string_view rest : rules_.ignored()) {
      ways.push_back(alternatives(rest, 0));
      if (!rest.empty())
        fail(ErrorCode::kInvalidArgument,
             "the grammar's `%ignore` has an odd `" + std::string(rest.substr(0, 1)) + "`");
    }
    is_terminal_ = false;
    space_ = ways.empty() ? grammar_.empty() : grammar_.any_number(grammar_.choice(ways));
  }

  // The rules are read one by one, so a long chain of them takes no stack.
  NodeId rule(const std::string& name) {
    const auto found = ids_.find(name);
    if (found != ids_.end()) return grammar_.reference(found->second);
    if (rules_.find(name) == nullptr) fail(ErrorCode::kInvalidArgument, "the grammar has no rule `" + name + "`");
    open_.push_back(name);
    return grammar_.reference(ids_.emplace(name, grammar_.declare(name)).first->second);
  }

  NodeId body(const std::string& name) {
    is_terminal_ = names_terminal(name);
    std::string_view rest = *rules_.find(name);
    const NodeId out = alternatives(rest, 0);
    if (!rest.empty())
      fail(ErrorCode::kInvalidArgument, "the grammar's rule `" + name + "` has an odd `" + rest.front() + "`");
    return out;
  }

  static bool names_terminal(std::string_view name) {
    const std::size_t first = name.find_first_not_of('_');
    return first != std::string_view::npos && std::isupper(static_cast<unsigned char>(name[first])) != 0;
  }

  static void skip(std::string_view& rest) { rest = stripped(rest); }

  // Reads alternatives from the front of `rest`, and leaves the text after them in it.
  NodeId alternatives(std::string_view& rest, int depth) {
    if (depth > kMostNesting) fail(ErrorCode::kUnsupported, "the grammar's groups nest too deep to be enforced");
    std::vector<NodeId> ways{sequence(rest, depth)};
    while (!error_ && rest.starts_with('|')) {
      rest.remove_prefix(1);
      ways.push_back(sequence(rest, depth));
    }
    return grammar_.choice(ways);
  }

  NodeId sequence(std::string_view& rest, int depth) {
    std::vector<NodeId> parts;
    for (skip(rest); !error_ && !rest.empty(); skip(rest)) {
      if (rest.starts_with("->")) {  // an alias: a name for the syntax tree
        rest = stripped(rest.substr(2));
        while (!rest.empty() && is_name(rest.front())) rest.remove_prefix(1);
        continue;
      }
      if (rest.front() == '|' || rest.front() == ')' || rest.front() == ']') break;
      const NodeId part = atom(rest, depth);
      parts.push_back(repeated(part, rest));
    }
    return grammar_.sequence(parts);
  }

  NodeId atom(std::string_view& rest, int depth) {
    const char first = rest.front();
    if (first == '(' || first == '[') {
      rest.remove_prefix(1);
      const NodeId inner = alternatives(rest, depth + 1);
      if (!rest.starts_with(first == '(' ? ')' : ']')) {
        fail(ErrorCode::kInvalidArgument, "a group of the grammar has no end");
        return inner;
      }
      rest.remove_prefix(1);
      return first == '(' ? inner : grammar_.optional(inner);
    }
    if (first == '"' || first == '/') return spaced(text(rest));
    if (std::string_view("%<@&~").find(first) != std::string_view::npos) {  // as llguidance extends the language
      fail(ErrorCode::kUnsupported, std::string("`") + first + "` of a grammar is not enforced");
      return grammar_.never();
    }
    if (!is_name(first)) {
      fail(ErrorCode::kInvalidArgument, std::string("the grammar has an odd `") + first + "`");
      return grammar_.never();
    }
    std::size_t size = 0;
    while (size < rest.size() && is_name(rest[size])) ++size;
    const std::string name(rest.substr(0, size));
    rest.remove_prefix(size);
    if (rest.starts_with('{')) fail(ErrorCode::kUnsupported, "templates of a grammar are not enforced");
    const NodeId out = rule(name);
    return names_terminal(name) ? spaced(out) : out;
  }

  // A terminal of a rule, and what may follow any of them.
  NodeId spaced(NodeId terminal) { return is_terminal_ ? terminal : grammar_.sequence({terminal, space_}); }

  // A text, a range or a regular expression.
  NodeId text(std::string_view& rest) {
    const std::string pattern = quoted(rest);
    if (error_) return grammar_.never();
    auto content = pattern_content(speller_, "^" + pattern + "$");
    if (content.ok()) return content.value();
    fail(content.error().code, content.error().message);
    return grammar_.never();
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
    if (!rest.starts_with("..\"")) return "(?:" + text_pattern(inner, ignores_case) + ")";
    rest.remove_prefix(2);
    const std::size_t high_end = end_of_quoted(rest, 0);
    const std::string_view high = high_end == std::string_view::npos ? "" : rest.substr(1, high_end - 2);
    if (ignores_case || !is_one_character(inner) || !is_one_character(high)) {
      fail(ErrorCode::kInvalidArgument, "a range of the grammar is not from one character to another");
      return "";
    }
    rest.remove_prefix(high_end);
    return "[" + text_pattern(inner, false) + "-" + text_pattern(high, false) + "]";
  }

  // Whether a quoted text is one character, or an escape of one.
  static bool is_one_character(std::string_view text) {
    if (text.empty() || text.front() != '\\') return !text.empty() && utf8::decode(text, 0).size == text.size();
    const char kind = text.size() > 1 ? text[1] : '\0';
    return text.size() == (kind == 'x' ? 4U : kind == 'u' ? 6U : 2U);
  }

  static std::string text_pattern(std::string_view text, bool ignores_case) {
    std::string out;
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
    return out;
  }

  static std::string escaped(char c) {
    const bool is_special = std::string_view(".^$|()*+?[]{}\\/-").find(c) != std::string_view::npos;
    return is_special ? std::string{'\\', c} : std::string(1, c);
  }

  std::uint32_t number(std::string_view& rest) {
    skip(rest);
    std::uint64_t value = 0;
    std::size_t size = 0;
    for (; size < rest.size() && std::isdigit(static_cast<unsigned char>(rest[size])) != 0; ++size)
      value = std::min<std::uint64_t>(value * 10 + static_cast<unsigned>(rest[size] - '0'), kLargestCount);
    if (size == 0) fail(ErrorCode::kInvalidArgument, "a number is missing behind `~` in the grammar");
    rest.remove_prefix(size);
    return static_cast<std::uint32_t>(value);
  }

  NodeId repeated(NodeId part, std::string_view& rest) {
    skip(rest);
    const char mark = rest.empty() ? '\0' : rest.front();
    if (mark != '?' && mark != '*' && mark != '+' && mark != '~') return part;
    rest.remove_prefix(1);
    if (mark == '?') return grammar_.optional(part);
    if (mark != '~') return grammar_.repeat(part, mark == '+' ? 1 : 0, kUnbounded);
    const std::uint32_t least = number(rest);
    std::uint32_t most = least;
    if (rest.starts_with("..")) {
      rest.remove_prefix(2);
      most = number(rest);
    }
    if (least > most) fail(ErrorCode::kInvalidArgument, "the numbers behind a `~` of the grammar are out of order");
    return grammar_.repeat(part, least, most);
  }

  const Rules& rules_;
  Grammar grammar_;
  Speller speller_;
  std::map<std::string, RuleId> ids_;
  std::vector<std::string> open_;  // rules that are used and not yet read
  NodeId space_{};
  bool is_terminal_ = false;  // whether what is read is part of a terminal
  std::optional<Error> error_;
};

}  // namespace

Result<Grammar> read_lark(std::string_view definition) {
  Rules rules;
  if (const Status read = rules.read(definition); !read.ok()) return read.error();
  return LarkReader(rules).run();
}

}  // namespace rondo::grammar
