#include "grammar/lark_reader.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include "base/utf8.h"
#include "grammar/definition.h"
#include "grammar/lark_rules.h"
#include "grammar/lower.h"
#include "grammar/pattern.h"
#include "grammar/schema.h"
#include "grammar/schema_check.h"
#include "grammar/spelling.h"

namespace rondo::grammar {
namespace {

constexpr int kMostNesting = 100;
constexpr std::string_view kJson = "%json ";
constexpr std::string_view kRegex = "%regex ";

class LarkReader {
 public:
  LarkReader(const LarkRules& rules, std::vector<std::string>& notes)
      : rules_(rules), notes_(notes), speller_(grammar_, Spelling::bare()) {}

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
    return is_plain_ ? std::move(grammar_) : lowered(grammar_);
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
    const LarkRule& from = *rules_.find(name);
    if (from.is_limited) notes_.push_back("`max_tokens` of the grammar's rule `" + name + "` is not enforced");
    if (from.is_lazy || !from.end.empty()) return shortest(from);
    is_terminal_ = names_terminal(name);
    std::string_view rest = from.text;
    const NodeId out = alternatives(rest, 0);
    if (!rest.empty())
      fail(ErrorCode::kInvalidArgument, "the grammar's rule `" + name + "` has an odd `" + rest.front() + "`");
    return out;
  }

  // The body of a rule whose text ends as soon as it may.
  NodeId shortest(const LarkRule& from) {
    std::vector<NodeId> parts{terminal(from.text)};
    if (!from.end.empty()) parts.push_back(terminal(from.end));
    const Node whole = grammar_.node(grammar_.sequence(parts));
    const bool has_parts = whole.kind == NodeKind::kSequence && whole.children.size() > 1;
    const std::vector<NodeId> ends(whole.children.begin() + (has_parts ? 1 : 0), whole.children.end());
    const auto body = has_parts ? until(whole.children.front(), grammar_.sequence(ends)) : std::nullopt;
    // Otherwise it may go on where it could have ended.
    return grammar_.sequence({body.value_or(grammar_.sequence(parts)), space_});
  }

  // A terminal that is written out, or named.
  NodeId terminal(std::string_view text) {
    for (int names = 0; names < kMostNesting && !text.empty() && std::ranges::all_of(text, is_lark_name); ++names) {
      const LarkRule* named = rules_.find(std::string(text));
      if (named == nullptr) break;
      text = named->text;
    }
    is_terminal_ = true;
    const NodeId out = alternatives(text, 0);
    if (!text.empty())
      fail(ErrorCode::kInvalidArgument, "the grammar has an odd `" + std::string(1, text.front()) + "`");
    return out;
  }

  // Free text up to the first of a few texts.  Returns nullopt for anything else.
  std::optional<NodeId> until(NodeId text, NodeId end) {
    constexpr std::size_t kMostExcluded = 8;
    const Node& free = grammar_.node(text);
    if (free.kind != NodeKind::kRepeat || free.least != 0 || free.most != kUnbounded) return std::nullopt;
    const CharSet characters = characters_of(free.children.front());
    const auto closings = texts_of(end);
    if (characters.empty() || !closings) return std::nullopt;
    std::vector<std::string> markers = *closings;
    const CharSet excluded = CharSet::all().without(characters);
    for (const CharSet::Range& range : excluded.ranges()) {
      for (char32_t one = range.first; one <= range.last; ++one) {
        if (markers.size() == closings->size() + kMostExcluded) return std::nullopt;
        utf8::append(markers.emplace_back(), one);
      }
    }
    std::vector<NodeId> ways;
    for (const std::string& closing : *closings) ways.push_back(grammar_.text(markers, closing));
    is_plain_ = false;
    return grammar_.choice(ways);
  }

  // The characters of a node that is one of them; none for any other node.
  [[nodiscard]] CharSet characters_of(NodeId id) const {
    const Node& node = grammar_.node(id);
    if (node.kind == NodeKind::kChars) return node.set;
    const std::u32string text = code_points(node.text);
    if (node.kind == NodeKind::kLiteral && text.size() == 1) return CharSet::of(text.front());
    CharSet out;
    if (node.kind != NodeKind::kChoice) return out;
    for (const NodeId child : node.children) {
      const CharSet some = characters_of(child);
      if (some.empty()) return some;
      out = out.united(some);
    }
    return out;
  }

  // The texts of a node, if they are few and none is empty.
  [[nodiscard]] std::optional<std::vector<std::string>> texts_of(NodeId id) const {
    constexpr std::size_t kMostTexts = 64;
    const Node& node = grammar_.node(id);
    std::vector<std::string> out;
    if (node.kind == NodeKind::kLiteral) return std::vector{node.text};
    if (node.kind == NodeKind::kChars) {
      for (const CharSet::Range& range : node.set.ranges()) {
        for (char32_t one = range.first; one <= range.last && out.size() <= kMostTexts; ++one)
          utf8::append(out.emplace_back(), one);
      }
    } else if (node.kind == NodeKind::kChoice || node.kind == NodeKind::kSequence) {
      const bool is_choice = node.kind == NodeKind::kChoice;
      if (!is_choice) out.emplace_back();
      for (const NodeId child : node.children) {
        const auto texts = texts_of(child);
        if (!texts || out.size() * texts->size() > kMostTexts) return std::nullopt;
        out = is_choice ? joined(std::move(out), *texts) : crossed(out, *texts);
      }
    }
    const bool has_empty = std::ranges::any_of(out, [](const std::string& text) { return text.empty(); });
    if (out.empty() || out.size() > kMostTexts || has_empty) return std::nullopt;
    return out;
  }

  static std::vector<std::string> joined(std::vector<std::string> all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  static std::vector<std::string> crossed(const std::vector<std::string>& all, const std::vector<std::string>& more) {
    std::vector<std::string> out;
    for (const std::string& begin : all) {
      for (const std::string& end : more) out.push_back(begin + end);
    }
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
        while (!rest.empty() && is_lark_name(rest.front())) rest.remove_prefix(1);
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
    if (rest.starts_with(kJson)) return json_text(value_behind(kJson, rest));
    if (rest.starts_with(kRegex)) return spaced(substring(value_behind(kRegex, rest)));
    if (std::string_view("%<@&~").find(first) != std::string_view::npos) {  // as llguidance extends the language
      fail(ErrorCode::kUnsupported, std::string("`") + first + "` of a grammar is not enforced");
      return grammar_.never();
    }
    if (!is_lark_name(first)) {
      fail(ErrorCode::kInvalidArgument, std::string("the grammar has an odd `") + first + "`");
      return grammar_.never();
    }
    std::size_t size = 0;
    while (size < rest.size() && is_lark_name(rest[size])) ++size;
    const std::string name(rest.substr(0, size));
    rest.remove_prefix(size);
    const bool is_count = rest.size() > 1 && (std::isdigit(static_cast<unsigned char>(rest[1])) != 0 || rest[1] == ',');
    if (rest.starts_with('{') && !is_count) fail(ErrorCode::kUnsupported, "templates of a grammar are not enforced");
    const NodeId out = rule(name);
    return names_terminal(name) ? spaced(out) : out;
  }

  const json::Value& value_behind(std::string_view word, std::string_view& rest) {
    rest.remove_prefix(word.size());
    return rules_.values()[number(rest)];
  }

  // JSON as llguidance writes it for the options in a schema: its client reads no other white space.
  static Spelling json_spelling(const json::Value& schema) {
    Spelling out = Spelling::json();
    const json::Value* options = schema.find("x-guidance");
    const json::Value* is_flexible = options == nullptr ? nullptr : options->find("whitespace_flexible");
    if (is_flexible == nullptr || *is_flexible != json::Value(false)) return out;
    const auto separator = [options](std::string_view key, const char* otherwise) {
      return std::string(options->find_string(key).value_or(otherwise));
    };
    out.separators = {.item = separator("item_separator", ","), .key = separator("key_separator", ":")};
    return out;
  }

  // A value by a JSON schema.
  NodeId json_text(const json::Value& schema) {
    if (const auto fault = schema_fault(schema))
      fail(ErrorCode::kInvalidArgument, "the schema of `%json` is not valid: " + fault->sentence);
    if (error_) return grammar_.never();
    Grammar own;
    SchemaContext context;
    SchemaCompiler compiler(own, schema, "`%json`", context);
    const RuleId root = own.declare("json");
    own.define(root, compiler.value(compiler.root(), Speller(own, json_spelling(schema)), "json"));
    own.set_root(root);
    if (!context.limit.empty()) fail(ErrorCode::kUnsupported, context.limit);
    notes_.insert(notes_.end(), context.warnings.sentences().begin(), context.warnings.sentences().end());
    return spaced(spelled(speller_, lowered(own)));
  }

  // Some of the parts of a text that follow each other, or none.
  NodeId substring(const json::Value& value) {
    const json::Value* chunks = value.find("substring_chunks");
    const auto is_text = [](const json::Value& chunk) { return chunk.is_string(); };
    if (chunks == nullptr || !chunks->is_array() || !std::ranges::all_of(chunks->as_array(), is_text)) {
      fail(ErrorCode::kUnsupported, "`%regex` of a grammar is not enforced");
      return grammar_.never();
    }
    std::vector<NodeId> ways;
    NodeId behind = grammar_.empty();
    for (auto chunk = chunks->as_array().rbegin(); chunk != chunks->as_array().rend(); ++chunk) {
      const RuleId here = grammar_.declare("substring");
      grammar_.define(here, grammar_.sequence({grammar_.literal(chunk->as_string()), behind}));
      ways.push_back(grammar_.reference(here));
      behind = grammar_.optional(ways.back());
    }
    return grammar_.optional(grammar_.choice(ways));
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
    if (size == 0) fail(ErrorCode::kInvalidArgument, "a number is missing in the grammar");
    rest.remove_prefix(size);
    return static_cast<std::uint32_t>(value);
  }

  NodeId repeated(NodeId part, std::string_view& rest) {
    skip(rest);
    const char mark = rest.empty() ? '\0' : rest.front();
    if (mark == '?' || mark == '*' || mark == '+') {
      rest.remove_prefix(1);
      return grammar_.repeat(part, mark == '+' ? 1 : 0, mark == '?' ? 1 : kUnbounded);
    }
    if (mark != '~' && mark != '{') return part;
    rest.remove_prefix(1);
    const bool has_brace = mark == '{';
    const std::string_view between = has_brace ? "," : "..";
    const std::uint32_t least = has_brace && rest.starts_with(between) ? 0 : number(rest);
    std::uint32_t most = least;
    if (rest.starts_with(between)) {
      rest.remove_prefix(between.size());
      skip(rest);
      most = has_brace && rest.starts_with('}') ? kUnbounded : number(rest);
    }
    if (has_brace) skip(rest);
    if (has_brace && !rest.starts_with('}')) fail(ErrorCode::kInvalidArgument, "a `{` of the grammar has no end");
    if (has_brace && !rest.empty()) rest.remove_prefix(1);
    if (least > most) fail(ErrorCode::kInvalidArgument, "the numbers of a repetition in the grammar are out of order");
    return grammar_.repeat(part, least, most);
  }

  const LarkRules& rules_;
  std::vector<std::string>& notes_;
  Grammar grammar_;
  Speller speller_;
  std::map<std::string, RuleId> ids_;
  std::vector<std::string> open_;  // rules that are used and not yet read
  NodeId space_{};
  bool is_plain_ = true;      // whether each node is one that every engine knows
  bool is_terminal_ = false;  // whether what is read is part of a terminal
  std::optional<Error> error_;
};

}  // namespace

Result<Grammar> read_lark(std::string_view definition, std::vector<std::string>& notes) {
  LarkRules rules;
  if (const Status read = rules.read(definition); !read.ok()) return read.error();
  return LarkReader(rules, notes).run();
}

}  // namespace rondo::grammar
