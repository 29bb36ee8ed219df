#include "grammar/lark_rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "base/printing.h"
#include "json/reader.h"

namespace rondo::grammar {
namespace {

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

// Returns the offset of the colon behind the name of a rule; npos if the line begins no rule.
std::size_t colon_of(std::string_view line) {
  std::size_t depth = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (depth == 0 && c == ':') return at;
    if (c == '[') ++depth;
    if (c == ']' && depth > 0) --depth;
    const bool is_quote = c == '"' || c == '/';
    if (depth == 0 && (is_quote || c == '|' || c == '(' || c == ')')) return std::string_view::npos;
    if (!is_quote) continue;
    const std::size_t end = end_of_quoted(line, at);
    if (end == std::string_view::npos) return end;
    at = end - 1;
  }
  return std::string_view::npos;
}

// Whether the line is a directive, or begins with a name, perhaps a priority, and a colon.
bool begins_rule(std::string_view line) {
  if (line.front() == '%')
    return !line.starts_with("%json") && !line.starts_with("%regex") && !line.starts_with("%lark");
  const std::size_t colon = colon_of(line);
  if (colon == std::string_view::npos) return false;
  line = stripped(line.substr(0, std::min(colon, line.find('['))));
  return std::ranges::none_of(line, [](char c) { return c == ' ' || c == '\t'; });
}

// Reads `key` or `key=value` of the brackets behind a rule's name.
Status take_option(std::string_view option, LarkRule& rule) {
  const std::size_t equals = option.find('=');
  const std::string_view key = stripped(option.substr(0, equals));
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : stripped(option.substr(equals + 1));
  // What the client wants to know of the text, and how the engine samples it, limits nothing.
  if (key == "capture" || key == "stop_capture" || key == "temperature") return Done{};
  if (key == "max_tokens") return rule.is_limited = true, Done{};
  if (key == "lazy") return rule.is_lazy = true, Done{};
  if (key != "stop" && key != "suffix")
    return Error(ErrorCode::kUnsupported, "`[" + std::string(key) + "]` of a grammar is not enforced");
  rule.end = value;
  return Done{};
}

Status take_options(std::string_view list, LarkRule& rule) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    if (at < list.size() && (list[at] == '"' || list[at] == '/')) {
      const std::size_t end = end_of_quoted(list, at);
      if (end == std::string_view::npos) return Error(ErrorCode::kInvalidArgument, "a text of the grammar has no end");
      at = end - 1;
    } else if (at == list.size() || list[at] == ',') {
      if (Status taken = take_option(list.substr(begin, at - begin), rule); !taken.ok()) return taken;
      begin = at + 1;
    }
  }
  return Done{};
}

}  // namespace

bool is_lark_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

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

Status LarkRules::read(std::string_view text) {
  std::string statement;
  std::size_t at = 0;
  while (at < text.size()) {
    std::string line = next_line(text, at);
    if (!status_.ok()) return status_;
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

const LarkRule* LarkRules::find(const std::string& name) const {
  const auto found = rules_.find(name);
  return found == rules_.end() ? nullptr : &found->second;
}

// Returns the text up to the end of the line, without a comment.  Moves `at` to the next line, or behind a value of
// several lines.
std::string LarkRules::next_line(std::string_view text, std::size_t& at) {
  std::string out;
  while (at < text.size() && text[at] != '\n') {
    const bool is_comment = text.substr(at, 2) == "//" || (text[at] == '#' && stripped(out).empty());
    if (is_comment) {
      at = std::min(text.find('\n', at), text.size());
      break;
    }
    constexpr std::array<std::string_view, 3> kValued = {"%json", "%regex", "%llguidance"};
    const auto word = std::ranges::find_if(
        kValued, [rest = text.substr(at)](std::string_view known) { return rest.starts_with(known); });
    if (word != kValued.end()) {
      out += take_value(*word, text, at);
      continue;
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

// Reads the value behind one of these words, which may have several lines.
std::string LarkRules::take_value(std::string_view word, std::string_view text, std::size_t& at) {
  json::Reader reader(text, at + word.size());
  at += word.size();
  json::Value value;
  if (reader.value(value)) {
    at = reader.at();
  } else {
    status_ = Error(ErrorCode::kInvalidArgument, "the value behind `" + std::string(word) +
                                                     "` of the grammar is no JSON: " + reader.error().message);
  }
  values_.push_back(std::move(value));
  return std::string(word) + " " + std::to_string(values_.size() - 1) + " ";
}

Status LarkRules::take(std::string_view statement) {
  statement = stripped(statement);
  if (statement.empty()) return Done{};
  if (statement.front() == '%') return directive(statement);
  const std::size_t colon = colon_of(statement);
  if (colon == std::string_view::npos)
    return Error(ErrorCode::kInvalidArgument,
                 "the grammar has a line that is no rule: " + printing::excerpt(statement));
  std::string_view name = stripped(statement.substr(0, colon));
  while (!name.empty() && (name.front() == '?' || name.front() == '!')) name.remove_prefix(1);
  LarkRule rule;
  if (const std::size_t bracket = name.find('['); bracket != std::string_view::npos && name.ends_with(']')) {
    const std::string_view options = name.substr(bracket + 1, name.size() - bracket - 2);
    if (Status taken = take_options(options, rule); !taken.ok()) return taken;
    name = name.substr(0, bracket);
  }
  name = stripped(name.substr(0, name.find('.')));  // a priority may follow the name
  if (name.empty() || !std::ranges::all_of(name, is_lark_name))
    return Error(ErrorCode::kUnsupported, "`" + std::string(name) + "` is no plain rule of a grammar");
  rule.text = stripped(statement.substr(colon + 1));
  rules_[std::string(name)] = std::move(rule);
  return Done{};
}

Status LarkRules::directive(std::string_view statement) {
  constexpr std::string_view kImport = "%import common.";
  constexpr std::string_view kIgnore = "%ignore ";
  constexpr std::string_view kOptions = "%llguidance ";  // of the engine that reads the grammar
  if (statement.starts_with(kOptions)) return Done{};
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
  rules_[std::string(own)].text = "/" + std::string(found->second) + "/";
  return Done{};
}

}  // namespace rondo::grammar
