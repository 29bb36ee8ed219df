#include "json/parse.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rondo::json {
namespace {

// A code frame longer than this helps nobody: minified JSON is one line.
constexpr std::size_t kFrameBytes = 200;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Offset of the first byte at or behind `at` that a string cannot simply copy: a quote, a backslash, a control
// character or the start of a non-ASCII character.
std::size_t skip_plain(std::string_view text, std::size_t at) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i space = _mm_set1_epi8(' ');
  for (; at + 16 <= text.size(); at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    // Signed comparison: bytes from 0x80 on are negative, so they count as below a space, as control characters do.
    const __m128i stops = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                                       _mm_cmplt_epi8(bytes, space));
    const int mask = _mm_movemask_epi8(stops);
    if (mask != 0) return at + static_cast<std::size_t>(__builtin_ctz(static_cast<unsigned>(mask)));
  }
#endif
  for (; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '"' || byte == '\\' || byte < 0x20 || byte >= 0x80) return at;
  }
  return at;
}

// Recursive descent, one function per rule.  Each returns false after `fail`; `at_` is then of no meaning.
class Parser {
 public:
  Parser(std::string_view text, const ParseOptions& options) : text_(text), max_depth_(options.max_depth) {}

  // value = ws (object / array / string / number / literal)
  bool value(Value& out) {
    skip_space();
    if (at_ == text_.size()) return fail("expected a value, found the end of the text");
    const std::size_t begin = at_;
    if (!bare_value(out)) return false;
    out.set_source({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)});
    return true;
  }

  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  bool fail(std::string message, ErrorCode code = ErrorCode::kJson) { return fail_at(at_, std::move(message), code); }

  bool fail_at(std::size_t offset, std::string message, ErrorCode code = ErrorCode::kJson) {
    error_.code = code;
    error_.message = std::move(message);
    error_.offset = offset;
    const std::string_view before = text_.substr(0, offset);
    std::size_t line_begin = before.rfind('\n');
    line_begin = line_begin == std::string_view::npos ? 0 : line_begin + 1;
    error_.line = 1;
    for (const char c : before) error_.line += c == '\n' ? 1 : 0;
    error_.column = static_cast<int>(offset - line_begin) + 1;
    const std::size_t line_end = std::min(text_.find('\n', line_begin), text_.size());
    const std::string_view line = text_.substr(line_begin, line_end - line_begin);
    if (line.size() <= kFrameBytes) error_.line_text = utf8::to_valid(line);
    return false;
  }

  // "`x`", "the end of the text", ... for messages.
  [[nodiscard]] std::string found() const {
    if (at_ >= text_.size()) return "the end of the text";
    const utf8::Decoded decoded = utf8::decode(text_, at_);
    if (!decoded.valid) return "invalid UTF-8";
    if (decoded.code_point == 0xFEFF) return "a byte order mark";
    if (static_cast<unsigned char>(text_[at_]) < 0x20) return "a control character";
    return "`" + std::string(text_.substr(at_, decoded.size)) + "`";
  }

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] Error take_error() { return std::move(error_); }

 private:
  bool bare_value(Value& out) {
    switch (text_[at_]) {
      case '{': return nested(out, &Parser::object);
      case '[': return nested(out, &Parser::array);
      case '"': {
        std::string text;
        if (!string(text)) return false;
        out = Value(std::move(text));
        return true;
      }
      case 't': return literal(out, "true", Value(true));
      case 'f': return literal(out, "false", Value(false));
      case 'n': return literal(out, "null", Value(nullptr));
      case 'N': return literal(out, "NaN", Value(Number{"NaN", true}));
      case 'I': return literal(out, "Infinity", Value(Number{"Infinity", true}));
      default: return number(out);
    }
  }

  bool nested(Value& out, bool (Parser::*rule)(Value&)) {
    if (depth_ == max_depth_) {
      return fail("nested deeper than " + std::to_string(max_depth_) + " levels", ErrorCode::kLimit);
    }
    ++depth_;
    const bool ok = (this->*rule)(out);
    --depth_;
    return ok;
  }

  // object = "{" [ string ":" value *( "," string ":" value ) ] "}"
  bool object(Value& out) {
    const std::size_t first = members_.size();
    ++at_;
    skip_space();
    if (!take('}')) {
      do {
        Member member;
        if (!this->member(member)) return false;
        members_.push_back(std::move(member));
        skip_space();
      } while (take(','));
      if (!take('}')) return fail("expected `,` or `}` behind the member, found " + found());
    }
    out = Value(Object::from_members(take_from(members_, first)));
    return true;
  }

  bool member(Member& out) {
    skip_space();
    if (at_end() || text_[at_] != '"') return fail("expected a key in double quotes, found " + found());
    if (!string(out.key)) return false;
    skip_space();
    if (!take(':')) return fail("expected `:` behind the key, found " + found());
    return value(out.value);
  }

  // array = "[" [ value *( "," value ) ] "]"
  bool array(Value& out) {
    const std::size_t first = elements_.size();
    ++at_;
    skip_space();
    if (!take(']')) {
      do {
        Value element;
        if (!value(element)) return false;
        elements_.push_back(std::move(element));
        skip_space();
      } while (take(','));
      if (!take(']')) return fail("expected `,` or `]` behind the element, found " + found());
    }
    out = Value(take_from(elements_, first));
    return true;
  }

  // string = quote *( plain / escape ) quote
  bool string(std::string& out) {
    const std::size_t open = at_++;
    while (true) {
      const std::size_t begin = at_;
      at_ = skip_plain(text_, at_);
      while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x80) {
        const utf8::Decoded decoded = utf8::decode(text_, at_);
        if (!decoded.valid) return fail("invalid UTF-8 in a string");
        at_ += decoded.size;
      }
      out.append(text_, begin, at_ - begin);
      if (at_end()) return fail_at(open, "the string is not closed");
      const char c = text_[at_];
      if (c == '"') break;
      if (c == '\\') {
        if (!escape(out)) return false;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        return fail("a control character in a string must be escaped");
      }
    }
    ++at_;
    return true;
  }

  // escape = backslash ( one of "\/bfnrt / u 4hex )
  bool escape(std::string& out) {
    const std::size_t begin = at_++;
    if (at_end()) return fail_at(begin, "the escape is cut off");
    switch (text_[at_++]) {
      case '"': out += '"'; return true;
      case '\\': out += '\\'; return true;
      case '/': out += '/'; return true;
      case 'b': out += '\b'; return true;
      case 'f': out += '\f'; return true;
      case 'n': out += '\n'; return true;
      case 'r': out += '\r'; return true;
      case 't': out += '\t'; return true;
      case 'u': break;
      default: return fail_at(begin, "unknown escape in a string");
    }
    char32_t code = 0;
    if (!hex4(at_, code)) return fail_at(begin, "`\\u` must be followed by four hexadecimal digits");
    at_ += 4;
    const bool is_high = code >= 0xD800 && code < 0xDC00;
    if (is_high && text_.substr(at_, 2) == "\\u") {
      char32_t low = 0;
      if (hex4(at_ + 2, low) && low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
        at_ += 6;
      }
    }
    utf8::append(out, code);
    return true;
  }

  bool hex4(std::size_t at, char32_t& out) const {
    if (at + 4 > text_.size()) return false;
    out = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
      const char c = text_[i];
      const char lower = static_cast<char>(c | 0x20);
      if (is_digit(c)) {
        out = out * 16 + static_cast<char32_t>(c - '0');
      } else if (lower >= 'a' && lower <= 'f') {
        out = out * 16 + static_cast<char32_t>(lower - 'a' + 10);
      } else {
        return false;
      }
    }
    return true;
  }

  // number = [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ( "e" / "E" ) [ "+" / "-" ] 1*digit ]
  bool number(Value& out) {
    const std::size_t begin = at_;
    if (text_.substr(at_, 9) == "-Infinity") {
      at_ += 9;
      out = Value(Number{"-Infinity", true});
      return true;
    }
    take('-');
    const std::size_t first = at_;
    if (!digits()) {
      at_ = begin;
      return fail("expected a value, found " + found());
    }
    if (text_[first] == '0' && at_ > first + 1) return fail_at(first, "a number must not start with `0`");
    bool is_float = false;
    if (take('.')) {
      is_float = true;
      if (!digits()) return fail("expected a digit behind the decimal point, found " + found());
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      is_float = true;
      ++at_;
      if (!take('+')) take('-');
      if (!digits()) return fail("expected a digit in the exponent, found " + found());
    }
    out = Value(Number{std::string(text_.substr(begin, at_ - begin)), is_float});
    return true;
  }

  bool literal(Value& out, std::string_view word, Value value) {
    if (text_.substr(at_, word.size()) != word) return fail("expected a value, found " + found());
    at_ += word.size();
    out = std::move(value);
    return true;
  }

  bool digits() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > begin;
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // Moves everything from `first` on out of `stack`, into a vector of just that size.
  template <typename T>
  static std::vector<T> take_from(std::vector<T>& stack, std::size_t first) {
    const auto begin = stack.begin() + static_cast<std::ptrdiff_t>(first);
    std::vector<T> out(std::make_move_iterator(begin), std::make_move_iterator(stack.end()));
    stack.erase(begin, stack.end());
    return out;
  }

  std::string_view text_;
  // What has been read of the arrays and objects that are open; each takes its own part when it is closed.
  std::vector<Value> elements_;
  std::vector<Member> members_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int max_depth_;
  Error error_;
};

// Source ranges have 32 bits.
bool too_large(std::string_view text, Error& error) {
  if (text.size() <= std::numeric_limits<std::uint32_t>::max()) return false;
  error.code = ErrorCode::kLimit;
  error.message = "a JSON text of 4 GiB or more is not supported";
  return true;
}

}  // namespace

Result<Value> parse(std::string_view text, const ParseOptions& options) {
  Error error;
  if (too_large(text, error)) return error;
  Parser parser(text, options);
  Value value;
  if (!parser.value(value)) return parser.take_error();
  parser.skip_space();
  if (!parser.at_end()) {
    parser.fail("expected the end of the text, found " + parser.found());
    return parser.take_error();
  }
  return value;
}

Result<Prefix> parse_prefix(std::string_view text, const ParseOptions& options) {
  Error error;
  if (too_large(text, error)) return error;
  Parser parser(text, options);
  Prefix prefix;
  if (!parser.value(prefix.value)) return parser.take_error();
  prefix.end = parser.at();
  return prefix;
}

}  // namespace rondo::json
