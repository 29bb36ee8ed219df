#include "json/reader.h"

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/bytes16.h"
#include "base/hex.h"
#include "base/utf8.h"

namespace rondo::json {
namespace {

// A longer code frame helps nobody: minified JSON is one line.
constexpr std::size_t kFrameBytes = 200;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The offset of the first byte at or after `at` that a string cannot simply copy: a quote, a backslash, a control
// character or the start of a non-ASCII character.
std::size_t skip_plain(std::string_view text, std::size_t at) {
#ifdef RONDO_BYTES16
  for (; at + 16 <= text.size(); at += 16) {
    const Bytes16 bytes(text.data() + at);
    // Bytes from 0x80 on count as below a space, like control characters.
    const unsigned stops = (bytes.equal('"') | bytes.equal('\\') | bytes.below(' ')).mask();
    if (stops != 0) return at + static_cast<std::size_t>(std::countr_zero(stops));
  }
#endif
  for (; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '"' || byte == '\\' || byte < 0x20 || byte >= 0x80) return at;
  }
  return at;
}

// The offset of the first quote or backslash at or after `at`.
std::size_t skip_checked(std::string_view text, std::size_t at) {
#ifdef RONDO_BYTES16
  for (; at + 16 <= text.size(); at += 16) {
    const Bytes16 bytes(text.data() + at);
    const unsigned stops = (bytes.equal('"') | bytes.equal('\\')).mask();
    if (stops != 0) return at + static_cast<std::size_t>(std::countr_zero(stops));
  }
#endif
  while (at < text.size() && text[at] != '"' && text[at] != '\\') ++at;
  return at;
}

// The offset of the bracket after a list of plain integers that are separated only by commas; `at` is the first
// integer.  Servers send such lists with a hundred thousand ids.  npos for anything else, whether it is valid or not.
std::size_t integers_end(std::string_view text, std::size_t at) {
  bool is_behind_digit = false;
  bool is_behind_zero = false;  // with which a number began
  const auto takes = [&](char c) {
    if (c == ',') {
      if (!is_behind_digit) return false;
      is_behind_digit = is_behind_zero = false;
      return true;
    }
    if (!is_digit(c) || is_behind_zero) return false;
    is_behind_zero = c == '0' && !is_behind_digit;
    return is_behind_digit = true;
  };
#ifdef RONDO_BYTES16
  constexpr unsigned kAll = 0xFFFF;
  for (; at + 16 <= text.size(); at += 16) {
    const Bytes16 bytes(text.data() + at);
    const unsigned digits = (bytes.above('0' - 1) & bytes.below('9' + 1)).mask();
    const unsigned commas = bytes.equal(',').mask();
    if ((digits | commas) != kAll) break;
    const unsigned behind_digits = (digits << 1U | (is_behind_digit ? 1U : 0U)) & kAll;
    const unsigned zeros = bytes.equal('0').mask() & ~behind_digits;
    const unsigned behind_zeros = (zeros << 1U | (is_behind_zero ? 1U : 0U)) & kAll;
    if ((commas & ~behind_digits) != 0 || (digits & behind_zeros) != 0) return std::string_view::npos;
    is_behind_digit = (digits >> 15U) != 0;
    is_behind_zero = (zeros >> 15U) != 0;
  }
#endif
  while (at < text.size() && takes(text[at])) ++at;
  return at < text.size() && text[at] == ']' && is_behind_digit ? at : std::string_view::npos;
}

}  // namespace

bool Reader::fail_at(std::size_t offset, std::string message, ErrorCode code) {
  if (failed_) return false;
  failed_ = true;
  const std::string_view before = text_.substr(0, offset);
  std::size_t line_begin = before.rfind('\n');
  line_begin = line_begin == std::string_view::npos ? 0 : line_begin + 1;
  const auto line_number = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t line_end = std::min(text_.find('\n', line_begin), text_.size());
  const std::string_view line = text_.substr(line_begin, line_end - line_begin);
  std::string shown = line.size() <= kFrameBytes ? utf8::to_valid(line) : std::string();
  error_ = Error(code, std::move(message))
               .at(line_number, static_cast<int>(offset - line_begin) + 1, std::move(shown))
               .at_offset(offset);
  return false;
}

// "`x`", "the end of the text", ... for messages.
std::string Reader::found() const {
  if (at_ >= text_.size()) return "the end of the text";
  const utf8::Decoded decoded = utf8::decode(text_, at_);
  if (!decoded.valid) return "invalid UTF-8";
  if (decoded.code_point == 0xFEFF) return "a byte order mark";
  if (static_cast<unsigned char>(text_[at_]) < 0x20) return "a control character";
  return "`" + std::string(text_.substr(at_, decoded.size)) + "`";
}

char Reader::peek() {
  skip_space();
  return failed_ || at_ >= text_.size() ? '\0' : text_[at_];
}

bool Reader::finish() {
  if (failed_) return false;
  skip_space();
  return at_ == text_.size() || fail("expected the end of the text, found " + found());
}

bool Reader::open(char bracket, const char* what) {
  if (failed_) return false;
  skip_space();
  if (!take(bracket)) return fail("expected " + std::string(what) + ", found " + found());
  is_first_ = true;
  return true;
}

bool Reader::enter_object() { return open('{', "an object"); }
bool Reader::enter_array() { return open('[', "an array"); }

bool Reader::enter_array_behind(std::string_view begun) {
  if (failed_) return false;
  skip_space();
  const std::string_view rest = text_.substr(at_);
  if (!rest.starts_with(begun) || rest.size() == begun.size()) return false;
  if (rest[begun.size()] != ',' && rest[begun.size()] != ']') return false;
  at_ += begun.size();
  is_first_ = false;
  return true;
}

// Moves to the next value of an open container; false after its end.
bool Reader::next(char close, const char* what) {
  if (failed_) return false;
  skip_space();
  const bool was_first = is_first_;
  is_first_ = false;
  if (take(close)) return false;
  if (was_first || take(',')) return true;
  return fail("expected `,` or `" + std::string(1, close) + "` after the " + what + ", found " + found());
}

bool Reader::element() { return next(']', "element"); }

bool Reader::member(std::string_view& key) {
  if (!next('}', "member")) return false;
  skip_space();
  if (at_ >= text_.size() || text_[at_] != '"') return fail("expected a key in double quotes, found " + found());
  if (!string_view(key)) return false;
  skip_space();
  return take(':') || fail("expected `:` after the key, found " + found());
}

bool Reader::string(std::string_view& out) {
  if (failed_) return false;
  skip_space();
  if (at_ >= text_.size() || text_[at_] != '"') return fail("expected a string, found " + found());
  return string_view(out);
}

// Moves to the end of the string or to an escape.
bool Reader::plain_part() {
  if (is_checked_) {
    at_ = skip_checked(text_, at_);
    return true;
  }
  while (true) {
    at_ = skip_plain(text_, at_);
    if (at_ >= text_.size()) return true;
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte < 0x20) return fail("a control character in a string must be escaped");
    if (byte < 0x80) return true;
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x80) {
      // Most of a byte-level vocabulary: two well-formed bytes.
      const auto lead = static_cast<unsigned char>(text_[at_]);
      if (lead >= 0xC2 && lead < 0xE0 && at_ + 1 < text_.size() && utf8::is_continuation(text_[at_ + 1])) {
        at_ += 2;
        continue;
      }
      const utf8::Decoded decoded = utf8::decode(text_, at_);
      if (!decoded.valid) return fail("invalid UTF-8 in a string");
      at_ += decoded.size;
    }
  }
}

// string = quote *( plain / escape ) quote
bool Reader::string_into(std::string& out) {
  const std::size_t open = at_++;
  while (true) {
    const std::size_t begin = at_;
    if (!plain_part()) return false;
    out.append(text_, begin, at_ - begin);
    if (at_ >= text_.size()) return fail_at(open, "the string is not closed");
    if (take('"')) return true;
    if (!escape(out)) return false;
  }
}

bool Reader::string_view(std::string_view& out) {
  const std::size_t open = at_++;
  if (!plain_part()) return false;
  if (at_ >= text_.size()) return fail_at(open, "the string is not closed");
  if (text_[at_] == '"') {
    out = text_.substr(open + 1, at_ - open - 1);
    ++at_;
    return true;
  }
  at_ = open;
  decoded_.clear();
  if (!string_into(decoded_)) return false;
  out = decoded_;
  return true;
}

// escape = backslash ( one of "\/bfnrt / u 4hex )
bool Reader::escape(std::string& out) {
  const std::size_t begin = at_++;
  if (at_ >= text_.size()) return fail_at(begin, "the escape is cut off");
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

bool Reader::hex4(std::size_t at, char32_t& out) const {
  const std::optional<std::uint32_t> code = hex::number(text_, at, 4);
  out = code.value_or(0);
  return code.has_value();
}

bool Reader::digits() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  return at_ > begin;
}

// number = [ "-" ] ( "0" / digit1-9 *digit ) [ "." 1*digit ] [ ( "e" / "E" ) [ "+" / "-" ] 1*digit ]
bool Reader::number_text(std::string_view& out, bool& is_float) {
  const std::size_t begin = at_;
  is_float = false;
  const bool is_plain = at_ < text_.size() && is_digit(text_[at_]);
  if (!is_plain) {
    for (const std::string_view name : {"NaN", "Infinity", "-Infinity"}) {
      if (text_.substr(at_, name.size()) != name) continue;
      at_ += name.size();
      out = name;
      return is_float = true;
    }
  }
  take('-');
  const std::size_t first = at_;
  if (!digits()) {
    at_ = begin;
    return fail("expected a value, found " + found());
  }
  if (text_[first] == '0' && at_ > first + 1) return fail_at(first, "a number must not start with `0`");
  if (take('.')) {
    is_float = true;
    if (!digits()) return fail("expected a digit after the decimal point, found " + found());
  }
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    is_float = true;
    ++at_;
    if (!take('+')) take('-');
    if (!digits()) return fail("expected a digit in the exponent, found " + found());
  }
  out = text_.substr(begin, at_ - begin);
  return true;
}

bool Reader::integer(std::int64_t& out) {
  if (failed_) return false;
  skip_space();
  const std::size_t begin = at_;
  // Nearly all numbers have few digits and then a character that can only end a number.
  constexpr std::size_t kSmall = 18;
  std::int64_t small = 0;
  std::size_t at = at_;
  for (; at < text_.size() && at - begin < kSmall && is_digit(text_[at]); ++at) small = small * 10 + (text_[at] - '0');
  const bool is_plain = at > begin && (text_[begin] != '0' || at == begin + 1) && at < text_.size() &&
                        (text_[at] == ',' || text_[at] == '}' || text_[at] == ']' || text_[at] == '\n');
  if (is_plain) {
    at_ = at;
    out = small;
    return true;
  }
  std::string_view text;
  bool is_float = false;
  if (!number_text(text, is_float)) return false;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), out);
  return (!is_float && parsed.ec == std::errc()) ||
         fail_at(begin, "expected an integer, found `" + std::string(text) + "`");
}

bool Reader::number(std::string_view& out) {
  if (failed_) return false;
  skip_space();
  bool is_float = false;
  return number_text(out, is_float);
}

bool Reader::word(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return fail("expected a value, found " + found());
  at_ += word.size();
  return true;
}

bool Reader::skip_scalar() {
  std::string_view text;
  bool is_float = false;
  switch (text_[at_]) {
    case '"': return string_view(text);
    case 't': return word("true");
    case 'f': return word("false");
    case 'n': return word("null");
    default: return number_text(text, is_float);
  }
}

// Enters a container that skip() passes over.  A plain list of integers is passed over up to its closing bracket.
inline bool Reader::skip_open(char bracket) {
  if (open_.size() >= static_cast<std::size_t>(limits::kJsonDepth))
    return fail("nested deeper than " + std::to_string(limits::kJsonDepth) + " levels", ErrorCode::kLimit);
  ++at_;
  is_first_ = true;
  open_.push_back(bracket == '{' ? '}' : ']');
  const std::size_t end = bracket == '[' ? integers_end(text_, at_) : std::string_view::npos;
  if (end != std::string_view::npos) at_ = end;
  return true;
}

bool Reader::skip() {
  std::vector<char>& open = open_;
  open.clear();
  std::string_view key;
  do {
    // A value begins here.
    const char first = peek();
    if (failed_) return false;
    if (at_ >= text_.size()) return fail("expected a value, found the end of the text");
    if (!(first == '{' || first == '[' ? skip_open(first) : skip_scalar())) return false;
    // Moves to the next value, out of the containers that end here.
    while (!open.empty() && !(open.back() == '}' ? member(key) : element())) {
      if (failed_) return false;
      open.pop_back();
    }
  } while (!open.empty());
  return true;
}

}  // namespace rondo::json
