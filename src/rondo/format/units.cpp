#include "format/units.h"

#include <algorithm>

namespace rondo::format {
namespace {

bool is_opening(char byte) { return byte == '<' || byte == '[' || byte == '{' || byte == '('; }
bool is_closing(char byte) { return byte == '>' || byte == ']' || byte == '}' || byte == ')'; }

}  // namespace

bool is_word(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || is_digit(byte) || byte == '_';
}

bool is_tag_byte(char byte) { return is_word(byte) || byte == '-' || byte == ':' || byte == '.'; }

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

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

std::string numbered(std::string_view marker, std::size_t number) {
  std::string out;
  for (const char byte : marker) out += byte == kCounter ? std::to_string(number) : std::string(1, byte);
  return out;
}

std::string_view before_counter(std::string_view marker) { return marker.substr(0, marker.find(kCounter)); }

std::size_t numbered_suffix(std::string_view text, std::string_view marker) {
  std::size_t at = text.size();
  for (std::size_t left = marker.size(); left > 0; --left) {
    const bool is_counter = marker[left - 1] == kCounter;
    const bool is_inside = at < text.size() && !is_space(marker[left - 1]);
    while (is_inside && at > 0 && is_space(text[at - 1])) --at;
    if (at == 0 || (is_counter ? !is_digit(text[at - 1]) : text[at - 1] != marker[left - 1])) return 0;
    --at;
    while (is_counter && at > 0 && is_digit(text[at - 1])) --at;
  }
  return text.size() - at;
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

std::string_view trailing_space(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return last == std::string_view::npos ? text : text.substr(last + 1);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

namespace {

// Walks over a text and collects the places at which its units begin and end.
class Boundaries {
 public:
  explicit Boundaries(std::string_view text) : text_(text) {}

  // Each returns how many bytes it has read.
  std::size_t atom(std::size_t at, std::size_t size) {
    found_.push_back(at);
    found_.push_back(at + size);
    depth_ = 0;
    return size;
  }
  std::size_t byte(std::size_t at) {
    if (is_opening(text_[at])) return opening(at);
    if (is_closing(text_[at])) return closing(at);
    if (depth_ == 0 && is_space(text_[at])) {
      found_.push_back(at);
      found_.push_back(at + 1);
    }
    return 1;
  }

  [[nodiscard]] bool is_inside() const { return depth_ > 0; }
  std::vector<std::size_t> sorted() && {
    found_.push_back(text_.size());
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

 private:
  std::size_t opening(std::size_t at) {
    if (depth_ == 0) open_ = at;
    ++depth_;
    return 1;
  }
  std::size_t closing(std::size_t at) {
    depth_ = std::max(0, depth_ - 1);
    if (depth_ > 0) return 1;
    const std::size_t size = mirrored(text_, open_, at);
    const std::size_t next = at + 1;
    const bool run_goes_on = next < text_.size() && (text_[next] == text_[at] || is_word(text_[next]));
    if (size > 0 || !run_goes_on) found_.push_back(next + size);
    return 1 + size;
  }

  std::string_view text_;
  std::vector<std::size_t> found_ = {0};
  int depth_ = 0;
  std::size_t open_ = 0;  // of the outermost bracket
};

}  // namespace

bool is_plain(std::string_view text) {
  text = trimmed(text);
  constexpr std::string_view kOpening = "<[{(";
  constexpr std::string_view kClosing = ">]})";
  return text.size() < 3 || kOpening.find(text.front()) == std::string_view::npos ||
         kClosing.find(text.back()) == std::string_view::npos;
}

std::vector<std::size_t> unit_boundaries(std::string_view text, std::span<const std::string> atoms) {
  Boundaries out(text);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = atom_at(text.substr(i), out.is_inside(), atoms);
    i += size > 0 ? out.atom(i, size) : out.byte(i);
  }
  return std::move(out).sorted();
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
