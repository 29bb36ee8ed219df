#include "base/printing.h"

#include <array>
#include <cstdio>

#include "base/utf8.h"

namespace rondo::printing {
namespace {

bool is_unseen(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0xA0) || c == 0xAD || c == 0x61C || c == 0x180E ||
         (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202F) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
         (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE01EF);
}

std::string escape(char32_t c) {
  if (c == '\n') return "\\n";
  if (c == '\t') return "\\t";
  if (c == '\r') return "\\r";
  std::array<char, 16> buffer{};
  std::snprintf(buffer.data(), buffer.size(), c > 0xFFFF ? "\\u{%x}" : "\\u%04x", static_cast<unsigned>(c));
  return buffer.data();
}

}  // namespace

std::string printable(std::string_view text, bool keep_layout) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    const bool is_layout = next.code_point == '\n' || next.code_point == '\t';
    if (!is_unseen(next.code_point) || (is_layout && keep_layout)) {
      utf8::append(out, next.code_point);
    } else {
      out += escape(next.code_point);
    }
    at += next.size;
  }
  return out;
}

std::string elided(std::string_view text, std::size_t limit) {
  const std::size_t length = utf8::length(text);
  if (length <= limit) return std::string(text);
  const std::size_t tail = (limit - 1) / 3;
  const std::size_t head = limit - 1 - tail;
  return std::string(text.substr(0, utf8::offset_of(text, head))) + "…" +
         std::string(text.substr(utf8::offset_of(text, length - tail)));
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return printable(elided(text, kShown), false);
}

}  // namespace rondo::printing
