#include "tokenizer/scanner.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "base/utf8.h"
#include "unicode/classes.h"

namespace rondo::tokenizer {
namespace {

using Category = unicode::Category;

// Classes of characters.  A set of classes is a union of bits.
enum : std::uint8_t {
  kUpper = 1,    // Lu, Lt
  kLower = 2,    // Ll
  kUncased = 4,  // Lm, Lo
  kMark = 8,     // M
  kNumber = 16,  // N
  kSpace = 32,   // white space except line ends
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

// Kinds of the characters below U+10000, and of all characters that start with the same byte if those are alike
// (otherwise 0).
struct WideKinds {
  std::array<std::uint8_t, 0x10000> of{};
  std::array<std::uint8_t, 256> of_lead{};
};

std::uint8_t kind_of(char32_t code_point) {
  return unicode::is_white_space(code_point) ? std::uint8_t{kSpace} : class_of(unicode::category(code_point));
}

const WideKinds& wide_kinds() {
  static const std::unique_ptr<const WideKinds> kMade = [] {
    auto kinds = std::make_unique<WideKinds>();
    for (char32_t c = 0x80; c < 0x10000; ++c) kinds->of[c] = kind_of(c);
    for (unsigned lead = 0xE1; lead < 0xF0; ++lead) {
      const auto* first = kinds->of.data() + ((lead & 0xFU) << 12U);
      if (std::all_of(first, first + 0x1000, [first](std::uint8_t kind) { return kind == *first; }))
        kinds->of_lead[lead] = *first;
    }
    return kinds;
  }();
  return *kMade;
}

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

// Looks at the characters of one piece.  Offsets are bytes of the text.
class Scanner::Cursor {
 public:
  Cursor(const Scanner& scanner, std::string_view text, Range piece)
      : scanner_(scanner), text_(text.substr(0, piece.end)), end_(piece.end), wide_(wide_kinds()) {}

  // The end of the match that starts at `at`.
  template <Kind kKind>
  [[nodiscard]] std::uint32_t match(std::uint32_t at) const {
    if constexpr (kKind == Kind::kSpaced) return spaced(at);
    if constexpr (kKind == Kind::kPlain) return plain(at);
    return cased(at);
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
    // U+017F is an s when case is ignored.
    if (any_case && rest[1] == '\xC5' && rest[2] == '\xBF') return at + 3;
    const char second = lower(rest[2]);
    const bool found = (second == 'e' && (first == 'r' || first == 'v')) || (first == 'l' && second == 'l');
    return found ? at + 3 : at;
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
    if (wide_.of_lead[byte] != 0) return {wide_.of_lead[byte], 3};
    const auto next = [&](std::uint32_t offset) { return static_cast<unsigned char>(text_[at + offset]) & 0x3FU; };
    if (byte < 0xE0) return {wide_.of[(byte & 0x1FU) << 6U | next(1)], 2};
    if (byte < 0xF0) return {wide_.of[(byte & 0xFU) << 12U | next(1) << 6U | next(2)], 3};
    return {kind_of((byte & 7U) << 18U | next(1) << 12U | next(2) << 6U | next(3)), 4};
  }

  // The offset after the longest run of characters of `kinds`, at most `limit` of them (0: any number).
  [[nodiscard]] std::uint32_t run(std::uint32_t at, unsigned kinds, std::uint32_t limit = 0) const {
    for (std::uint32_t count = 0; limit == 0 || count < limit; ++count) {
      // Most characters of three bytes are letters, which their first byte shows.
      while (limit == 0 && at < end_ && (wide_.of_lead[static_cast<unsigned char>(text_[at])] & kinds) != 0) at += 3;
      const Character next = look(at);
      if ((next.kind & kinds) == 0) break;
      at += next.size;
    }
    return at;
  }

  // White space: up to the last line end if `lines` and there is one.  Otherwise it ends before its last character,
  // which belongs to what follows, unless nothing follows or it is the only one.
  [[nodiscard]] std::uint32_t white(std::uint32_t at, bool lines) const {
    std::uint32_t end = at;
    std::uint32_t last = at;      // where the last character starts
    std::uint32_t line_end = at;  // after the last line end
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

  // `UPPER*LOWER+` at `at`, where both include characters without case; `at` if it does not match.
  [[nodiscard]] std::uint32_t lower_word(std::uint32_t at) const {
    const std::uint32_t upper_end = run(at, kUpper | kUncased | kMark);
    if (const std::uint32_t end = run(upper_end, kLower | kUncased | kMark); end > upper_end) return end;
    // The upper part gives back characters until one of them can begin the lower part: the last one without case.
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
  const WideKinds& wide_;
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

namespace {

// The ones of `mask` that follow each bit of `from` without a gap, including that bit.  REQUIRES: the bits of `from`
// are in `mask`, each the first of its run.
constexpr std::uint64_t runs_from(std::uint64_t mask, std::uint64_t from) { return mask & ~(mask + from); }

constexpr std::uint64_t below(unsigned bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

constexpr std::uint64_t bit(unsigned at) { return std::uint64_t{1} << at; }

// Where pieces start in white space: at its start; after its last line end; at its last character, which belongs to
// what follows.  `white` lacks line ends that belong to the punctuation before them; nothing from `limit` on is known.
std::uint64_t white_starts(std::uint64_t white, std::uint64_t line_end, unsigned limit) {
  const std::uint64_t inner = white & ~line_end;
  const std::uint64_t first = inner & ~(inner << 1U);
  const std::uint64_t behind = (inner + first) & ~inner & below(limit);
  std::uint64_t after_line = first & (line_end << 1U);
  // A stretch that another line end follows, or whose end is out of sight, starts no piece.
  for (std::uint64_t open = behind & line_end; open != 0; open &= open - 1)
    after_line &= ~std::bit_floor(first & below(static_cast<unsigned>(std::countr_zero(open))));
  if ((inner & bit(limit - 1)) != 0) after_line &= ~std::bit_floor(first & below(limit));
  return (white & ~(white << 1U)) | after_line | ((behind & ~line_end) >> 1U);
}

std::uint64_t digit_starts(std::uint64_t digit, std::uint32_t most) {
  if (most == 1) return digit;
  std::uint64_t starts = digit & ~(digit << 1U);
  if (most != 3) return starts;
  for (std::uint64_t rest = digit & (digit << 1U) & (digit << 2U) & (digit << 3U); rest != 0;) {
    const auto at = static_cast<unsigned>(std::countr_zero(rest));
    starts |= bit(at);
    rest &= ~(std::uint64_t{7} << at);
  }
  return starts;
}

}  // namespace

// Finds the pieces of a stretch of ASCII by its masks.  A piece starts at the first byte of the stretch; nothing before
// that matters.
template <Scanner::Kind kKind>
class Scanner::Block {
 public:
  Block(const Scanner& scanner, const Cursor& cursor, std::uint32_t at, const ByteMasks& masks)
      : scanner_(scanner), cursor_(cursor), at_(at), masks_(masks) {
    std::uint64_t unknown = masks.beyond;
    // A slash after a line end may or may not belong to what precedes it.  The cursor decides.
    if (kKind == Kind::kCased && scanner.slashes_) unknown |= masks.slash & (masks.line_end << 1U);
    limit_ = unknown == 0 ? 64 : static_cast<unsigned>(std::countr_zero(unknown));
  }

  // A bit for each start except the first.  The piece that starts last may end after the block.
  [[nodiscard]] std::uint64_t starts() const {
    if (limit_ == 0) return 0;
    const std::uint64_t known = below(limit_);
    const std::uint64_t letter = (masks_.upper | masks_.lower) & known;
    const std::uint64_t white = masks_.white & known;
    const std::uint64_t digit = masks_.digit & known;
    const std::uint64_t other = known & ~(letter | white | digit);
    const std::uint64_t behind_space = masks_.space << 1U;
    const std::uint64_t other_first = other & ~(other << 1U) & ~behind_space;
    std::uint64_t found = 0;
    if constexpr (kKind == Kind::kSpaced) {
      found = other_first | (letter & ~(letter << 1U) & ~behind_space) | (digit & ~(digit << 1U) & ~behind_space) |
              white_starts(white, 0, limit_);
    } else {
      const std::uint64_t line_end = masks_.line_end & known;
      const std::uint64_t tail = runs_from(line_end, line_end & (other << 1U));
      std::uint64_t letter_first = letter & ~(letter << 1U) & ~((white & ~line_end) << 1U) & ~(other_first << 1U);
      if constexpr (kKind == Kind::kCased) letter_first |= masks_.upper & (masks_.lower << 1U);
      found = other_first | letter_first | digit_starts(digit, scanner_.digits_) |
              white_starts(white & ~tail, line_end, limit_);
    }
    if ((masks_.apostrophe & known) != 0 && scanner_.contractions_) found = contracted(found, letter, other_first);
    return found & known & ~std::uint64_t{1};
  }

 private:
  // `found` if contractions are pieces, or belong to the word before them.
  [[nodiscard]] std::uint64_t contracted(std::uint64_t found, std::uint64_t letter, std::uint64_t other_first) const {
    constexpr bool kSuffix = kKind == Kind::kCased;
    std::uint64_t rest = masks_.apostrophe & (kSuffix ? letter << 1U : other_first & (letter >> 1U));
    for (unsigned done = 0; rest != 0; rest &= rest - 1) {
      const auto from = static_cast<unsigned>(std::countr_zero(rest));
      if (kSuffix && from == done) continue;  // a word has at most one
      const unsigned to = cursor_.contraction(at_ + from, kKind != Kind::kSpaced) - at_;
      if (to == from) continue;
      done = to;
      found &= ~(below(to) & ~below(kSuffix ? from : from + 1));
      if (to < limit_ && (letter & bit(to)) != 0) found |= bit(to);
    }
    return found;
  }

  const Scanner& scanner_;
  const Cursor& cursor_;
  std::uint32_t at_;
  const ByteMasks& masks_;
  unsigned limit_ = 0;
};

template <Scanner::Kind kKind>
void Scanner::next_of(std::string_view text, Range piece, MaskFunction masks, Ends& out) const {
  const Cursor cursor(*this, text, piece);
  std::uint32_t* to = out.at.data();
  const std::uint32_t* const full = to + Ends::kRoom - ByteMasks::kBytes;
  std::uint32_t at = piece.begin;
  while (at < piece.end && to <= full) {
    if (masks != nullptr && piece.end - at >= ByteMasks::kBytes) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & 0x8080808080808080U) == 0) {
        ByteMasks found;
        masks(text.data() + at, found);
        const std::uint32_t* const before = to;
        for (std::uint64_t starts = Block<kKind>(*this, cursor, at, found).starts(); starts != 0; starts &= starts - 1)
          *to++ = at + static_cast<std::uint32_t>(std::countr_zero(starts));
        if (to != before) {
          at = to[-1];
          continue;
        }
      }
    }
    at = cursor.template match<kKind>(at);
    *to++ = at;
  }
  out.count = static_cast<std::size_t>(to - out.at.data());
}

void Scanner::next_with(std::string_view text, Range piece, MaskFunction masks, Ends& out) const {
  switch (kind_) {
    case Kind::kSpaced: return next_of<Kind::kSpaced>(text, piece, masks, out);
    case Kind::kPlain: return next_of<Kind::kPlain>(text, piece, masks, out);
    case Kind::kCased: return next_of<Kind::kCased>(text, piece, masks, out);
  }
}

void Scanner::next(std::string_view text, Range piece, Ends& out) const { next_with(text, piece, masks_, out); }

void Scanner::next_slowly(std::string_view text, Range piece, Ends& out) const { next_with(text, piece, nullptr, out); }

void Scanner::split(std::string_view text, Range piece, std::vector<Range>& out) const {
  Ends ends;
  for (std::uint32_t at = piece.begin; at < piece.end;) {
    next(text, {at, piece.end}, ends);
    for (std::size_t i = 0; i < ends.count; ++i) {
      out.push_back({at, ends.at[i]});
      at = ends.at[i];
    }
  }
}

}  // namespace rondo::tokenizer
