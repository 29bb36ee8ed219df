#include "unicode/graphemes.h"

#include <cstdint>

#include "base/utf8.h"
#include "unicode/reference_tables.h"

namespace rondo::unicode {
namespace {

// The order is that of the generated table.
enum class Cluster : std::uint8_t {
  kAny,
  kCr,
  kLf,
  kControl,
  kExtend,
  kPictographic,
  kConsonant,
  kL,
  kLv,
  kLvt,
  kV,
  kT,
  kPrepend,
  kRegional,
  kSpacingMark,
  kJoiner,
};

constexpr unsigned kConjunctExtend = 0x20;
constexpr unsigned kConjunctLinker = 0x40;

unsigned cluster_entry(char32_t c) {
  return tables::kCluster[tables::kClusterIndex[c >> 8U] * std::size_t{256} + (c & 0xFFU)];
}

bool is_break(Cluster found) { return found == Cluster::kCr || found == Cluster::kLf || found == Cluster::kControl; }

// What the characters of a cluster so far mean for the next one.
class Context {
 public:
  explicit Context(unsigned first) { add(first); }

  // Rules GB3 to GB13 of UAX 29.
  [[nodiscard]] bool joins(unsigned next) const {
    const auto after = static_cast<Cluster>(next & 0x1FU);
    if (last_ == Cluster::kCr && after == Cluster::kLf) return true;
    if (is_break(last_) || is_break(after)) return false;
    if (joins_hangul(after)) return true;
    if (after == Cluster::kExtend || after == Cluster::kJoiner || after == Cluster::kSpacingMark) return true;
    if (last_ == Cluster::kPrepend) return true;
    if (after == Cluster::kConsonant) return linked_;
    if (after == Cluster::kPictographic) return pictographic_ == Pictographic::kJoined;
    return after == Cluster::kRegional && last_ == Cluster::kRegional && regionals_ % 2 == 1;
  }

  void add(unsigned next) {
    last_ = static_cast<Cluster>(next & 0x1FU);
    regionals_ = last_ == Cluster::kRegional ? regionals_ + 1 : 0;
    if (last_ == Cluster::kPictographic) {
      pictographic_ = Pictographic::kSeen;
    } else if (last_ == Cluster::kJoiner && pictographic_ == Pictographic::kSeen) {
      pictographic_ = Pictographic::kJoined;
    } else if (last_ != Cluster::kExtend || pictographic_ != Pictographic::kSeen) {
      pictographic_ = Pictographic::kNone;
    }
    if (last_ == Cluster::kConsonant) {
      consonant_ = true;
      linked_ = false;
    } else if ((next & kConjunctLinker) != 0) {
      linked_ = consonant_;
    } else if ((next & kConjunctExtend) == 0) {
      consonant_ = linked_ = false;
    }
  }

 private:
  enum class Pictographic : std::uint8_t { kNone, kSeen, kJoined };

  [[nodiscard]] bool joins_hangul(Cluster after) const {
    switch (last_) {
      case Cluster::kL:
        return after == Cluster::kL || after == Cluster::kV || after == Cluster::kLv || after == Cluster::kLvt;
      case Cluster::kLv:
      case Cluster::kV: return after == Cluster::kV || after == Cluster::kT;
      case Cluster::kLvt:
      case Cluster::kT: return after == Cluster::kT;
      default: return false;
    }
  }

  Cluster last_ = Cluster::kAny;
  Pictographic pictographic_ = Pictographic::kNone;
  bool consonant_ = false;
  bool linked_ = false;  // a consonant followed by a linker
  unsigned regionals_ = 0;
};

}  // namespace

std::size_t grapheme_end(std::string_view text, std::size_t at) {
  const auto is_plain = [](char byte) { return byte >= 0x20 && byte < 0x7F; };
  if (is_plain(text[at]) && (at + 1 == text.size() || is_plain(text[at + 1]))) return at + 1;
  const utf8::Decoded first = utf8::decode(text, at);
  Context context(cluster_entry(first.code_point));
  for (at += first.size; at < text.size();) {
    const utf8::Decoded decoded = utf8::decode(text, at);
    const unsigned next = cluster_entry(decoded.code_point);
    if (!context.joins(next)) break;
    context.add(next);
    at += decoded.size;
  }
  return at;
}

}  // namespace rondo::unicode
