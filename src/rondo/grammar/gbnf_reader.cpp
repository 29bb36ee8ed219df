#include "grammar/gbnf_reader.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace rondo::grammar {
namespace {

constexpr int kDeepestGbnfGroup = 200;

bool is_name_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '-' ||
         byte == '_';
}

class GbnfReader {
 public:
  explicit GbnfReader(std::string_view text) : text_(text) {}

  Result<Grammar> whole() {
    skip(true);
    while (at_ < text_.size() && !error_) rule();
    if (!error_ && rules_.find("root") == rules_.end()) fail("there is no rule `root`");
    for (const auto& [name, entry] : rules_) {
      at_ = entry.first_use;
      if (!entry.is_defined) fail("the rule `" + name + "` is used and not defined");
    }
    if (error_) return *error_;
    grammar_.set_root(rules_.find("root")->second.id);
    return std::move(grammar_);
  }

 private:
  struct Entry {
    RuleId id{};
    bool is_defined = false;
    std::size_t first_use = 0;  // offset
  };

  void fail(std::string message) {
    if (error_) return;
    const auto before = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    error_ = Error(ErrorCode::kInvalidArgument, std::move(message)).at(1 + static_cast<int>(before), 0);
  }

  // White space and comments; line ends only if `lines`.
  void skip(bool lines) {
    while (at_ < text_.size()) {
      const char byte = text_[at_];
      if (byte == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (byte == ' ' || byte == '\t' || (lines && (byte == '\n' || byte == '\r'))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  bool eat(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }

  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_byte(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Entry& entry(const std::string& name) {
    const auto found = rules_.find(name);
    if (found != rules_.end()) return found->second;
    return rules_.emplace(name, Entry{grammar_.declare(name), false, at_}).first->second;
  }

  // rule = name "::=" alternatives
  void rule() {
    const std::string rule_name = name();
    skip(false);
    if (rule_name.empty() || !eat("::=")) return fail("expected `name ::=`");
    skip(true);
    Entry& known = entry(rule_name);
    if (known.is_defined) return fail("the rule `" + rule_name + "` is defined twice");
    known.is_defined = true;
    const RuleId id = known.id;
    grammar_.define(id, alternatives(0));
  }

  NodeId alternatives(int depth) {
    if (depth > kDeepestGbnfGroup) fail("groups nest too deep");
    std::vector<NodeId> ways{sequence(depth)};
    while (!error_ && eat("|")) ways.push_back(sequence(depth));
    return grammar_.choice(ways);
  }

  // A rule may go on in the next line, unless that line begins another rule.
  NodeId sequence(int depth) {
    std::vector<NodeId> parts;
    for (skip(true); at_ < text_.size() && !error_; skip(true)) {
      const char byte = text_[at_];
      NodeId part{};
      if (byte == '"') {
        part = literal();
      } else if (byte == '[') {
        part = char_class();
      } else if (byte == '(') {
        ++at_;
        part = alternatives(depth + 1);
        if (!eat(")")) fail("`(` without `)`");
      } else if (byte == '.') {
        ++at_;
        part = grammar_.chars(CharSet::all());
      } else if (byte == '<' || byte == '!') {
        fail("a token, which is not read here: spell its text");
      } else if (is_name_byte(byte) && !begins_rule()) {
        part = grammar_.reference(entry(name()).id);
      } else {
        break;
      }
      parts.push_back(repeated(part));
    }
    return grammar_.sequence(parts);
  }

  [[nodiscard]] bool begins_rule() const {
    std::size_t at = at_;
    while (at < text_.size() && is_name_byte(text_[at])) ++at;
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
    return text_.substr(at).starts_with("::=");
  }

  NodeId repeated(NodeId part) {
    while (at_ < text_.size() && !error_) {
      if (eat("*")) {
        part = grammar_.any_number(part);
      } else if (eat("+")) {
        part = grammar_.repeat(part, 1, kUnbounded);
      } else if (eat("?")) {
        part = grammar_.optional(part);
      } else if (eat("{")) {
        const std::uint32_t least = number();
        std::uint32_t most = least;
        if (eat(",")) most = text_.substr(at_).starts_with('}') ? kUnbounded : number();
        if (!eat("}")) fail("`{` without `}`");
        if (least > most) fail("a repetition whose bounds are out of order");
        part = grammar_.repeat(part, least, most);
      } else {
        break;
      }
    }
    return part;
  }

  std::uint32_t number() {
    std::uint64_t value = 0;
    const std::size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      value = std::min<std::uint64_t>(value * 10 + static_cast<unsigned>(text_[at_] - '0'), kUnbounded - 1);
      ++at_;
    }
    if (at_ == begin) fail("expected a number");
    return static_cast<std::uint32_t>(value);
  }

  char32_t character() {
    if (at_ >= text_.size()) {
      fail("the text ends inside a literal or class");
      return {};
    }
    if (text_[at_] != '\\') {
      const utf8::Decoded next = utf8::decode(text_, at_);
      at_ += next.size;
      return next.code_point;
    }
    ++at_;
    const char kind = at_ < text_.size() ? text_[at_++] : '\0';
    switch (kind) {
      case 'b': return U'\b';
      case 'f': return U'\f';
      case 'n': return U'\n';
      case 'r': return U'\r';
      case 't': return U'\t';
      case 'v': return U'\v';
      case 'x': return hex(2);
      case 'u': return hex(4);
      case 'U': return hex(8);
      default: break;
    }
    const bool is_mark = kind > ' ' && kind < '\x7F' && !is_name_byte(kind);
    if (!is_mark && kind != '-' && kind != '_') fail("an unknown escape");
    return static_cast<char32_t>(static_cast<unsigned char>(kind));
  }

  char32_t hex(int digits) {
    std::uint32_t value = 0;
    for (int i = 0; i < digits; ++i) {
      const std::size_t digit = at_ < text_.size()
                                    ? std::string_view("0123456789abcdef0123456789ABCDEF").find(text_[at_])
                                    : std::string::npos;
      if (digit == std::string_view::npos) {
        fail("an escape without enough digits");
        return {};
      }
      value = value * 16 + static_cast<std::uint32_t>(digit % 16);
      ++at_;
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) fail("an escape of what is no character");
    return value;
  }

  NodeId literal() {
    ++at_;
    std::string out;
    while (!error_ && !text_.substr(at_).starts_with('"')) utf8::append(out, character());
    (void)eat("\"");
    return grammar_.literal(out);
  }

  NodeId char_class() {
    ++at_;
    const bool is_negated = eat("^");
    CharSet set;
    while (!error_ && !text_.substr(at_).starts_with(']')) {
      const char32_t first = character();
      char32_t last = first;
      if (text_.substr(at_).starts_with('-') && !text_.substr(at_).starts_with("-]")) {
        ++at_;
        last = character();
      }
      if (first > last) fail("a range whose ends are out of order");
      if (!error_) set.add(first, last);
    }
    (void)eat("]");
    return grammar_.chars(is_negated ? set.complement() : set);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Grammar grammar_;
  std::map<std::string, Entry, std::less<>> rules_;
  std::optional<Error> error_;
};

}  // namespace

Result<Grammar> read_gbnf(std::string_view text) { return GbnfReader(text).whole(); }

}  // namespace rondo::grammar
