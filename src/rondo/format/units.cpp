#include "format/units.h"

#include <algorithm>

namespace rondo::format {
namespace {

bool is_opening(char byte) { return byte == '<' || byte == '[' || byte == '{' || byte == '('; }
bool is_closing(char byte) { return byte == '>' || byte == ']' || byte == '}' || byte == ')'; }

}  // namespace

bool is_word(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_';
}

bool is_paired(std::string_view text) {
  std::string open;
  for (const char byte : text) {
    const std::size_t closes = std::string_view(">])}").find(byte);
    if (is_opening(byte)) open += byte;
    if (closes == std::string_view::npos) continue;
    if (open.empty() || open.back() != std::string_view("<[({")[closes]) return false;
    open.pop_back();
  }
  return open.empty();
}

bool is_mark(std::string_view text) {
  const bool has_bracket =
      std::any_of(text.begin(), text.end(), is_opening) || std::any_of(text.begin(), text.end(), is_closing);
  return !text.empty() && !has_bracket && (!is_word(text.front()) || !is_word(text.back()));
}

namespace {

// The size of the longest atom at the beginning of `text`; 0 if there is none.
std::size_t atom_at(std::string_view text, bool is_inside, std::span<const std::string> atoms) {
  std::size_t best = 0;
  for (const std::string& atom : atoms) {
    // Inside brackets only atoms that break them count.
    if (atom.size() > best && text.starts_with(atom) && (!is_inside || !is_paired(atom))) best = atom.size();
  }
  return best;
}

// How many bytes of punctuation after the bracket at `close` mirror those before the one at `open`, as in `#[x]#`.
std::size_t mirrored(std::string_view text, std::size_t open, std::size_t close) {
  if (open == 0 || close + 1 >= text.size()) return 0;
  const char mark = text[open - 1];
  const bool is_outside = is_word(mark) || is_space(mark) || is_opening(mark) || is_closing(mark) ||
                          static_cast<unsigned char>(mark) >= 0x80 ||
                          std::string_view("\"'`,").find(mark) != std::string_view::npos;
  if (is_outside) return 0;
  std::size_t size = 0;
  while (size < open && close + 1 + size < text.size() && text[open - 1 - size] == mark &&
         text[close + 1 + size] == mark)
    ++size;
  return size;
}

bool contains(const std::vector<std::size_t>& sorted, std::size_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

}  // namespace

bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r'; }

bool is_blank(std::string_view text) { return std::all_of(text.begin(), text.end(), is_space); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::size_t> unit_boundaries(std::string_view text, std::span<const std::string> atoms) {
  std::vector<std::size_t> out{0};
  int depth = 0;
  std::size_t open = 0;  // of the outermost bracket
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (const std::size_t size = atom_at(text.substr(i), depth > 0, atoms); size > 0) {
      out.push_back(i);
      out.push_back(i + size);
      depth = 0;
      i += size - 1;
      continue;
    }
    const char byte = text[i];
    if (is_opening(byte)) {
      if (depth == 0 && i > 0 && is_closing(text[i - 1])) out.push_back(i);
      if (depth == 0) open = i;
      ++depth;
    } else if (is_closing(byte)) {
      depth = std::max(0, depth - 1);
      if (const std::size_t size = depth == 0 ? mirrored(text, open, i) : 0; size > 0) {
        i += size;
        out.push_back(i + 1);
        continue;
      }
      const bool run_goes_on = i + 1 < text.size() && (text[i + 1] == byte || is_word(text[i + 1]));
      if (depth == 0 && !run_goes_on) out.push_back(i + 1);
    } else if (depth == 0 && is_space(byte)) {
      out.push_back(i);
      out.push_back(i + 1);
    }
  }
  out.push_back(text.size());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

std::size_t alike_in_front(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

std::size_t alike_behind(std::string_view a, std::string_view b) {
  std::size_t same = 0;
  while (same < a.size() && same < b.size() && a[a.size() - 1 - same] == b[b.size() - 1 - same]) ++same;
  return same;
}

std::size_t common_prefix(std::string_view a, std::string_view b, std::span<const std::string> atoms) {
  std::size_t same = alike_in_front(a, b);
  const auto in_a = unit_boundaries(a, atoms);
  const auto in_b = unit_boundaries(b, atoms);
  while (same > 0 && !(contains(in_a, same) && contains(in_b, same))) --same;
  return same;
}

std::size_t common_suffix(std::string_view a, std::string_view b, std::span<const std::string> atoms) {
  std::size_t same = alike_behind(a, b);
  const auto in_a = unit_boundaries(a, atoms);
  const auto in_b = unit_boundaries(b, atoms);
  while (same > 0 && !(contains(in_a, a.size() - same) && contains(in_b, b.size() - same))) --same;
  return same;
}

}  // namespace rondo::format
