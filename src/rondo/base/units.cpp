#include "base/units.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/utf8.h"

namespace rondo::units {
namespace {

constexpr char32_t kHigh = 0xD800;  // the first surrogate of each half, and what follows them
constexpr char32_t kLow = 0xDC00;
constexpr char32_t kBehind = 0xE000;
constexpr char32_t kBeyond = 0x10000;  // the first code point of two units

void append_latin1(std::string& out, std::string_view units) {
  for (std::size_t at = 0; at < units.size();) {
    const std::size_t end = utf8::skip_ascii(units, at);
    out.append(units, at, end - at);
    for (at = end; at < units.size() && static_cast<unsigned char>(units[at]) >= 0x80; ++at) {
      const auto unit = static_cast<unsigned char>(units[at]);
      const char bytes[] = {static_cast<char>(0xC0U | unsigned{unit} >> 6U), static_cast<char>(0x80U | (unit & 0x3FU))};
      out.append(bytes, sizeof bytes);
    }
  }
}

// Four units that are ASCII are four bytes.
constexpr std::size_t kTogether = 4;

bool is_ascii(std::uint64_t four) { return (four & 0xFF80FF80FF80FF80U) == 0; }

std::uint32_t narrowed(std::uint64_t four) {
  four = (four | four >> 8U) & 0x0000FFFF0000FFFFU;
  return static_cast<std::uint32_t>(four | four >> 16U);
}

class Utf16 {
 public:
  explicit Utf16(std::string_view bytes) : bytes_(bytes) {}

  // Appends the ASCII units from `at` on, as far as they stand together in fours; returns where they end.
  std::size_t ascii(std::string& out, std::size_t at) const {
    char found[64];
    std::size_t size = 0;
    for (std::uint64_t four = 0; at + kTogether <= count(); at += kTogether) {
      std::memcpy(&four, bytes_.data() + 2 * at, sizeof four);
      if (!is_ascii(four)) break;
      const std::uint32_t narrow = narrowed(four);
      std::memcpy(found + size, &narrow, sizeof narrow);
      size += sizeof narrow;
      if (size == sizeof found) {
        out.append(found, size);
        size = 0;
      }
    }
    out.append(found, size);
    return at;
  }

  // The code point at `at`, which is led behind it.
  char32_t next(std::size_t& at) const {
    const char32_t unit = (*this)[at++];
    if (unit < kHigh || unit >= kLow || at == count()) return unit;
    const char32_t low = (*this)[at];
    if (low < kLow || low >= kBehind) return unit;
    ++at;
    return kBeyond + ((unit - kHigh) << 10U) + (low - kLow);
  }

  [[nodiscard]] std::size_t count() const { return bytes_.size() / 2; }

 private:
  char16_t operator[](std::size_t at) const {
    char16_t unit = 0;
    std::memcpy(&unit, bytes_.data() + 2 * at, sizeof unit);
    return unit;
  }

  std::string_view bytes_;
};

void append_utf16(std::string& out, std::string_view bytes) {
  const Utf16 units(bytes);
  for (std::size_t at = 0; at < units.count();) {
    at = units.ascii(out, at);
    // Up to the end of the word that stopped it, and as long as there is nothing of ASCII.
    for (std::size_t steps = 0; at < units.count() && steps < kTogether; ++steps) {
      const char32_t code_point = units.next(at);
      utf8::append(out, code_point);
      if (code_point >= 0x80) steps = 0;
    }
  }
}

char* put(char* to, char16_t unit) {
  std::memcpy(to, &unit, sizeof unit);
  return to + sizeof unit;
}

char* put_code_point(char* to, char32_t code_point) {
  if (code_point < kBeyond) return put(to, static_cast<char16_t>(code_point));
  to = put(to, static_cast<char16_t>(kHigh + ((code_point - kBeyond) >> 10U)));
  return put(to, static_cast<char16_t>(kLow + ((code_point - kBeyond) & 0x3FFU)));
}

}  // namespace

void append(std::string& out, std::string_view units, Width width) {
  assert(units.size() % static_cast<std::size_t>(width) == 0);
  out.reserve(out.size() + units.size() / static_cast<std::size_t>(width));
  if (width == Width::kLatin1) {
    append_latin1(out, units);
  } else {
    append_utf16(out, units);
  }
}

Fit fit(std::string_view text) {
  Fit out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = utf8::skip_ascii(text, at);
    out.count += end - at;
    if (end == text.size()) break;
    const utf8::Decoded decoded = utf8::decode(text, end);
    if (!decoded.valid) out.is_valid = false;
    out.is_same = false;
    out.count += decoded.code_point < kBeyond ? 1 : 2;
    if (decoded.code_point > 0xFF) out.width = Width::kUtf16;
    at = end + decoded.size;
  }
  return out;
}

void write(std::string_view text, const Fit& fit, char* to) {
  assert(fit.is_valid);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = utf8::skip_ascii(text, at);
    if (fit.width == Width::kLatin1) {
      to = std::copy(text.data() + at, text.data() + end, to);
    } else {
      for (; at < end; ++at) to = put(to, static_cast<unsigned char>(text[at]));
    }
    if (end == text.size()) return;
    const utf8::Decoded decoded = utf8::decode(text, end);
    at = end + decoded.size;
    if (fit.width == Width::kLatin1) {
      *to++ = static_cast<char>(decoded.code_point);
    } else {
      to = put_code_point(to, decoded.code_point);
    }
  }
}

}  // namespace rondo::units
