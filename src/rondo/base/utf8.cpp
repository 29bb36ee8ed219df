#include "base/utf8.h"

namespace rondo::utf8 {
namespace {

constexpr Decoded kInvalidByte{kReplacement, 1, false};

unsigned byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

}  // namespace

// Table 3-7 of the Unicode standard: the range of the second byte depends on the first, and all later ones are 80..BF.
Decoded decode(std::string_view text, std::size_t at) {
  const unsigned lead = byte_at(text, at);
  if (lead < 0x80) return {static_cast<char32_t>(lead), 1, true};
  if (lead < 0xC2 || lead > 0xF4) return kInvalidByte;
  const unsigned size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  char32_t code_point = lead & (0x7FU >> size);
  for (unsigned i = 1; i < size; ++i) {
    if (at + i >= text.size()) return {kReplacement, static_cast<std::uint8_t>(i), false};
    const unsigned next = byte_at(text, at + i);
    if (next < low || next > high) return {kReplacement, static_cast<std::uint8_t>(i), false};
    code_point = (code_point << 6U) | (next & 0x3FU);
    low = 0x80;
    high = 0xBF;
  }
  return {code_point, static_cast<std::uint8_t>(size), true};
}

void append(std::string& out, char32_t code_point) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0U | (code_point >> 6U));
    put(0x80U | (code_point & 0x3FU));
  } else if (code_point < 0x10000) {
    put(0xE0U | (code_point >> 12U));
    put(0x80U | ((code_point >> 6U) & 0x3FU));
    put(0x80U | (code_point & 0x3FU));
  } else {
    put(0xF0U | (code_point >> 18U));
    put(0x80U | ((code_point >> 12U) & 0x3FU));
    put(0x80U | ((code_point >> 6U) & 0x3FU));
    put(0x80U | (code_point & 0x3FU));
  }
}

std::size_t first_invalid(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const unsigned lead = byte_at(text, at);
    if (lead < 0x80) {
      at = skip_ascii(text, at);
      continue;
    }
    // Most other characters have three bytes.  After these first bytes, any two continuation bytes are valid.
    if (lead > 0xE0 && lead < 0xF0 && lead != 0xED && at + 3 <= text.size() && is_continuation(text[at + 1]) &&
        is_continuation(text[at + 2])) {
      at += 3;
      continue;
    }
    const Decoded decoded = decode(text, at);
    if (!decoded.valid) return at;
    at += decoded.size;
  }
  return text.size();
}

bool is_valid(std::string_view text) { return first_invalid(text) == text.size(); }

std::size_t length(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) at += decode(text, at).size;
  return count;
}

std::size_t offset_of(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < text.size(); --index) at += decode(text, at).size;
  return at;
}

std::string to_valid(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Decoded decoded = decode(text, at);
    if (decoded.valid) {
      out.append(text.substr(at, decoded.size));
    } else {
      append(out, kReplacement);
    }
    at += decoded.size;
  }
  return out;
}

std::size_t complete_prefix(std::string_view text) {
  if (text.empty() || byte_at(text, text.size() - 1) < 0x80) return text.size();
  // A sequence has at most four bytes, so only the last three positions can hold an unfinished lead byte.
  const std::size_t first = text.size() > 3 ? text.size() - 3 : 0;
  for (std::size_t at = first; at < text.size(); ++at) {
    if (byte_at(text, at) < 0xC2 || byte_at(text, at) > 0xF4) continue;
    const Decoded decoded = decode(text, at);
    if (!decoded.valid && at + decoded.size == text.size()) return at;
  }
  return text.size();
}

}  // namespace rondo::utf8
