#include "grammar/spelling.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"
#include "format/escapes.h"
#include "json/print.h"

namespace rondo::grammar {
namespace {

constexpr char32_t kLastAscii = 0x7F;

struct ShortEscape {
  char32_t code_point;
  char letter;
};
constexpr std::array<ShortEscape, 5> kShortEscapes = {
    {{U'\n', 'n'}, {U'\r', 'r'}, {U'\t', 't'}, {U'\b', 'b'}, {U'\f', 'f'}}};

CharSet hex_digits() { return CharSet::any_of("0123456789abcdefABCDEF"); }

// Returns the digit's spellings in lower and upper case.
CharSet hex_digit(unsigned value) {
  CharSet out;
  if (value < 10) {
    out.add(U'0' + value, U'0' + value);
  } else {
    out.add(U'a' + value - 10, U'a' + value - 10);
    out.add(U'A' + value - 10, U'A' + value - 10);
  }
  return out;
}

NodeId hex_of(Grammar& grammar, char32_t code_point, int digits) {
  std::vector<NodeId> parts;
  for (int i = digits - 1; i >= 0; --i)
    parts.push_back(
        grammar.chars(hex_digit(static_cast<unsigned>(code_point >> (4U * static_cast<unsigned>(i))) & 15U)));
  return grammar.sequence(parts);
}

}  // namespace

Spelling Spelling::python() {
  Spelling out;
  out.strings = Strings::kPython;
  out.true_word = "True";
  out.false_word = "False";
  out.null_word = "None";
  return out;
}

Spelling Spelling::delimited(std::string open, std::string close) {
  Spelling out;
  out.strings = Strings::kDelimited;
  out.open = std::move(open);
  out.close = std::move(close);
  out.bare_keys = true;
  return out;
}

Spelling Spelling::bare() {
  Spelling out;
  out.strings = Strings::kBare;
  return out;
}

NodeId white_space(Grammar& grammar, std::uint32_t least, std::uint32_t most) {
  return grammar.token(grammar.repeat(grammar.chars(CharSet::any_of(" \t\r\n")), least, most));
}

// White space that is written as escapes begins as what follows it may: each character is a lexeme of its own then, which
// ends at once.
NodeId Speller::comma() const {
  if (spelling_.separators) return grammar_->literal(spelling_.separators->item);
  return grammar_->sequence({space(), grammar_->literal(","), space()});
}

NodeId Speller::colon() const {
  if (spelling_.separators) return grammar_->literal(spelling_.separators->key);
  return grammar_->sequence({space(), grammar_->literal(":"), space()});
}

NodeId Speller::space() const {
  if (spelling_.separators) return grammar_->empty();
  const bool is_escaped = std::ranges::any_of(grammar_->escapes(), [](const format::Escape& escape) {
    return escape.text.find_first_of(" \t\r\n") != std::string::npos;
  });
  if (!is_escaped) return white_space(*grammar_, 0, kMostSpace);
  return grammar_->repeat(grammar_->token(grammar_->chars(CharSet::any_of(" \t\r\n"))), 0, kMostSpace);
}

std::string_view Speller::quotes() const { return spelling_.strings == Spelling::Strings::kPython ? "'\"" : "\""; }

Speller Speller::within(char quote) const {
  Speller out = *this;
  out.quote_ = quote;
  return out;
}

NodeId Speller::wrapped(NodeId content) const {
  switch (spelling_.strings) {
    case Spelling::Strings::kBare: return grammar_->token(content);
    case Spelling::Strings::kDelimited:
      return grammar_->token(
          grammar_->sequence({grammar_->literal(spelling_.open), content, grammar_->literal(spelling_.close)}));
    default: break;
  }
  const NodeId quote = grammar_->literal(std::string_view(&quote_, 1));
  return grammar_->token(grammar_->sequence({quote, content, quote}));
}

// Returns the characters that stand for themselves.
CharSet Speller::plain() const {
  CharSet taken;
  if (spelling_.strings == Spelling::Strings::kDelimited || spelling_.strings == Spelling::Strings::kBare) {
    // A pattern's characters must not spell the closing text.  It is enough to leave out its first character.
    if (!spelling_.close.empty()) {
      const char32_t first = utf8::decode(spelling_.close, 0).code_point;
      taken.add(first, first);
    }
    return taken.complement();
  }
  taken.add(0, 0x1F);
  taken.add(U'\\', U'\\');
  taken.add(static_cast<char32_t>(quote_), static_cast<char32_t>(quote_));
  return taken.complement();
}

NodeId Speller::escape(char32_t code_point) const {
  const bool is_python = spelling_.strings == Spelling::Strings::kPython;
  std::vector<NodeId> ways;
  for (const ShortEscape& escape : kShortEscapes) {
    if (escape.code_point == code_point) ways.push_back(grammar_->literal(std::string{'\\', escape.letter}));
  }
  if (code_point == U'\\' || code_point == static_cast<char32_t>(quote_))
    ways.push_back(grammar_->literal(std::string{'\\', static_cast<char>(code_point)}));
  if (is_python && code_point < 0x100)
    ways.push_back(grammar_->sequence({grammar_->literal("\\x"), hex_of(*grammar_, code_point, 2)}));
  if (ways.empty()) ways.push_back(grammar_->sequence({grammar_->literal("\\u"), hex_of(*grammar_, code_point, 4)}));
  return grammar_->choice(ways);
}

// The escapes \u0080 to \uffff and surrogate pairs, if `set` has nearly everything beyond ASCII.  A class may leave out
// some white space; its escapes are accepted all the same.
NodeId Speller::unicode_escapes(const CharSet& set) const {
  CharSet ascii;
  ascii.add(0, kLastAscii);
  constexpr char32_t kFew = 64;
  char32_t missing = 0;
  const CharSet others = set.united(ascii).complement();
  for (const CharSet::Range& range : others.ranges()) missing += range.last - range.first + 1;
  if (missing > kFew) return grammar_->never();
  Grammar& g = *grammar_;
  const NodeId hex = g.chars(hex_digits());
  const NodeId two = g.repeat(hex, 2, 2);
  const NodeId three = g.repeat(hex, 3, 3);
  const auto digits = [&g](std::string_view which) { return g.chars(CharSet::any_of(which)); };
  const NodeId single = g.choice({g.sequence({g.literal("00"), digits("89abcdefABCDEF"), hex}),
                                  g.sequence({g.literal("0"), digits("123456789abcdefABCDEF"), two}),
                                  g.sequence({digits("123456789abcABCefEF"), three}),
                                  g.sequence({digits("dD"), digits("01234567"), two})});
  const NodeId high = g.sequence({digits("dD"), digits("89abAB"), two});
  const NodeId low = g.sequence({digits("dD"), digits("cdefCDEF"), two});
  return g.sequence({g.literal("\\u"), g.choice({single, g.sequence({high, g.literal("\\u"), low})})});
}

// Returns what may follow the backslash of a short escape for a character of `set`.
std::string Speller::escape_letters(const CharSet& set) const {
  std::string out = std::string(1, quote_) + "\\bfnrt";
  for (const ShortEscape& escape : kShortEscapes) {
    if (!set.contains(escape.code_point)) std::erase(out, escape.letter);
  }
  if (!set.contains(static_cast<char32_t>(quote_))) std::erase(out, quote_);
  if (!set.contains(U'\\')) std::erase(out, '\\');
  if (spelling_.strings == Spelling::Strings::kJson && set.contains(U'/')) out += '/';
  return out;
}

NodeId Speller::character(const CharSet& set) const {
  Grammar& g = *grammar_;
  const CharSet as_is = set.common(plain());
  std::vector<NodeId> ways{g.chars(as_is)};
  if (spelling_.strings == Spelling::Strings::kDelimited || spelling_.strings == Spelling::Strings::kBare)
    return g.choice(ways);
  const CharSet escaped = set.without(plain());
  // A set with many control characters is a negated class.  A list of all escapes is then shorter than one for each
  // character.
  constexpr char32_t kManyControls = 0x10;
  if (escaped.contains(0) && escaped.contains(kManyControls)) {
    ways.push_back(g.sequence({g.literal("\\"), g.chars(CharSet::any_of(escape_letters(set)))}));
    ways.push_back(g.sequence({g.literal(spelling_.strings == Spelling::Strings::kJson ? "\\u00" : "\\x"),
                               g.chars(CharSet::any_of("01")), g.chars(hex_digits())}));
  } else {
    for (const CharSet::Range& range : escaped.ranges()) {
      for (char32_t c = range.first; c <= range.last; ++c) ways.push_back(escape(c));
    }
  }
  ways.push_back(unicode_escapes(set));
  if (spelling_.strings == Spelling::Strings::kPython && set.contains(0x80) && set.contains(kLastAscii))
    ways.push_back(g.sequence({g.literal("\\x"), g.chars(CharSet::any_of("789abcdefABCDEF")), g.chars(hex_digits())}));
  return g.choice(ways);
}

// Characters beyond ASCII may be written as they are or as escapes, because writers of JSON do both.
NodeId Speller::content(std::string_view text) const {
  Grammar& g = *grammar_;
  if (!spelling_.escapes.empty()) return g.literal(format::escaped(text, spelling_.escapes));
  std::vector<NodeId> parts;
  const CharSet as_is = plain();
  const bool has_escapes =
      spelling_.strings == Spelling::Strings::kJson || spelling_.strings == Spelling::Strings::kPython;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    const char32_t c = next.code_point;
    const std::string_view bytes = next.valid ? text.substr(at, next.size) : "\xEF\xBF\xBD";
    at += next.size;
    if (has_escapes && !as_is.contains(c)) {
      parts.push_back(escape(c));
    } else if (!has_escapes || c <= kLastAscii) {
      parts.push_back(g.literal(bytes));
    } else if (c <= 0xFFFF) {
      parts.push_back(g.choice({g.literal(bytes), g.sequence({g.literal("\\u"), hex_of(g, c, 4)})}));
    } else {
      const char32_t offset = c - 0x10000;
      const NodeId pair = g.sequence({g.literal("\\u"), hex_of(g, 0xD800 + (offset >> 10U), 4), g.literal("\\u"),
                                      hex_of(g, 0xDC00 + (offset & 0x3FFU), 4)});
      parts.push_back(g.choice({g.literal(bytes), pair}));
    }
  }
  return g.sequence(parts);
}

NodeId Speller::any_content(std::uint32_t least, std::uint32_t most) const {
  if (spelling_.strings == Spelling::Strings::kDelimited && least == 0 && most == kUnbounded)
    return grammar_->text({spelling_.close}, "");
  if (least > 0 || most != kUnbounded) return grammar_->repeat(character(CharSet::all()), least, most);
  return grammar_->any_number(any_character());
}

// One character with every escape that exists.  For strings whose characters nobody counts.
NodeId Speller::any_character() const {
  Grammar& g = *grammar_;
  const bool is_python = spelling_.strings == Spelling::Strings::kPython;
  if (!is_python && spelling_.strings != Spelling::Strings::kJson) return character(CharSet::all());
  const NodeId hex = g.chars(hex_digits());
  const NodeId backslash = g.literal("\\");
  std::vector<NodeId> ways{
      g.chars(plain()), g.sequence({backslash, g.chars(CharSet::any_of(is_python ? "'\"\\bfnrtav0" : "\"\\/bfnrt"))}),
      g.sequence({g.literal("\\u"), g.repeat(hex, 4, 4)})};
  if (is_python) {
    ways.push_back(g.sequence({g.literal("\\x"), g.repeat(hex, 2, 2)}));
    ways.push_back(g.sequence({g.literal("\\U"), g.repeat(hex, 8, 8)}));
  }
  return g.choice(ways);
}

NodeId Speller::any_string() const {
  if (spelling_.strings == Spelling::Strings::kDelimited) {
    return grammar_->token(
        grammar_->sequence({grammar_->literal(spelling_.open), grammar_->text({}, spelling_.close)}));
  }
  return quoted([](const Speller& inner) { return inner.any_content(0, kUnbounded); });
}

NodeId Speller::string(std::string_view text) const {
  return quoted([text](const Speller& inner) { return inner.content(text); });
}

NodeId Speller::key(std::string_view name) const {
  if (!spelling_.bare_keys) return string(name);
  Spelling bare = spelling_;
  bare.strings = Spelling::Strings::kBare;
  return grammar_->choice({Speller(*grammar_, bare).content(name), string(name)});
}

NodeId Speller::key_except(const std::vector<std::string>& names) const {
  Grammar& g = *grammar_;
  if (spelling_.bare_keys) {
    CharSet taken = CharSet::any_of(":,{}[]\"'<> \n\t\r");
    if (!spelling_.open.empty()) {
      const char32_t first = utf8::decode(spelling_.open, 0).code_point;
      taken.add(first, first);
    }
    std::vector<std::string> words{""};
    words.insert(words.end(), names.begin(), names.end());
    return g.token(g.except(g.chars(taken.complement()), words));
  }
  return quoted([&names](const Speller& inner) {
    Grammar& grammar = inner.grammar();
    // Escapes for characters that need none are not accepted.  Each name then has one spelling and can be left out.
    const NodeId character = inner.character(CharSet::all());
    std::vector<std::string> words;
    for (const std::string& name : names) {
      if (utf8::is_valid(name)) words.push_back(name);
    }
    std::erase_if(words, [&](const std::string& word) {
      for (std::size_t at = 0; at < word.size();) {
        const utf8::Decoded next = utf8::decode(word, at);
        if (!inner.plain().contains(next.code_point)) return true;
        at += next.size;
      }
      return false;
    });
    return grammar.except(character, words);
  });
}

NodeId Speller::integer() const {
  Grammar& g = *grammar_;
  const NodeId digits = g.repeat(g.chars(CharSet::range('0', '9')), 0, kUnbounded);
  return g.token(g.sequence({g.optional(g.literal("-")),
                             g.choice({g.literal("0"), g.sequence({g.chars(CharSet::range('1', '9')), digits})})}));
}

NodeId Speller::number() const {
  Grammar& g = *grammar_;
  const NodeId digit = g.chars(CharSet::range('0', '9'));
  const NodeId fraction = g.sequence({g.literal("."), g.repeat(digit, 1, kUnbounded)});
  const NodeId exponent = g.sequence(
      {g.chars(CharSet::any_of("eE")), g.optional(g.chars(CharSet::any_of("+-"))), g.repeat(digit, 1, kUnbounded)});
  const NodeId whole = g.choice({g.literal("0"), g.sequence({g.chars(CharSet::range('1', '9')), g.any_number(digit)})});
  return g.token(g.sequence({g.optional(g.literal("-")), whole, g.optional(fraction), g.optional(exponent)}));
}

NodeId Speller::boolean() const {
  return grammar_->choice({grammar_->literal(spelling_.true_word), grammar_->literal(spelling_.false_word)});
}

// The number as it was sent, and as Python prints it.
NodeId Speller::constant_number(const json::Value& value) const {
  const json::Number number{value.number(), value.kind() == json::Kind::kFloat};
  return grammar_->choice({grammar_->literal(number.text), grammar_->literal(json::python_number(number))});
}

NodeId Speller::constant(const json::Value& value) const {
  Grammar& g = *grammar_;
  switch (value.kind()) {
    case json::Kind::kNull: return null();
    case json::Kind::kBool: return g.literal(value.as_bool() ? spelling_.true_word : spelling_.false_word);
    case json::Kind::kInteger:
    case json::Kind::kFloat: return constant_number(value);
    case json::Kind::kString: return string(value.as_string());
    case json::Kind::kArray: {
      std::vector<NodeId> parts{g.literal("["), space()};
      for (std::size_t i = 0; i < value.as_array().size(); ++i) {
        if (i > 0) parts.push_back(comma());
        parts.push_back(constant(value.as_array()[i]));
      }
      parts.insert(parts.end(), {space(), g.literal("]")});
      return g.sequence(parts);
    }
    case json::Kind::kObject: {
      std::vector<NodeId> parts{g.literal("{"), space()};
      bool is_first = true;
      for (const json::Member& member : value.as_object()) {
        if (!is_first) parts.push_back(comma());
        is_first = false;
        parts.insert(parts.end(), {key(member.key), colon(), constant(member.value)});
      }
      parts.insert(parts.end(), {space(), g.literal("}")});
      return g.sequence(parts);
    }
  }
  return g.never();
}

}  // namespace rondo::grammar
