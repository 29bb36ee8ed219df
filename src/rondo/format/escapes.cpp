#include "format/escapes.h"

#include <algorithm>

#include "json/print.h"

namespace rondo::format {
namespace {

// The longest escape at the beginning of `written`; nullptr if there is none.
const Escape* escape_at(std::string_view written, std::span<const Escape> escapes) {
  const Escape* best = nullptr;
  for (const Escape& escape : escapes) {
    if (written.starts_with(escape.written) && (best == nullptr || escape.written.size() > best->written.size()))
      best = &escape;
  }
  return best;
}

}  // namespace

std::vector<Escape> json_escapes() {
  std::vector<Escape> out;
  for (char byte = 0; byte < 0x20; ++byte) {
    std::string written;
    json::append_escaped(written, std::string_view(&byte, 1), false);
    out.push_back({std::string(1, byte), std::move(written)});
  }
  out.push_back({"\"", "\\\""});
  out.push_back({"\\", "\\\\"});
  return out;
}

std::string escaped(std::string_view text, std::span<const Escape> escapes) {
  std::string out;
  while (!text.empty()) {
    const auto found = std::ranges::find_if(escapes, [&](const Escape& e) { return text.starts_with(e.text); });
    const std::size_t size = found == escapes.end() ? 1 : found->text.size();
    out += found == escapes.end() ? text.substr(0, 1) : std::string_view(found->written);
    text.remove_prefix(size);
  }
  return out;
}

std::string unescaped(std::string_view written, std::span<const Escape> escapes) {
  if (escapes.empty()) return std::string(written);
  std::string out;
  while (!written.empty()) {
    const Escape* escape = escape_at(written, escapes);
    out += escape == nullptr ? written.substr(0, 1) : std::string_view(escape->text);
    written.remove_prefix(escape == nullptr ? 1 : escape->written.size());
  }
  return out;
}

std::string unescaped_text(std::string_view written, std::span<const Escape> escapes) {
  const bool is_quoted = !escapes.empty() && written.size() > 1 && written.front() == '"' && written.back() == '"' &&
                         std::ranges::any_of(escapes, [](const Escape& escape) { return escape.written == "\\\""; });
  return unescaped(is_quoted ? written.substr(1, written.size() - 2) : written, escapes);
}

std::size_t plain_size(std::string_view written, std::span<const Escape> escapes) {
  std::size_t size = written.size();
  for (const Escape& escape : escapes) size = std::min(size, written.substr(0, size).find(escape.written.front()));
  return size;
}

std::size_t unit_size(std::string_view written, std::span<const Escape> escapes) {
  const Escape* escape = escape_at(written, escapes);
  return escape == nullptr ? 1 : escape->written.size();
}

std::size_t whole_units(std::string_view written, std::span<const Escape> escapes) {
  for (std::size_t at = 0; at < written.size();) {
    const std::string_view rest = written.substr(at);
    const bool may_become = std::ranges::any_of(
        escapes, [&](const Escape& e) { return rest.size() < e.written.size() && e.written.starts_with(rest); });
    if (may_become) return at;
    at += unit_size(rest, escapes);
  }
  return written.size();
}

}  // namespace rondo::format
