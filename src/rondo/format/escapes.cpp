#include "format/escapes.h"

#include <algorithm>

#include "base/hex.h"
#include "base/utf8.h"
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

// Whether the escapes are those of a web address: every byte that is no plain sign is `%` and two digits.
bool has_percents(std::span<const Escape> escapes) {
  return std::ranges::any_of(escapes, [](const Escape& e) { return e.text == "%" && e.written == "%25"; });
}

// A character whose bytes are written with percent signs.
struct PercentUnit {
  std::size_t size = 0;  // of what is written; 0 if there is no whole character
  std::string text;
  bool may_come = false;  // what is written so far may be the beginning of one
};

PercentUnit percent_unit(std::string_view written) {
  PercentUnit out;
  while (written.substr(out.size).starts_with('%')) {
    const std::optional<char> byte = hex::byte(written, out.size + 1);
    if (!byte) break;
    out.text += *byte;
    out.size += 3;
    if (utf8::is_valid(out.text)) return out;
    if (utf8::complete_prefix(out.text) != 0) return {};
  }
  const std::string_view rest = written.substr(out.size);
  const bool is_begun =
      rest.empty() || (rest[0] == '%' && (rest.size() == 1 || (rest.size() == 2 && hex::digit(rest[1]))));
  return {0, "", is_begun};
}

// The first unit of `written`, which is not empty: how much is written, and what it stands for.
struct Unit {
  std::size_t size = 1;
  std::string text;
};

Unit first_unit(std::string_view written, std::span<const Escape> escapes) {
  if (const Escape* escape = escape_at(written, escapes)) return {escape->written.size(), escape->text};
  if (written.front() == '%' && has_percents(escapes)) {
    PercentUnit unit = percent_unit(written);
    if (unit.size > 0) return {unit.size, std::move(unit.text)};
  }
  return {1, std::string(written.substr(0, 1))};
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
    const Unit unit = first_unit(written, escapes);
    out += unit.text;
    written.remove_prefix(unit.size);
  }
  return out;
}

std::string unescaped_text(std::string_view written, std::span<const Escape> escapes) {
  const bool is_quoted = !escapes.empty() && written.size() > 1 && written.front() == '"' && written.back() == '"' &&
                         std::ranges::any_of(escapes, [](const Escape& escape) { return escape.written == "\\\""; });
  return unescaped(is_quoted ? written.substr(1, written.size() - 2) : written, escapes);
}

std::size_t unit_size(std::string_view written, std::span<const Escape> escapes) {
  return first_unit(written, escapes).size;
}

std::size_t whole_units(std::string_view written, std::span<const Escape> escapes) {
  for (std::size_t at = 0; at < written.size();) {
    const std::string_view rest = written.substr(at);
    const bool may_become = std::ranges::any_of(
        escapes, [&](const Escape& e) { return rest.size() < e.written.size() && e.written.starts_with(rest); });
    if (may_become || (rest.front() == '%' && has_percents(escapes) && percent_unit(rest).may_come)) return at;
    at += unit_size(rest, escapes);
  }
  return written.size();
}

}  // namespace rondo::format
