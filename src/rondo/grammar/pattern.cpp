#include "grammar/pattern.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/hex.h"
#include "base/utf8.h"
#include "grammar/matcher.h"

namespace rondo::grammar {
namespace {

// The most groups inside groups.  Nobody writes deeper ones, and parsing recurses.
constexpr int kDeepestPatternGroup = 64;

CharSet word_characters() {
  CharSet out = CharSet::any_of("_");
  out.add('0', '9');
  out.add('A', 'Z');
  out.add('a', 'z');
  return out;
}

CharSet space_characters() {
  CharSet out = CharSet::any_of("\t\n\v\f\r ");
  constexpr std::array<CharSet::Range, 8> kMore = {{{0xA0, 0xA0},
                                                    {0x1680, 0x1680},
                                                    {0x2000, 0x200A},
                                                    {0x2028, 0x2029},
                                                    {0x202F, 0x202F},
                                                    {0x205F, 0x205F},
                                                    {0x3000, 0x3000},
                                                    {0xFEFF, 0xFEFF}}};
  for (const CharSet::Range& range : kMore) out.add(range.first, range.last);
  return out;
}

CharSet line_characters() {
  CharSet ends = CharSet::any_of("\n\r");
  ends.add(0x2028, 0x2029);
  return ends.complement();
}

class PatternReader {
 public:
  PatternReader(const Speller& speller, std::string_view pattern)
      : speller_(speller), grammar_(speller.grammar()), text_(pattern) {}

  Result<NodeId> whole() {
    const Piece piece = alternatives(0);
    if (!error_ && at_ < text_.size()) fail(ErrorCode::kInvalidArgument, "`)` without `(`");
    if (error_) return *error_;
    return open_ends(piece);
  }

 private:
  // One way to match: what was read, and whether anchors say that the text begins and ends there.
  struct Way {
    NodeId node{};
    bool begins = false;
    bool ends = false;
  };
  struct Piece {
    std::vector<Way> ways;
  };

  void fail(ErrorCode code, std::string message) {
    if (!error_) error_ = Error(code, std::move(message));
  }

  [[nodiscard]] bool more() const { return at_ < text_.size() && !error_; }
  [[nodiscard]] bool eat(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }

  // Allows any text on each side that has no anchor.
  NodeId open_ends(const Piece& piece) {
    const NodeId anything = grammar_.any_number(speller_.character(CharSet::all()));
    std::vector<NodeId> ways;
    for (const Way& way : piece.ways) {
      ways.push_back(grammar_.sequence(
          {way.begins ? grammar_.empty() : anything, way.node, way.ends ? grammar_.empty() : anything}));
    }
    return grammar_.choice(ways);
  }

  // Joins the ways of a piece inside a pattern.  Fails if one has an anchor.
  NodeId plain(const Piece& piece) {
    std::vector<NodeId> ways;
    for (const Way& way : piece.ways) {
      if (way.begins || way.ends) fail(ErrorCode::kUnsupported, "an anchor in the middle");
      ways.push_back(way.node);
    }
    return grammar_.choice(ways);
  }

  // alternatives = sequence {"|" sequence}
  Piece alternatives(int depth) {
    Piece out;
    if (depth > kDeepestPatternGroup) {
      fail(ErrorCode::kUnsupported, "groups nested too deep");
      return out;
    }
    do {
      for (Way& way : sequence(depth).ways) out.ways.push_back(way);
    } while (more() && eat("|"));
    return out;
  }

  // Returns whether the sequence that is being read goes on.
  [[nodiscard]] bool more_in_sequence() const { return more() && text_[at_] != '|' && text_[at_] != ')'; }

  // Adds the anchors around a group to each way of the group.
  static Piece anchored(Piece group, const Way& anchors) {
    for (Way& way : group.ways) {
      way.begins = way.begins || anchors.begins;
      way.ends = way.ends || anchors.ends;
    }
    return group;
  }

  // sequence = ["^"] {term} ["$"].  A group that is the whole sequence keeps its anchors.
  Piece sequence(int depth) {
    Way way;
    std::vector<NodeId> parts;
    std::optional<Piece> only_group;
    std::size_t terms = 0;
    while (more_in_sequence()) {
      if (eat("^")) {
        if (terms > 0) fail(ErrorCode::kUnsupported, "an anchor in the middle");
        way.begins = true;
        continue;
      }
      if (eat("$")) {
        if (more_in_sequence()) fail(ErrorCode::kUnsupported, "an anchor in the middle");
        way.ends = true;
        continue;
      }
      if (only_group) parts.push_back(plain(*std::exchange(only_group, std::nullopt)));
      Term term = read_term(depth);
      ++terms;
      if (term.group && terms == 1) {
        only_group = std::move(term.group);
      } else {
        parts.push_back(term.group ? plain(*term.group) : term.node);
      }
    }
    if (only_group && terms == 1) return anchored(*std::move(only_group), way);
    way.node = grammar_.sequence(parts);
    return {{way}};
  }

  struct Term {
    NodeId node{};
    std::optional<Piece> group;  // instead of `node`, for a group without a quantifier
  };

  // term = atom [quantifier]
  Term read_term(int depth) {
    Term term;
    if (eat("(")) {
      term.group = group(depth);
    } else {
      term.node = atom();
    }
    std::uint32_t least = 0;
    std::uint32_t most = 0;
    if (!more() || !quantifier(least, most)) return term;
    (void)eat("?");
    const NodeId item = term.group ? plain(*term.group) : term.node;
    return {grammar_.repeat(item, least, most), std::nullopt};
  }

  Piece group(int depth) {
    const bool outside = dot_is_any_;
    for (const std::string_view look : {"?=", "?!", "?<=", "?<!"}) {
      if (text_.substr(at_).starts_with(look))
        fail(ErrorCode::kUnsupported, "look-around `(" + std::string(look) + "`");
    }
    if (eat("?<")) {
      while (more() && text_[at_] != '>') ++at_;
      (void)eat(">");
    } else if (eat("?s:")) {
      dot_is_any_ = true;
    } else if (eat("?-s:")) {
      dot_is_any_ = false;
    } else if (!eat("?:") && at_ < text_.size() && text_[at_] == '?') {
      fail(ErrorCode::kUnsupported, "a group that begins with `(?`");
    }
    Piece out = alternatives(depth + 1);
    dot_is_any_ = outside;
    if (!error_ && !eat(")")) fail(ErrorCode::kInvalidArgument, "`(` without `)`");
    return out;
  }

  bool quantifier(std::uint32_t& least, std::uint32_t& most) {
    if (eat("*")) return least = 0, most = kUnbounded, true;
    if (eat("+")) return least = 1, most = kUnbounded, true;
    if (eat("?")) return least = 0, most = 1, true;
    const std::size_t back = at_;
    if (!eat("{")) return false;
    const auto first = number();
    if (first) {
      least = most = *first;
      if (eat(",")) most = number().value_or(kUnbounded);
      if (eat("}")) {
        if (least > most) fail(ErrorCode::kInvalidArgument, "a quantifier whose bounds are out of order");
        return true;
      }
    }
    at_ = back;  // a `{` that begins no quantifier stands for itself
    return false;
  }

  std::optional<std::uint32_t> number() {
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      value = std::min<std::uint64_t>(value * 10 + static_cast<unsigned>(text_[at_] - '0'), kLargestCount);
      ++at_;
    }
    if (at_ == begin) return std::nullopt;
    return static_cast<std::uint32_t>(value);
  }

  NodeId atom() {
    if (eat("[")) return speller_.character(bracket());
    if (eat(".")) return speller_.character(dot_is_any_ ? CharSet::all() : line_characters());
    if (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '?')
      fail(ErrorCode::kInvalidArgument, "a quantifier without anything before it");
    return speller_.character(eat("\\") ? escape(false) : CharSet::of(next()));
  }

  char32_t next() {
    if (at_ >= text_.size()) return 0;
    const utf8::Decoded decoded = utf8::decode(text_, at_);
    at_ += decoded.size;
    return decoded.code_point;
  }

  // Reads the rest of an escape, after its backslash.
  CharSet escape(bool in_bracket) {
    if (at_ >= text_.size()) {
      fail(ErrorCode::kInvalidArgument, "`\\` at the end");
      return {};
    }
    const char32_t kind = next();
    switch (kind) {
      case U'd': return CharSet::range('0', '9');
      case U'D': return CharSet::range('0', '9').complement();
      case U'w': return word_characters();
      case U'W': return word_characters().complement();
      case U's': return space_characters();
      case U'S': return space_characters().complement();
      case U'n': return CharSet::of('\n');
      case U'r': return CharSet::of('\r');
      case U't': return CharSet::of('\t');
      case U'f': return CharSet::of('\f');
      case U'v': return CharSet::of('\v');
      case U'0': return CharSet::of(0);
      case U'x':
        if (text_.substr(at_).starts_with('{')) fail(ErrorCode::kUnsupported, "an escape `\\x{`");
        return CharSet::of(hex(2));
      case U'c': return CharSet::of(next() & 0x1FU);
      case U'u': return CharSet::of(unicode());
      case U'b':
        if (in_bracket) return CharSet::of('\b');
        [[fallthrough]];
      case U'B': fail(ErrorCode::kUnsupported, "a word boundary `\\b`"); return {};
      case U'p':
      case U'P': fail(ErrorCode::kUnsupported, "a Unicode property `\\p`"); return {};
      case U'k': fail(ErrorCode::kUnsupported, "a back-reference"); return {};
      default: break;
    }
    if (kind >= U'1' && kind <= U'9') fail(ErrorCode::kUnsupported, "a back-reference");
    return CharSet::of(kind);
  }

  char32_t hex(int digits) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i) {
      const std::optional<unsigned> digit = at_ < text_.size() ? hex::digit(text_[at_]) : std::nullopt;
      if (!digit) {
        fail(ErrorCode::kInvalidArgument, "an escape without enough digits");
        return 0;
      }
      value = value * 16 + *digit;
      ++at_;
    }
    return value;
  }

  char32_t unicode() {
    if (eat("{")) {
      char32_t value = 0;
      while (more() && text_[at_] != '}') value = std::min<char32_t>(value * 16 + hex(1), kLastCodePoint);
      (void)eat("}");
      return value;
    }
    const char32_t high = hex(4);
    if (high < 0xD800 || high > 0xDBFF || !text_.substr(at_).starts_with("\\u")) return high;
    at_ += 2;
    const char32_t low = hex(4);
    return 0x10000 + ((high - 0xD800) << 10U) + ((low - 0xDC00) & 0x3FFU);
  }

  // Reads the rest of a class, after its opening bracket.
  CharSet bracket() {
    const bool is_negated = eat("^");
    CharSet set;
    while (more() && text_[at_] != ']') {
      const CharSet first = eat("\\") ? escape(true) : CharSet::of(next());
      char32_t begin = 0;
      const bool is_range = first.is_single(begin) && text_.substr(at_).starts_with('-') && at_ + 1 < text_.size() &&
                            text_[at_ + 1] != ']';
      if (!is_range) {
        set = set.united(first);
        continue;
      }
      ++at_;
      const CharSet last = eat("\\") ? escape(true) : CharSet::of(next());
      char32_t end = 0;
      if (!last.is_single(end)) {
        set = set.united(first).united(last).united(CharSet::of('-'));
      } else if (begin > end) {
        fail(ErrorCode::kInvalidArgument, "a range whose ends are out of order");
      } else {
        set.add(begin, end);
      }
    }
    if (!error_ && !eat("]")) fail(ErrorCode::kInvalidArgument, "`[` without `]`");
    return is_negated ? set.complement() : set;
  }

  const Speller& speller_;
  Grammar& grammar_;
  std::string_view text_;
  std::size_t at_ = 0;
  bool dot_is_any_ = false;  // whether `.` takes the ends of lines
  std::optional<Error> error_;
};

}  // namespace

Result<NodeId> pattern_content(const Speller& speller, std::string_view pattern) {
  return PatternReader(speller, pattern).whole();
}

Status check_pattern(std::string_view pattern) {
  Grammar grammar;
  const auto content = pattern_content(Speller(grammar, Spelling::bare()), pattern);
  const bool is_valid = content.ok() || content.error().code == ErrorCode::kUnsupported;
  return is_valid ? Status(Done{}) : Status(content.error());
}

bool pattern_matches(std::string_view pattern, std::string_view text) {
  Grammar grammar;
  const Speller speller(grammar, Spelling::bare());
  const auto content = pattern_content(speller, pattern);
  if (!content.ok()) return false;
  const RuleId root = grammar.declare("root");
  grammar.define(root, content.value());
  grammar.set_root(root);
  return accepts(grammar, text);
}

std::string_view format_pattern(std::string_view format) {
  struct Known {
    std::string_view format;
    std::string_view pattern;
  };
#define RONDO_DATE "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
#define RONDO_TIME \
  "([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
#define RONDO_BYTE "(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
#define RONDO_IPV4 "(" RONDO_BYTE "\\.){3}" RONDO_BYTE
#define RONDO_LABEL "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
#define RONDO_H16 "[0-9A-Fa-f]{1,4}"
#define RONDO_LS32 "(" RONDO_H16 ":" RONDO_H16 "|" RONDO_IPV4 ")"
  static constexpr std::array<Known, 20> kKnown = {{
      {"date", "^" RONDO_DATE "$"},
      {"time", "^" RONDO_TIME "$"},
      {"date-time", "^" RONDO_DATE "[Tt ]" RONDO_TIME "$"},
      {"duration",
       "^P((([0-9]+D|[0-9]+M([0-9]+D)?|[0-9]+Y([0-9]+M([0-9]+D)?)?)(T([0-9]+H([0-9]+M([0-9]+S)?)?|[0-9]+M([0-9]+S)?|"
       "[0-9]+S))?)|T([0-9]+H([0-9]+M([0-9]+S)?)?|[0-9]+M([0-9]+S)?|[0-9]+S)|[0-9]+W)$"},
      {"uuid", "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"},
      {"email",
       "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@" RONDO_LABEL "(\\." RONDO_LABEL ")*$"},
      {"idn-email", "^[^@\\s]+@[^@\\s]+$"},
      {"hostname", "^" RONDO_LABEL "(\\." RONDO_LABEL ")*$"},
      {"idn-hostname", "^[^\\s./:@]+(\\.[^\\s./:@]+)*$"},
      {"ipv4", "^" RONDO_IPV4 "$"},
      {"ipv6", "^((" RONDO_H16 ":){6}" RONDO_LS32 "|::(" RONDO_H16 ":){5}" RONDO_LS32 "|(" RONDO_H16 ")?::(" RONDO_H16
               ":){4}" RONDO_LS32 "|((" RONDO_H16 ":)?" RONDO_H16 ")?::(" RONDO_H16 ":){3}" RONDO_LS32 "|((" RONDO_H16
               ":){0,2}" RONDO_H16 ")?::(" RONDO_H16 ":){2}" RONDO_LS32 "|((" RONDO_H16 ":){0,3}" RONDO_H16
               ")?::" RONDO_H16 ":" RONDO_LS32 "|((" RONDO_H16 ":){0,4}" RONDO_H16 ")?::" RONDO_LS32 "|((" RONDO_H16
               ":){0,5}" RONDO_H16 ")?::" RONDO_H16 "|((" RONDO_H16 ":){0,6}" RONDO_H16 ")?::)$"},
      {"uri", "^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=%-]*$"},
      {"uri-reference", "^[A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=%-]*$"},
      {"uri-template", "^[A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=%{}|-]*$"},
      {"url", "^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=%-]*$"},
      {"iri", "^[A-Za-z][A-Za-z0-9+.-]*:[^\\s<>\"{}|\\\\^`]*$"},
      {"iri-reference", "^[^\\s<>\"{}|\\\\^`]*$"},
      {"json-pointer", "^(/([^~/]|~[01])*)*$"},
      {"relative-json-pointer", "^(0|[1-9][0-9]*)(#|(/([^~/]|~[01])*)*)$"},
      {"byte", "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"},
  }};
#undef RONDO_DATE
#undef RONDO_TIME
#undef RONDO_BYTE
#undef RONDO_IPV4
#undef RONDO_LABEL
#undef RONDO_H16
#undef RONDO_LS32
  for (const Known& known : kKnown) {
    if (known.format == format) return known.pattern;
  }
  return "";
}

}  // namespace rondo::grammar
