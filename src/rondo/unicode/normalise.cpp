#include "unicode/normalise.h"

#include <algorithm>
#include <cstddef>

#include "base/utf8.h"
#include "unicode/tables.h"

namespace rondo::unicode {
namespace {

// Hangul syllables are computed (Unicode standard, 3.12).
constexpr char32_t kSBase = 0xAC00;
constexpr char32_t kLBase = 0x1100;
constexpr char32_t kVBase = 0x1161;
constexpr char32_t kTBase = 0x11A7;
constexpr char32_t kLCount = 19;
constexpr char32_t kVCount = 21;
constexpr char32_t kTCount = 28;
constexpr char32_t kSCount = kLCount * kVCount * kTCount;

constexpr bool is_compatible(Form form) { return form == Form::kNfkc || form == Form::kNfkd; }
constexpr bool composes(Form form) { return form == Form::kNfc || form == Form::kNfkc; }

std::uint16_t property(char32_t code_point) {
  if (code_point > 0x10FFFF) return 0;
  return tables::kNormal[tables::kNormalIndex[code_point >> 8U] * std::size_t{256} + (code_point & 0xFFU)];
}

std::uint8_t combining_class(char32_t code_point) { return static_cast<std::uint8_t>(property(code_point) & 0xFFU); }

void append_decomposition(std::vector<Normalised>& out, const Normalised& source, bool compatible) {
  const auto put = [&](char32_t code_point) { out.push_back({code_point, source.begin, source.end}); };
  const char32_t code_point = source.code_point;
  if (code_point >= kSBase && code_point < kSBase + kSCount) {
    const char32_t syllable = code_point - kSBase;
    put(kLBase + syllable / (kVCount * kTCount));
    put(kVBase + syllable % (kVCount * kTCount) / kTCount);
    if (syllable % kTCount != 0) put(kTBase + syllable % kTCount);
    return;
  }
  if ((property(code_point) & (compatible ? 0x200U : 0x100U)) == 0) return put(code_point);
  const auto* rows = compatible ? tables::kCompatible : tables::kCanonical;
  const auto* end = rows + (compatible ? tables::kCompatibleCount : tables::kCanonicalCount);
  const auto* row =
      std::lower_bound(rows, end, code_point, [](const tables::Decomposition& r, char32_t at) { return r.from < at; });
  const char32_t* pool = (compatible ? tables::kCompatiblePool : tables::kCanonicalPool) + row->offset;
  for (std::uint16_t i = 0; i < row->size; ++i) put(pool[i]);
}

// The primary composite of two code points, or 0.
char32_t composite(char32_t first, char32_t second) {
  if (first >= kLBase && first < kLBase + kLCount && second >= kVBase && second < kVBase + kVCount) {
    return kSBase + ((first - kLBase) * kVCount + (second - kVBase)) * kTCount;
  }
  if (first >= kSBase && first < kSBase + kSCount && (first - kSBase) % kTCount == 0 && second > kTBase &&
      second < kTBase + kTCount) {
    return first + (second - kTBase);
  }
  const auto* end = tables::kCompositions + tables::kCompositionCount;
  const auto* row = std::lower_bound(
      tables::kCompositions, end, first,
      [second](const tables::Composition& r, char32_t at) { return r.first != at ? r.first < at : r.second < second; });
  return row != end && row->first == first && row->second == second ? row->composite : 0;
}

// Sorts every run of combining marks by their classes.
void reorder(std::vector<Normalised>& text) {
  const auto by_class = [](const Normalised& a, const Normalised& b) {
    return combining_class(a.code_point) < combining_class(b.code_point);
  };
  for (std::size_t at = 0; at < text.size();) {
    if (combining_class(text[at].code_point) == 0) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    while (end < text.size() && combining_class(text[end].code_point) != 0) ++end;
    const auto first = text.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last = text.begin() + static_cast<std::ptrdiff_t>(end);
    if (!std::is_sorted(first, last, by_class)) {
      // If the order changed, every mark comes from the whole run, so that sources never go backwards.
      const std::uint32_t begin = first->begin;
      const std::uint32_t stop =
          std::max_element(first, last, [](const Normalised& a, const Normalised& b) { return a.end < b.end; })->end;
      std::stable_sort(first, last, by_class);
      std::for_each(first, last, [begin, stop](Normalised& unit) { unit.begin = begin, unit.end = stop; });
    }
    at = end;
  }
}

void compose(std::vector<Normalised>& text) {
  std::size_t size = 0;     // of the composed text
  std::size_t starter = 0;  // where the last starter is in it
  bool has_starter = false;
  int last_class = -1;  // of the last character kept after the starter; -1 if none
  for (const Normalised& next : text) {
    const int own_class = combining_class(next.code_point);
    // A mark is blocked from the starter by a mark of the same or a higher class between them.
    const bool blocked = last_class != -1 && (last_class >= own_class);
    if (has_starter && !blocked) {
      if (const char32_t made = composite(text[starter].code_point, next.code_point); made != 0) {
        text[starter].code_point = made;
        text[starter].begin = std::min(text[starter].begin, next.begin);
        text[starter].end = std::max(text[starter].end, next.end);
        continue;
      }
    }
    if (own_class == 0) {
      starter = size;
      has_starter = true;
      last_class = -1;
    } else {
      last_class = own_class;
    }
    text[size++] = next;
  }
  text.resize(size);
}

}  // namespace

bool is_normalised(std::string_view text, Form form) {
  const unsigned mask =
      composes(form) ? (is_compatible(form) ? 0x800U : 0x400U) : (is_compatible(form) ? 0x200U : 0x100U);
  unsigned last_class = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      at = utf8::skip_ascii(text, at);
      last_class = 0;
      continue;
    }
    // U+4000 to U+9FFF, most of Chinese, neither decompose nor combine.
    const auto lead = static_cast<unsigned char>(text[at]);
    if (lead >= 0xE4 && lead <= 0xE9 && at + 3 <= text.size() && utf8::is_continuation(text[at + 1]) &&
        utf8::is_continuation(text[at + 2])) {
      at += 3;
      last_class = 0;
      continue;
    }
    const utf8::Decoded decoded = utf8::decode(text, at);
    if (!decoded.valid) return false;
    const bool syllable = decoded.code_point >= kSBase && decoded.code_point < kSBase + kSCount;
    if (syllable && !composes(form)) return false;
    const unsigned found = property(decoded.code_point);
    if ((found & mask) != 0) return false;
    const unsigned own_class = found & 0xFFU;
    if (own_class != 0 && own_class < last_class) return false;
    last_class = own_class;
    at += decoded.size;
  }
  return true;
}

std::vector<Normalised> normalise_aligned(std::string_view text, Form form) {
  std::vector<Normalised> out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded decoded = utf8::decode(text, at);
    const Normalised source{decoded.code_point, static_cast<std::uint32_t>(at),
                            static_cast<std::uint32_t>(at + decoded.size)};
    append_decomposition(out, source, is_compatible(form));
    at += decoded.size;
  }
  reorder(out);
  if (composes(form)) compose(out);
  std::uint32_t end = 0;
  for (Normalised& unit : out) unit.end = end = std::max(end, unit.end);
  return out;
}

std::string normalise(std::string_view text, Form form) {
  if (is_normalised(text, form)) return std::string(text);
  std::string out;
  for (const Normalised& unit : normalise_aligned(text, form)) utf8::append(out, unit.code_point);
  return out;
}

}  // namespace rondo::unicode
