#include "tokenizer/regex_dialect.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/utf8.h"

namespace rondo::tokenizer {
namespace {

using View = std::string_view;

constexpr int kMaxSetDepth = 32;

// The contents of sets for classes that PCRE2 defines differently or not at all.
constexpr View kWord =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})";
// Additions of the dialects: outside sets, Oniguruma uses a table for Latin-1 that contains the digits of Latin-1 too.
constexpr View kLatinDigits = R"(\xB2\xB3\xB9\xBC-\xBE)";
constexpr View kJoiners = R"(\x{200C}\x{200D})";
constexpr View kHexadecimal = "0-9a-fA-F";

// Includes characters that Unicode 16 adds to PCRE2's Unicode 14.
#define RONDO_ALPHABETIC R"(\p{Alphabetic}\x{363}-\x{36F}\x{F82}\x{F83}\x{1DD3}-\x{1DE6}\x{11080}\x{11081})"
#define RONDO_LOWERCASE R"(\p{Lowercase}\x{10FC}\x{A7F2}-\x{A7F4}\x{AB69})"

struct Name {
  View name;
  View body;
};
constexpr auto kClasses = std::to_array<Name>({
    {"alnum", RONDO_ALPHABETIC R"(\p{Nd})"},
    {"alpha", RONDO_ALPHABETIC},
    {"alphabetic", RONDO_ALPHABETIC},
    {"ascii", R"(\x00-\x7F)"},
    {"blank", R"(\p{Zs}\t)"},
    {"cntrl", R"(\p{Cc})"},
    {"digit", R"(\p{Nd})"},
    {"graph", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co})"},
    {"lower", RONDO_LOWERCASE},
    {"lowercase", RONDO_LOWERCASE},
    {"print", R"(\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs})"},
    {"punct", R"(\p{P})"},
    {"space", R"(\s)"},
    {"upper", R"(\p{Uppercase})"},
    {"word", kWord},
    {"xdigit", kHexadecimal},
    // General categories, which PCRE2 knows only by their letters.
    {"other", R"(\p{C})"},
    {"control", R"(\p{Cc})"},
    {"format", R"(\p{Cf})"},
    {"unassigned", R"(\p{Cn})"},
    {"privateuse", R"(\p{Co})"},
    {"surrogate", R"(\p{Cs})"},
    {"letter", R"(\p{L})"},
    {"lowercaseletter", R"(\p{Ll})"},
    {"modifierletter", R"(\p{Lm})"},
    {"otherletter", R"(\p{Lo})"},
    {"titlecaseletter", R"(\p{Lt})"},
    {"uppercaseletter", R"(\p{Lu})"},
    {"mark", R"(\p{M})"},
    {"combiningmark", R"(\p{M})"},
    {"spacingmark", R"(\p{Mc})"},
    {"enclosingmark", R"(\p{Me})"},
    {"nonspacingmark", R"(\p{Mn})"},
    {"number", R"(\p{N})"},
    {"decimalnumber", R"(\p{Nd})"},
    {"letternumber", R"(\p{Nl})"},
    {"othernumber", R"(\p{No})"},
    {"punctuation", R"(\p{P})"},
    {"connectorpunctuation", R"(\p{Pc})"},
    {"dashpunctuation", R"(\p{Pd})"},
    {"closepunctuation", R"(\p{Pe})"},
    {"finalpunctuation", R"(\p{Pf})"},
    {"initialpunctuation", R"(\p{Pi})"},
    {"otherpunctuation", R"(\p{Po})"},
    {"openpunctuation", R"(\p{Ps})"},
    {"symbol", R"(\p{S})"},
    {"currencysymbol", R"(\p{Sc})"},
    {"modifiersymbol", R"(\p{Sk})"},
    {"mathsymbol", R"(\p{Sm})"},
    {"othersymbol", R"(\p{So})"},
    {"separator", R"(\p{Z})"},
    {"lineseparator", R"(\p{Zl})"},
    {"paragraphseparator", R"(\p{Zp})"},
    {"spaceseparator", R"(\p{Zs})"},
});

// Names are compared without case, spaces, `_` and `-`.
std::optional<View> class_named(View name) {
  std::string plain;
  for (const char c : name) {
    if (c != ' ' && c != '_' && c != '-') plain.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  }
  for (const Name& entry : kClasses) {
    if (entry.name == plain) return entry.body;
  }
  return std::nullopt;
}

// A set of characters while it is read: what can be between brackets, and sets that cannot.
struct Set {
  std::string body;
  std::vector<std::string> others;  // expressions of one character each

  void add(View inside, bool negated) {
    if (negated) {
      others.push_back("[^" + std::string(inside) + "]");
    } else {
      body += inside;
    }
  }
  // An expression of one character.
  [[nodiscard]] std::string joined() const {
    if (others.empty()) return "[" + body + "]";
    std::string all = "(?:";
    for (const std::string& other : others) all += other + "|";
    if (!body.empty()) return all + "[" + body + "])";
    all.back() = ')';
    return all;
  }
};

class Translator {
 public:
  Translator(View pattern, Dialect dialect, const std::function<bool(View)>& is_script)
      : pattern_(pattern), oniguruma_(dialect == Dialect::kOniguruma), is_script_(is_script) {}

  std::string run() {
    while (at_ < pattern_.size()) {
      switch (pattern_[at_]) {
        case '\\': escape(); break;
        case '[': atom(set(0)); break;
        case '(': open(); break;
        case ')': close(); break;
        case '{': interval(); break;
        case '*':
        case '+':
        case '?':
        case '|': out_.push_back(pattern_[at_++]); break;
        default: atom(pattern_.substr(at_, utf8::decode(pattern_, at_).size), true); break;
      }
    }
    return std::move(out_);
  }

 private:
  // Option letters: `m` is what others write as `s`.
  [[nodiscard]] std::string word(bool in_set) const {
    return std::string(kWord) + std::string(!oniguruma_ ? kJoiners : in_set ? View() : kLatinDigits);
  }

  [[nodiscard]] View rest() const { return pattern_.substr(std::min(at_, pattern_.size())); }

  void atom(View text, bool consumes = false) {
    if (consumes) at_ += text.size();
    atom_ = out_.size();
    out_ += text;
  }

  void open() {
    groups_.push_back(out_.size());
    out_.push_back('(');
    ++at_;
    if (!rest().starts_with('?')) return;
    // Option letters: `m` is what others write as `s`.
    std::size_t end = at_ + 1;
    while (end < pattern_.size() && View("imsx-").find(pattern_[end]) != View::npos) ++end;
    const bool are_options = end > at_ + 1 && end < pattern_.size() && (pattern_[end] == ':' || pattern_[end] == ')');
    if (!are_options) {
      if (rest().starts_with("?#")) {
        end = std::min(pattern_.find(')', at_), pattern_.size());
      } else {
        end = at_ + 1;
      }
    }
    std::string options(pattern_.substr(at_, end - at_));
    if (oniguruma_ && are_options) std::replace(options.begin(), options.end(), 'm', 's');
    out_ += options;
    at_ = end;
  }

  void close() {
    out_.push_back(')');
    ++at_;
    if (groups_.empty()) return;
    atom_ = groups_.back();
    groups_.pop_back();
  }

  // Makes one atom of what was repeated so far.
  void wrap() {
    out_.insert(atom_, "(?:");
    out_.push_back(')');
  }

  // {n}, {n,}, {n,m} and Oniguruma's {,m}; any other brace is a character.
  void interval() {
    const std::size_t end = std::min(pattern_.find_first_not_of("0123456789,", at_ + 1), pattern_.size());
    const View inside = pattern_.substr(at_ + 1, end - at_ - 1);
    const std::size_t comma = inside.find(',');
    const bool is_interval = end < pattern_.size() && pattern_[end] == '}' && inside.size() > (comma == 0 ? 1U : 0U) &&
                             (comma == View::npos || inside.find(',', comma + 1) == View::npos) &&
                             (comma != 0 || oniguruma_);
    if (!is_interval) {
      ++at_;
      return atom("\\{");
    }
    out_ += "{" + std::string(comma == 0 ? "0" : "") + std::string(inside) + "}";
    at_ = end + 1;
    if (!oniguruma_) return;
    // After an interval, `+` is another repetition, and so is `?` after a fixed number.
    if (rest().starts_with('+') || (rest().starts_with('?') && comma == View::npos)) wrap();
  }

  // \p{...} and \P{...}, with at_ after the letter; nothing if there is no name.
  [[nodiscard]] bool property(char kind, bool in_set, Set& to) {
    if (!rest().starts_with('{')) return false;
    const std::size_t close = pattern_.find('}', at_);
    if (close == View::npos) return false;
    View name = pattern_.substr(at_ + 1, close - at_ - 1);
    at_ = close + 1;
    bool negated = kind == 'P';
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    if (const auto known = class_named(name)) {
      to.add(*known == kWord ? word(in_set) : std::string(*known), negated);
    } else {
      to.body += std::string(negated ? "\\P{" : "\\p{") + (is_script_(name) ? "sc:" : "") + std::string(name) + "}";
    }
    return true;
  }

  // A class or character after a backslash, with at_ at its letter.  False, and nothing read, if it is neither.
  [[nodiscard]] bool class_escape(bool in_set, Set& to) {
    const char kind = pattern_[at_++];
    if (kind == 'w' || kind == 'W') {
      to.add(word(in_set), kind == 'W');
    } else if (kind == 'h' || kind == 'H') {
      to.add(kHexadecimal, kind == 'H');
    } else if (kind == 'u' && pattern_.size() - at_ >= 4) {
      to.body += "\\x{" + std::string(pattern_.substr(at_, 4)) + "}";
      at_ += 4;
    } else if (kind == 'v' && oniguruma_) {
      to.body += "\\x0B";
    } else if ((kind != 'p' && kind != 'P') || !property(kind, in_set, to)) {
      --at_;
      return false;
    }
    return true;
  }

  void escape() {
    ++at_;
    if (at_ == pattern_.size()) return out_.push_back('\\');
    Set found;
    if (class_escape(false, found)) return atom(found.joined());
    const char kind = pattern_[at_];
    const auto around = [this](const char* before, const char* behind) {
      const std::string members = "[" + word(false) + "]";
      return std::string("(?<") + before + members + ")(?" + behind + members + ")";
    };
    if (kind == 'b' || kind == 'B') {
      ++at_;
      const char* same = kind == 'b' ? "!" : "=";
      const char* other = kind == 'b' ? "=" : "!";
      return atom("(?:" + around("=", same) + "|" + around("!", other) + ")");
    }
    if (kind == 'O' && oniguruma_) {
      ++at_;
      return atom("(?s:.)");
    }
    // Letters without a meaning represent themselves.
    if (oniguruma_ && View("ijlmqyIJLMTFYU").find(kind) != View::npos) return atom(pattern_.substr(at_, 1), true);
    std::size_t size = utf8::decode(pattern_, at_).size;
    // A brace after these letters is not an interval: \x{...}, \k{...} and the like.
    if (View("xokg").find(kind) != View::npos && pattern_.substr(at_ + 1).starts_with('{')) {
      size = std::min(pattern_.find('}', at_), pattern_.size() - 1) + 1 - at_;
    }
    atom("\\" + std::string(pattern_.substr(at_, size)));
    at_ += size;
  }

  // [:name:] or [:^name:] inside a set; false if it is something else.
  [[nodiscard]] bool posix(Set& to) {
    if (!rest().starts_with("[:")) return false;
    const std::size_t close = pattern_.find(":]", at_ + 2);
    if (close == View::npos) return false;
    View name = pattern_.substr(at_ + 2, close - at_ - 2);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    const auto known = class_named(name);
    if (!known) return false;
    // Symbols are punctuation only between brackets.
    to.add(name == "punct"   ? std::string(*known) + "\\p{S}"
           : *known == kWord ? word(true)
                             : std::string(*known),
           negated);
    at_ = close + 2;
    return true;
  }

  // Reads a member of a set: a class, another set or a character.
  void set_part(Set& to, int depth) {
    if (pattern_[at_] == '[') {
      if (posix(to)) return;
      to.others.push_back(set(depth + 1));
      return;
    }
    if (pattern_[at_] == '\\' && at_ + 1 < pattern_.size()) {
      ++at_;
      if (class_escape(true, to)) return;
      to.body.push_back('\\');
    }
    const std::size_t size = utf8::decode(pattern_, at_).size;
    to.body += pattern_.substr(at_, size);
    at_ += size;
  }

  // A bracketed set, with at_ at its bracket, as an expression of one character.
  std::string set(int depth) {
    ++at_;
    const bool negated = rest().starts_with('^');
    if (negated) ++at_;
    Set current;
    std::string sets;  // those before `&&`, as look-aheads
    if (rest().starts_with(']')) {
      current.body = "\\]";
      ++at_;
    }
    if (depth == kMaxSetDepth) return "(";  // the compiler refuses it
    while (at_ < pattern_.size() && pattern_[at_] != ']') {
      if (rest().starts_with("&&")) {
        sets += "(?=" + current.joined() + ")";
        current = {};
        at_ += 2;
      } else {
        set_part(current, depth);
      }
    }
    // An unclosed set stays unclosed, so that the compiler reports it.
    if (at_ >= pattern_.size()) return "[";
    ++at_;
    if (sets.empty() && current.others.empty()) return (negated ? "[^" : "[") + current.body + "]";
    const std::string whole = "(?:" + sets + current.joined() + ")";
    return negated ? "(?:(?!" + whole + ")(?s:.))" : whole;
  }

  View pattern_;
  bool oniguruma_;
  const std::function<bool(View)>& is_script_;
  std::size_t at_ = 0;
  std::size_t atom_ = 0;             // where the last atom starts in out_
  std::vector<std::size_t> groups_;  // where open groups start in out_
  std::string out_;
};

}  // namespace

std::string to_pcre2(View pattern, Dialect dialect, const std::function<bool(View)>& is_script) {
  return Translator(pattern, dialect, is_script).run();
}

}  // namespace rondo::tokenizer
