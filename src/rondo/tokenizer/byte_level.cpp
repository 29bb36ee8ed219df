#include "tokenizer/byte_level.h"

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace rondo::tokenizer::byte_level {
namespace {

constexpr bool is_printable(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

struct Tables {
  std::array<char16_t, 256> chars{};
  std::array<std::int16_t, 512> bytes{};
};

// Printable Latin-1 characters represent themselves; the other bytes get U+0100, U+0101, ... in order.
constexpr Tables make_tables() {
  Tables tables;
  for (auto& entry : tables.bytes) entry = -1;
  char16_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    tables.chars[byte] = is_printable(byte) ? static_cast<char16_t>(byte) : next++;
    tables.bytes[tables.chars[byte]] = static_cast<std::int16_t>(byte);
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

char32_t to_char(unsigned char byte) { return kTables.chars[byte]; }

std::optional<unsigned char> to_byte(char32_t code_point) {
  if (code_point >= kTables.bytes.size() || kTables.bytes[code_point] < 0) return std::nullopt;
  return static_cast<unsigned char>(kTables.bytes[code_point]);
}

bool append_bytes(std::string_view text, std::string& out) {
  const std::size_t before = out.size();
  out.resize(before + text.size());
  char* to = out.data() + before;
  for (std::size_t at = 0; at < text.size();) {
    // All characters of the alphabet take one or two bytes.
    const auto lead = static_cast<unsigned char>(text[at]);
    std::size_t code = lead;
    std::size_t size = 1;
    if (lead >= 0x80) {
      const bool is_pair = lead >= 0xC2 && lead < 0xE0 && at + 1 < text.size() && utf8::is_continuation(text[at + 1]);
      code = is_pair ? (lead & 0x1FU) << 6U | (static_cast<unsigned char>(text[at + 1]) & 0x3FU) : 0;
      size = 2;
    }
    if (code >= kTables.bytes.size() || kTables.bytes[code] < 0) {
      out.resize(before);
      return false;
    }
    *to++ = static_cast<char>(kTables.bytes[code]);
    at += size;
  }
  out.resize(static_cast<std::size_t>(to - out.data()));
  return true;
}

std::optional<std::string> to_bytes(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  if (!append_bytes(text, bytes)) return std::nullopt;
  return bytes;
}

std::string to_text(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) utf8::append(text, to_char(static_cast<unsigned char>(byte)));
  return text;
}

}  // namespace rondo::tokenizer::byte_level
