#include "jinja/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "base/hex.h"
#include "base/utf8.h"
#include "jinja/common/characters.h"
#include "jinja/common/options.h"
#include "jinja/common/place.h"
#include "unicode/case.h"

namespace rondo::jinja {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The size of the white-space character at `at`; 0 if there is none.
std::size_t space_size(std::string_view source, std::size_t at) {
  if (at >= source.size()) return 0;
  const auto byte = static_cast<unsigned char>(source[at]);
  if (byte < 0x80) return is_space(byte) ? 1 : 0;
  const utf8::Decoded decoded = utf8::decode(source, at);
  return decoded.valid && is_space(decoded.code_point) ? decoded.size : 0;
}

std::size_t skip_space(std::string_view source, std::size_t at) {
  for (std::size_t size = space_size(source, at); size != 0; size = space_size(source, at)) at += size;
  return at;
}

// The end of `text` without trailing white space.
std::size_t trimmed_end(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    std::size_t start = end - 1;
    while (start > 0 && utf8::is_continuation(text[start])) --start;
    if (space_size(text, start) != end - start) break;
    end = start;
  }
  return end;
}

bool is_name_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

// The size of the name character at `at`: one that Python's \w matches and its identifiers may contain.
std::size_t name_size(std::string_view source, std::size_t at) {
  if (at >= source.size()) return 0;
  if (static_cast<unsigned char>(source[at]) < 0x80) return is_name_byte(source[at]) ? 1 : 0;
  const utf8::Decoded decoded = utf8::decode(source, at);
  const char32_t c = decoded.code_point;
  return decoded.valid && (unicode::is_alphanumeric(c) || unicode::is_identifier_part(c)) ? decoded.size : 0;
}

// Python's str.isidentifier(), for a name whose characters name_size() accepted.
bool is_identifier(std::string_view name) {
  for (std::size_t at = 0; at < name.size();) {
    const utf8::Decoded decoded = utf8::decode(name, at);
    const char32_t c = decoded.code_point;
    if (!(at == 0 ? unicode::is_identifier_start(c) : unicode::is_identifier_part(c))) return false;
    at += decoded.size;
  }
  return true;
}

// The size of the digit at `at`; 0 if there is none.  From base 10 on it may be of any script, as those of Python's \d.
std::size_t digit_size(std::string_view source, std::size_t at, int base = 10) {
  if (at >= source.size()) return 0;
  const char c = source[at];
  if (static_cast<unsigned char>(c) < 0x80) {
    const bool is_of_base = base == 16 ? hex::digit(c).has_value() : c >= '0' && c < '0' + base;
    return is_of_base ? 1 : 0;
  }
  if (base < 10) return 0;
  const utf8::Decoded decoded = utf8::decode(source, at);
  return decoded.valid && unicode::decimal_value(decoded.code_point) >= 0 ? decoded.size : 0;
}

// (\d+_)*\d+ : digits separated by single underscores.  Returns the end, or `at` if there are none.
std::size_t skip_digits(std::string_view source, std::size_t at) {
  std::size_t end = at;
  for (std::size_t size = digit_size(source, end); size != 0; size = digit_size(source, end)) {
    end += size;
    if (end < source.size() && source[end] == '_' && digit_size(source, end + 1) != 0) ++end;
  }
  return end;
}

// A number as it is written, without underscores and in ASCII digits.
std::string plain_digits(std::string_view spelling) {
  std::string out;
  for (std::size_t at = 0; at < spelling.size();) {
    const utf8::Decoded decoded = utf8::decode(spelling, at);
    const int value = decoded.size == 1 ? -1 : unicode::decimal_value(decoded.code_point);
    if (value >= 0) {
      out += static_cast<char>('0' + value);
    } else if (spelling[at] != '_') {
      out += spelling[at];
    }
    at += decoded.size;
  }
  return out;
}

std::size_t float_end(std::string_view source, std::size_t at) {
  if (at > 0 && source[at - 1] == '.') return at;
  const std::size_t whole = skip_digits(source, at);
  if (whole == at) return at;
  std::size_t end = whole;
  if (end < source.size() && source[end] == '.') {
    const std::size_t fraction = skip_digits(source, end + 1);
    if (fraction > end + 1) end = fraction;
  }
  if (end < source.size() && lower(source[end]) == 'e') {
    std::size_t digits = end + 1;
    if (digits < source.size() && (source[digits] == '+' || source[digits] == '-')) ++digits;
    const std::size_t exponent = skip_digits(source, digits);
    if (exponent > digits) return exponent;
  }
  return end > whole ? end : at;
}

std::size_t integer_end(std::string_view source, std::size_t at) {
  if (at >= source.size() || !is_digit(source[at])) return at;
  const auto run = [&](std::size_t from, int base, auto accept) {
    std::size_t end = from;
    while (end < source.size()) {
      const std::size_t digit = source[end] == '_' ? end + 1 : end;
      const std::size_t size = digit_size(source, digit, base);
      if (size == 0 || !accept(source[digit])) break;
      end = digit + size;
    }
    return end;
  };
  const auto any = [](char) { return true; };
  if (source[at] != '0') return run(at + 1, 10, any);
  const char mark = at + 1 < source.size() ? lower(source[at + 1]) : '\0';
  const int base = mark == 'b' ? 2 : mark == 'o' ? 8 : mark == 'x' ? 16 : 0;
  if (base != 0) {
    const std::size_t end = run(at + 2, base, any);
    if (end > at + 2) return end;
  }
  return run(at + 1, 10, [](char c) { return c == '0'; });
}

struct Operator {
  std::string_view text;
  TokenKind kind;
};

// Longest first.
constexpr std::array<Operator, 26> kOperators = {{
    {"//", TokenKind::kFloorDiv}, {"**", TokenKind::kPow},      {"==", TokenKind::kEq},    {"!=", TokenKind::kNe},
    {">=", TokenKind::kGtEq},     {"<=", TokenKind::kLtEq},     {"+", TokenKind::kAdd},    {"-", TokenKind::kSub},
    {"/", TokenKind::kDiv},       {"*", TokenKind::kMul},       {"%", TokenKind::kMod},    {"~", TokenKind::kTilde},
    {"[", TokenKind::kLBracket},  {"]", TokenKind::kRBracket},  {"(", TokenKind::kLParen}, {")", TokenKind::kRParen},
    {"{", TokenKind::kLBrace},    {"}", TokenKind::kRBrace},    {">", TokenKind::kGt},     {"<", TokenKind::kLt},
    {"=", TokenKind::kAssign},    {".", TokenKind::kDot},       {":", TokenKind::kColon},  {"|", TokenKind::kPipe},
    {",", TokenKind::kComma},     {";", TokenKind::kSemicolon},
}};

// repr() of one character.
std::string quoted_char(std::string_view shown) {
  const char c = shown[0];
  if (c == '\'') return "\"'\"";
  std::string out(shown);
  if (c == '\\') out = "\\\\";
  if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) out = hex_escape(static_cast<unsigned char>(c));
  return "'" + out + "'";
}

// Decodes Python's backslash escapes as str.encode("ascii", "backslashreplace").decode("unicode-escape") does.
class Unescaper {
 public:
  explicit Unescaper(std::string_view text) : text_(text) {}

  // The text, or nothing after error() was set.
  std::optional<std::string> run() {
    while (at_ < text_.size()) {
      if (text_[at_] != '\\') {
        out_ += text_[at_++];
        continue;
      }
      ++at_;
      if (at_ >= text_.size()) {
        error_ = "\\ at end of string";
        return std::nullopt;
      }
      if (!escape()) return std::nullopt;
    }
    return std::move(out_);
  }
  const std::string& error() const { return error_; }

 private:
  bool escape() {
    const char c = text_[at_];
    if (static_cast<unsigned char>(c) >= 0x80) return escaped_non_ascii();
    if (c >= '0' && c <= '7') return octal();
    ++at_;
    switch (c) {
      case '\n': return true;
      case '\\': out_ += '\\'; return true;
      case '\'': out_ += '\''; return true;
      case '"': out_ += '"'; return true;
      case 'a': out_ += '\a'; return true;
      case 'b': out_ += '\b'; return true;
      case 'f': out_ += '\f'; return true;
      case 'n': out_ += '\n'; return true;
      case 'r': out_ += '\r'; return true;
      case 't': out_ += '\t'; return true;
      case 'v': out_ += '\v'; return true;
      case 'x': return code_point(2, "truncated \\xXX escape");
      case 'u': return code_point(4, "truncated \\uXXXX escape");
      case 'U': return code_point(8, "truncated \\UXXXXXXXX escape");
      // Character names would need a large table that no template uses.
      case 'N':
        error_ = text_.substr(at_, 1) == "{" && text_.find('}', at_) != std::string_view::npos
                     ? "unknown Unicode character name"
                     : "malformed \\N character escape";
        return false;
      default:
        out_ += '\\';
        out_ += c;
        return true;
    }
  }

  bool octal() {
    char32_t value = 0;
    for (int i = 0; i < 3 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++i) {
      value = value * 8 + static_cast<char32_t>(text_[at_++] - '0');
    }
    utf8::append(out_, value);
    return true;
  }

  bool code_point(std::size_t digits, const char* truncated) {
    const std::optional<std::uint32_t> value = hex::number(text_, at_, digits);
    if (!value) {
      error_ = truncated;
      return false;
    }
    if (*value > 0x10FFFF) {
      error_ = "illegal Unicode character";
      return false;
    }
    utf8::append(out_, *value);
    at_ += digits;
    return true;
  }

  // The reference has already replaced the character by its own escape: `\é` is `\\xe9`, which means a literal `\xe9`.
  bool escaped_non_ascii() {
    const utf8::Decoded decoded = utf8::decode(text_, at_);
    at_ += decoded.size;
    out_ += hex_escape(decoded.code_point);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  std::string error_;
};

class Lexer {
 public:
  Lexer(std::string_view source, const CompileOptions& options) : source_(source), options_(options) {}

  std::vector<Token> run() {
    tokens_.reserve(source_.size() / kBytesPerToken);
    while (!failed_ && pos_ < source_.size()) root();
    if (!failed_) add(TokenKind::kEnd, pos_, {});
    return std::move(tokens_);
  }

 private:
  static constexpr std::size_t kNone = std::string_view::npos;
  // Typical of real templates.  A wrong value only costs moving the tokens a few times.
  static constexpr std::size_t kBytesPerToken = 5;

  // Compares byte by byte: `text` is a constant of two or three bytes, and usually the first one differs.
  bool starts(std::size_t at, std::string_view text) const {
    if (at > source_.size() || text.size() > source_.size() - at) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (source_[at + i] != text[i]) return false;
    }
    return true;
  }

  // The place of byte `at`.  Tokens come in order, so counting continues from the last place.
  Place place(std::size_t at) {
    for (; line_end_ < at; line_end_ = source_.find('\n', line_start_)) {
      ++line_;
      line_start_ = line_end_ + 1;
    }
    return {line_, static_cast<std::int32_t>(at - line_start_ + 1)};
  }

  void add(TokenKind kind, std::size_t at, std::string text) { tokens_.push_back({kind, place(at), std::move(text)}); }
  void fail(std::size_t at, std::string message) {
    add(TokenKind::kError, at, std::move(message));
    failed_ = true;
  }

  // The end of the opening tag of {% raw %} if one starts at `at`, else kNone.
  std::size_t raw_begin_end(std::size_t at) const {
    std::size_t p = at + 2;
    if (p < source_.size() && (source_[p] == '-' || source_[p] == '+')) ++p;
    p = skip_space(source_, p);
    if (!starts(p, "raw")) return kNone;
    p = skip_space(source_, p + 3);
    if (starts(p, "-%}")) return skip_space(source_, p + 3);
    return starts(p, "%}") ? p + 2 : kNone;
  }

  // Adds the text [begin, end) before a tag, trimmed as the tag's sign asks.
  void add_data(std::size_t begin, std::size_t end, char sign, bool is_variable) {
    std::string_view text = source_.substr(begin, end - begin);
    if (sign == '-') {
      text = text.substr(0, trimmed_end(text));
    } else if (sign != '+' && options_.lstrip_blocks && !is_variable) {
      const std::size_t newline = text.rfind('\n');
      const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
      if ((line > 0 || line_starting_) && line < text.size() && skip_space(text, line) == text.size()) {
        text = text.substr(0, line);
      }
    }
    if (!text.empty()) add(TokenKind::kData, begin, std::string(text));
  }

  static char sign_at(std::string_view source, std::size_t at) {
    return at < source.size() && (source[at] == '-' || source[at] == '+') ? source[at] : '\0';
  }

  // Moves to the end of a tag, and records whether a line starts there.
  void move_to(std::size_t end) {
    line_starting_ = end > 0 && source_[end - 1] == '\n';
    pos_ = end;
  }

  // Reads text up to the next tag, and that tag.
  void root() {
    std::size_t open = pos_;
    for (;; ++open) {
      open = source_.find('{', open);
      if (open == kNone || open + 1 >= source_.size()) {
        add_rest();
        return;
      }
      const char second = source_[open + 1];
      if (second == '%' || second == '{' || second == '#') break;
    }
    const char second = source_[open + 1];
    const char sign = sign_at(source_, open + 2);
    add_data(pos_, open, sign, second == '{');
    if (second == '%') {
      const std::size_t raw = raw_begin_end(open);
      if (raw != kNone) {
        move_to(raw);
        raw_block(open);
        return;
      }
    }
    move_to(open + 2 + (sign == '\0' ? 0 : 1));
    if (second == '#') {
      comment(open);
    } else {
      add(second == '{' ? TokenKind::kVariableBegin : TokenKind::kBlockBegin, open, {});
      tag(second == '{');
    }
  }

  void add_rest() {
    add(TokenKind::kData, pos_, std::string(source_.substr(pos_)));
    pos_ = source_.size();
  }

  void comment(std::size_t open) {
    std::size_t close = source_.find("#}", pos_);
    if (close == kNone) {
      // A comment that ends with the source is not an error, in the reference either.
      if (pos_ < source_.size()) fail(open, "Missing end of comment tag");
      return;
    }
    const char sign = close > pos_ ? source_[close - 1] : '\0';
    close += 2;
    if (sign == '-') {
      close = skip_space(source_, close);
    } else if (sign != '+' && options_.trim_blocks && starts(close, "\n")) {
      ++close;
    }
    move_to(close);
  }

  // The end of a block tag whose `%}` (with sign) starts at `at`, or kNone.
  std::size_t block_end(std::size_t at) const {
    if (starts(at, "+%}")) return at + 3;
    if (starts(at, "-%}")) return skip_space(source_, at + 3);
    if (!starts(at, "%}")) return kNone;
    return options_.trim_blocks && starts(at + 2, "\n") ? at + 3 : at + 2;
  }

  void raw_block(std::size_t open) {
    for (std::size_t at = source_.find("{%", pos_); at != kNone; at = source_.find("{%", at + 1)) {
      const char sign = sign_at(source_, at + 2);
      std::size_t p = skip_space(source_, at + 2 + (sign == '\0' ? 0 : 1));
      if (!starts(p, "endraw")) continue;
      p = block_end(skip_space(source_, p + 6));
      if (p == kNone) continue;
      add_data(pos_, at, sign, false);
      move_to(p);
      return;
    }
    if (pos_ < source_.size()) fail(open, "Missing end of raw directive");
  }

  // Reads the tokens of one tag, including its end.
  void tag(bool is_variable) {
    std::string brackets;  // closing brackets still expected
    while (!failed_) {
      if (brackets.empty()) {
        const std::size_t end = is_variable ? variable_end(pos_) : block_end(pos_);
        if (end != kNone) {
          add(is_variable ? TokenKind::kVariableEnd : TokenKind::kBlockEnd, pos_, {});
          move_to(end);
          return;
        }
      }
      if (pos_ >= source_.size()) return;
      const std::size_t space = skip_space(source_, pos_);
      if (space > pos_) {
        pos_ = space;
      } else if (!number() && !name() && !string()) {
        operator_token(brackets);
      }
    }
  }

  std::size_t variable_end(std::size_t at) const {
    if (starts(at, "-}}")) return skip_space(source_, at + 3);
    return starts(at, "}}") ? at + 2 : kNone;
  }

  bool number() {
    if (!is_digit(source_[pos_])) return false;
    TokenKind kind = TokenKind::kFloat;
    std::size_t end = float_end(source_, pos_);
    if (end == pos_) {
      kind = TokenKind::kInteger;
      end = integer_end(source_, pos_);
    }
    const std::string_view spelling = source_.substr(pos_, end - pos_);
    const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    if (kind == TokenKind::kFloat && !std::all_of(spelling.begin(), spelling.end(), is_ascii)) {
      fail(pos_, "invalid decimal literal");
      return true;
    }
    add(kind, pos_, plain_digits(spelling));
    pos_ = end;
    return true;
  }

  bool name() {
    std::size_t end = pos_;
    for (std::size_t size = name_size(source_, end); size != 0; size = name_size(source_, end)) end += size;
    if (end == pos_) return false;
    if (!is_identifier(source_.substr(pos_, end - pos_))) {
      fail(pos_, "Invalid character in identifier");
      return true;
    }
    add(TokenKind::kName, pos_, std::string(source_.substr(pos_, end - pos_)));
    pos_ = end;
    return true;
  }

  bool string() {
    const char quote = source_[pos_];
    if (quote != '\'' && quote != '"') return false;
    std::size_t end = pos_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) return false;
    Unescaper unescaper(source_.substr(pos_ + 1, end - pos_ - 1));
    std::optional<std::string> text = unescaper.run();
    if (!text) {
      fail(pos_, unescaper.error());
      return true;
    }
    add(TokenKind::kString, pos_, *std::move(text));
    pos_ = end + 1;
    return true;
  }

  void operator_token(std::string& brackets) {
    const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                     [&](const Operator& candidate) { return starts(pos_, candidate.text); });
    if (found == kOperators.end()) {
      const utf8::Decoded bad = utf8::decode(source_, pos_);
      fail(pos_, "unexpected char " + quoted_char(source_.substr(pos_, bad.size)) + " at " +
                     std::to_string(utf8::length(source_.substr(0, pos_))));
      return;
    }
    switch (found->kind) {
      case TokenKind::kLBrace: brackets += '}'; break;
      case TokenKind::kLParen: brackets += ')'; break;
      case TokenKind::kLBracket: brackets += ']'; break;
      case TokenKind::kRBrace:
      case TokenKind::kRParen:
      case TokenKind::kRBracket: {
        if (brackets.empty()) {
          fail(pos_, "unexpected '" + std::string(found->text) + "'");
          return;
        }
        if (brackets.back() != found->text[0]) {
          fail(pos_, "unexpected '" + std::string(found->text) + "', expected '" + brackets.back() + "'");
          return;
        }
        brackets.pop_back();
        break;
      }
      default: break;
    }
    add(found->kind, pos_, std::string(found->text));
    pos_ += found->text.size();
  }

  std::string_view source_;
  CompileOptions options_;
  std::vector<Token> tokens_;
  std::size_t pos_ = 0;
  bool line_starting_ = true;
  bool failed_ = false;
  // The line up to which place() has counted; each kNone before it ends one.
  std::int32_t line_ = options_.prelude.empty() ? 1 : 0;
  std::size_t line_start_ = 0;
  std::size_t line_end_ = source_.find('\n');
};

}  // namespace

std::string normalize_source(std::string_view source, bool keep_trailing_newline) {
  std::string out;
  out.reserve(source.size());
  std::size_t from = 0;
  for (std::size_t at = source.find('\r'); at != std::string_view::npos; at = source.find('\r', from)) {
    out += source.substr(from, at - from);
    out += '\n';
    from = at + (source.substr(at, 2) == "\r\n" ? 2 : 1);
  }
  out += source.substr(from);
  if (!keep_trailing_newline && !out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

std::string line_text(std::string_view source, int line) {
  std::size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    begin = source.find('\n', begin);
    if (begin == std::string_view::npos) return {};
    ++begin;
  }
  return std::string(source.substr(begin, source.find('\n', begin) - begin));
}

std::vector<Token> tokenize(std::string_view source, const CompileOptions& options) {
  return Lexer(source, options).run();
}

std::string_view describe(TokenKind kind) {
  switch (kind) {
    case TokenKind::kData: return "template data / text";
    case TokenKind::kBlockBegin: return "begin of statement block";
    case TokenKind::kBlockEnd: return "end of statement block";
    case TokenKind::kVariableBegin: return "begin of print statement";
    case TokenKind::kVariableEnd: return "end of print statement";
    case TokenKind::kName: return "name";
    case TokenKind::kString: return "string";
    case TokenKind::kInteger: return "integer";
    case TokenKind::kFloat: return "float";
    case TokenKind::kError:
    case TokenKind::kEnd: return "end of template";
    default: break;
  }
  for (const Operator& candidate : kOperators) {
    if (candidate.kind == kind) return candidate.text;
  }
  return "token";
}

}  // namespace rondo::jinja
