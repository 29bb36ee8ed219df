#include "tokenizer/scanner.h"

#include <array>

#include "base/utf8.h"
#include "unicode/classes.h"

namespace rondo::tokenizer {
namespace {

using Category = unicode::Category;

// Classes of characters; a set of them is a union of bits.
enum : std::uint8_t {
  kUpper = 1,    // Lu, Lt
  kLower = 2,    // Ll
  kUncased = 4,  // Lm, Lo
  kMark = 8,     // M
  kNumber = 16,  // N
  kSpace = 32,   // white space but line ends
  kLineEnd = 64,
  kOther = 128,
};
constexpr std::uint8_t kLetter = kUpper | kLower | kUncased;
constexpr std::uint8_t kWhite = kSpace | kLineEnd;
constexpr std::uint8_t kNotWord = kMark | kOther;  // [^\s\p{L}\p{N}]

constexpr std::uint8_t class_of(Category category) {
  switch (category) {
    case Category::kLu:
    case Category::kLt: return kUpper;
    case Category::kLl: return kLower;
    case Category::kLm:
    case Category::kLo: return kUncased;
    case Category::kMc:
    case Category::kMe:
    case Category::kMn: return kMark;
    case Category::kNd:
    case Category::kNl:
    case Category::kNo: return kNumber;
    default: return kOther;
  }
}

constexpr std::array<std::uint8_t, 128> kAscii = [] {
  std::array<std::uint8_t, 128> table{};
  for (unsigned c = 0; c < 128; ++c) {
    table[c] = kOther;
    if (c >= 'A' && c <= 'Z') table[c] = kUpper;
    if (c >= 'a' && c <= 'z') table[c] = kLower;
    if (c >= '0' && c <= '9') table[c] = kNumber;
    if (c == ' ' || c == '\t' || c == '\v' || c == '\f') table[c] = kSpace;
    if (c == '\r' || c == '\n') table[c] = kLineEnd;
  }
  return table;
}();

struct Pattern {
  std::string_view text;
  int kind;
  std::uint32_t digits;
  bool marks;
  bool contractions;
  bool slashes;
};

#define RONDO_CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define RONDO_TAIL "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define RONDO_SPACED "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)"
#define RONDO_PLAIN(number) \
  RONDO_CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" number "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" RONDO_TAIL
#define RONDO_UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define RONDO_LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define RONDO_CASED(number, suffix)                                                                     \
  "[^\\r\\n\\p{L}\\p{N}]?" RONDO_UPPER "*" RONDO_LOWER "+" suffix "|[^\\r\\n\\p{L}\\p{N}]?" RONDO_UPPER \
  "+" RONDO_LOWER "*" suffix "|" number "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" RONDO_TAIL

constexpr Pattern kPatterns[] = {
    {RONDO_SPACED, 0, 0, false, true, false},
    {RONDO_SPACED "|\\s+", 0, 0, false, true, false},
    {RONDO_PLAIN("\\p{N}"), 1, 1, false, true, false},
    {RONDO_PLAIN("\\p{N}{1,3}"), 1, 3, false, true, false},
    {RONDO_CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" RONDO_TAIL,
     1, 1, true, true, false},
    {RONDO_CASED("\\p{N}{1,3}", RONDO_CONTRACTIONS "?"), 2, 3, false, true, true},
    {RONDO_CASED("\\p{N}", ""), 2, 1, false, false, true},
};

#undef RONDO_CASED
#undef RONDO_LOWER
#undef RONDO_UPPER
#undef RONDO_PLAIN
#undef RONDO_SPACED
#undef RONDO_TAIL
#undef RONDO_CONTRACTIONS

}  // namespace

// Looks at the characters of one piece.  Offsets count in bytes of the text.
class Scanner::Cursor {
 public:
  Cursor(const Scanner& scanner, std::string_view text, Range piece)
      : scanner_(scanner), text_(text.substr(0, piece.end)), end_(piece.end) {}

  // The end of the match that starts at `at`.
  [[nodiscard]] std::uint32_t match(std::uint32_t at) const {
    switch (scanner_.kind_) {
      case Kind::kSpaced: return spaced(at);
      case Kind::kPlain: return plain(at);
      case Kind::kCased: return cased(at);
    }
    return end_;
  }

 private:
  struct Character {
    std::uint8_t kind = 0;  // 0 at the end
    std::uint8_t size = 0;
  };

  [[nodiscard]] Character look(std::uint32_t at) const {
    if (at >= end_) return {};
    const auto byte = static_cast<unsigned char>(text_[at]);
    if (byte < 0x80) return {kAscii[byte], 1};
    const utf8::Decoded decoded = utf8::decode(text_, at);
    const bool white = unicode::is_white_space(decoded.code_point);
    return {white ? std::uint8_t{kSpace} : class_of(unicode::category(decoded.code_point)), decoded.size};
  }

  // Behind the longest run of characters of `kinds`, at most `limit` of them (0: any number).
  [[nodiscard]] std::uint32_t run(std::uint32_t at, unsigned kinds, std::uint32_t limit = 0) const {
    for (std::uint32_t count = 0; limit == 0 || count < limit; ++count) {
      const Character next = look(at);
      if ((next.kind & kinds) == 0) break;
      at += next.size;
    }
    return at;
  }

  // The end of 's, 't, 're, 've, 'm, 'll or 'd at `at`; `at` itself if there is none.
  [[nodiscard]] std::uint32_t contraction(std::uint32_t at, bool any_case) const {
    const std::string_view rest = text_.substr(at, 4);
    if (rest.size() < 2 || rest[0] != '\'') return at;
    const auto lower = [any_case](char c) {
      return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    };
    const char first = lower(rest[1]);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
    if (rest.size() < 3) return at;
    // U+017F is an s to whoever ignores case.
    if (any_case && rest[1] == '\xC5' && rest[2] == '\xBF') return at + 3;
    const char second = lower(rest[2]);
    const bool found = (second == 'e' && (first == 'r' || first == 'v')) || (first == 'l' && second == 'l');
    return found ? at + 3 : at;
  }

  // White space: up to the last line end if `lines` and there is one; else without its last character, which goes with
  // what follows, unless nothing follows or it is the only one.
  [[nodiscard]] std::uint32_t white(std::uint32_t at, bool lines) const {
    std::uint32_t end = at;
    std::uint32_t last = at;      // where the last character starts
    std::uint32_t line_end = at;  // behind the last line end
    for (Character next = look(end); (next.kind & kWhite) != 0; next = look(end)) {
      last = end;
      end += next.size;
      if (next.kind == kLineEnd) line_end = end;
    }
    if (lines && line_end > at) return line_end;
    return end == end_ || last == at ? end : last;
  }

  // ` ?[^\s\p{L}\p{N}]+[\r\n]*` for the first character outside words; `at` if it does not match.
  [[nodiscard]] std::uint32_t symbols(std::uint32_t at, unsigned kinds, bool tail) const {
    const std::uint32_t from = text_[at] == ' ' ? at + 1 : at;
    std::uint32_t end = run(from, kinds);
    if (end == from) return at;
    while (tail && end < end_ && (text_[end] == '\r' || text_[end] == '\n' || (scanner_.slashes_ && text_[end] == '/')))
      ++end;
    return end;
  }

  [[nodiscard]] std::uint32_t spaced(std::uint32_t at) const {
    if (const std::uint32_t end = contraction(at, false); end > at) return end;
    const std::uint32_t from = text_[at] == ' ' ? at + 1 : at;
    const Character first = look(from);
    for (const unsigned kinds : {unsigned{kLetter}, unsigned{kNumber}, unsigned{kNotWord}}) {
      if ((first.kind & kinds) != 0) return run(from, kinds);
    }
    return white(at, false);
  }

  [[nodiscard]] std::uint32_t plain(std::uint32_t at) const {
    if (const std::uint32_t end = contraction(at, true); end > at) return end;
    const unsigned letters = scanner_.marks_are_letters_ ? kLetter | kMark : unsigned{kLetter};
    const Character first = look(at);
    if ((first.kind & letters) != 0) return run(at, letters);
    if ((first.kind & kNumber) != 0) return run(at, kNumber, scanner_.digits_);
    if (first.kind != kLineEnd) {
      const std::uint32_t from = at + first.size;
      if (const std::uint32_t end = run(from, letters); end > from) return end;
    }
    if (const std::uint32_t end = symbols(at, kNotWord & ~letters, true); end > at) return end;
    return white(at, true);
  }

  // `UPPER*LOWER+` at `at`, where both include the characters without case: `at` if it does not match.
  [[nodiscard]] std::uint32_t lower_word(std::uint32_t at) const {
    const std::uint32_t upper_end = run(at, kUpper | kUncased | kMark);
    if (const std::uint32_t end = run(upper_end, kLower | kUncased | kMark); end > upper_end) return end;
    // The upper part gives back characters until one of them can be the lower part: the last without case.
    std::uint32_t found = at;
    for (std::uint32_t to = at; to < upper_end;) {
      const Character next = look(to);
      to += next.size;
      if ((next.kind & (kUncased | kMark)) != 0) found = to;
    }
    return found;
  }

  [[nodiscard]] std::uint32_t cased_word(std::uint32_t at) const {
    const Character first = look(at);
    const bool prefix = (first.kind & (kLetter | kNumber | kLineEnd)) == 0;
    const std::uint32_t from = prefix ? at + first.size : at;
    if (const std::uint32_t end = lower_word(from); end > from) return end;
    if (prefix && first.kind == kMark) {
      if (const std::uint32_t end = lower_word(at); end > at) return end;
    }
    const std::uint32_t end = run(from, kUpper | kUncased | kMark);
    return end > from ? run(end, kLower | kUncased | kMark) : at;
  }

  [[nodiscard]] std::uint32_t cased(std::uint32_t at) const {
    if (const std::uint32_t end = cased_word(at); end > at) {
      return scanner_.contractions_ ? contraction(end, true) : end;
    }
    if ((look(at).kind & kNumber) != 0) return run(at, kNumber, scanner_.digits_);
    if (const std::uint32_t end = symbols(at, kNotWord, true); end > at) return end;
    return white(at, true);
  }

  const Scanner& scanner_;
  std::string_view text_;
  std::uint32_t end_;
};

std::optional<Scanner> Scanner::find(std::string_view pattern) {
  for (const Pattern& known : kPatterns) {
    if (known.text != pattern) continue;
    Scanner scanner;
    scanner.kind_ = static_cast<Kind>(known.kind);
    scanner.digits_ = known.digits;
    scanner.marks_are_letters_ = known.marks;
    scanner.contractions_ = known.contractions;
    scanner.slashes_ = known.slashes;
    return scanner;
  }
  return std::nullopt;
}

void Scanner::split(std::string_view text, Range piece, std::vector<Range>& out) const {
  const Cursor cursor(*this, text, piece);
  for (std::uint32_t at = piece.begin; at < piece.end;) {
    const std::uint32_t end = cursor.match(at);
    out.push_back({at, end});
    at = end;
  }
}

}  // namespace rondo::tokenizer
