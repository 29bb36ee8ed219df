#include "tests/support/varied_template.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/files.h"
#include "jinja/template.h"
#include "tests/support/golden.h"
#include "tests/support/random_template.h"

namespace rondo::test {
namespace {

enum class Kind : std::uint8_t { kText, kOpen, kClose, kSpace, kString, kName, kSign };

// A piece of a template's source: text, the mark of a tag, or a word in a tag.
struct Piece {
  Kind kind = Kind::kText;
  std::string text;
};
using Pieces = std::vector<Piece>;

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }

// Returns the end of the piece that begins at `at` in a tag.
std::size_t end_in_tag(const std::string& source, std::size_t at) {
  const auto behind = [&source, at](bool (*is_part)(char)) {
    std::size_t end = at;
    while (end < source.size() && is_part(source[end])) ++end;
    return end;
  };
  if (is_space(source[at])) return behind(is_space);
  if (is_word(source[at])) return behind(is_word);
  if (source[at] != '\'' && source[at] != '"') return at + 1;
  std::size_t end = at + 1;
  while (end < source.size() && source[end] != source[at]) end += source[end] == '\\' ? 2 : 1;
  return std::min(end + 1, source.size());
}

Kind kind_in_tag(char first) {
  if (is_space(first)) return Kind::kSpace;
  if (is_word(first)) return Kind::kName;
  return first == '\'' || first == '"' ? Kind::kString : Kind::kSign;
}

Pieces pieces_of(const std::string& source) {
  Pieces out;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t open = std::min({source.find("{{", at), source.find("{%", at), source.size()});
    if (open > at) out.push_back({Kind::kText, source.substr(at, open - at)});
    if (open == source.size()) break;
    const std::string close = source[open + 1] == '{' ? "}}" : "%}";
    at = open + (source.compare(open + 2, 1, "-") == 0 ? 3 : 2);
    out.push_back({Kind::kOpen, source.substr(open, at - open)});
    while (at < source.size()) {
      const std::string_view rest = std::string_view(source).substr(at);
      const std::size_t size = rest.starts_with(close) ? 2 : rest.starts_with("-" + close) ? 3 : 0;
      if (size > 0) {
        out.push_back({Kind::kClose, source.substr(at, size)});
        at += size;
        break;
      }
      const std::size_t end = end_in_tag(source, at);
      out.push_back({kind_in_tag(source[at]), source.substr(at, end - at)});
      at = end;
    }
  }
  return out;
}

std::string joined(const Pieces& pieces) {
  std::string out;
  for (const Piece& piece : pieces) out += piece.text;
  return out;
}

// Edits the pieces of one template.  Each edit says whether it was made.
class Editor {
 public:
  Editor(Pieces pieces, Random& random) : pieces_(std::move(pieces)), random_(random) {}

  [[nodiscard]] const Pieces& pieces() const { return pieces_; }

  bool edit() {
    constexpr std::array kEdits = {
        &Editor::shorten,   &Editor::empty,     &Editor::exchange,     &Editor::leave_out_operand,
        &Editor::decide,    &Editor::trim_more, &Editor::leave_filter, &Editor::rename,
        &Editor::leave_out, &Editor::filter,    &Editor::twice,        &Editor::shrink};
    return (this->*random_.pick(kEdits))();
  }

 private:
  template <typename Fits>
  std::optional<std::size_t> pick(Fits fits) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < pieces_.size(); ++i)
      if (fits(i)) all.push_back(i);
    return all.empty() ? std::nullopt : std::optional(random_.pick(all));
  }
  [[nodiscard]] bool is(std::size_t at, std::string_view text) const {
    return at < pieces_.size() && pieces_[at].text == text;
  }
  [[nodiscard]] bool is_field(std::size_t at) const {
    return at > 0 && pieces_[at].kind == Kind::kName && is(at - 1, ".");
  }
  std::optional<std::size_t> pick_text() {
    return pick([this](std::size_t i) { return pieces_[i].kind == Kind::kString || pieces_[i].kind == Kind::kText; });
  }
  void erase(std::size_t begin, std::size_t end) {
    pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(begin),
                  pieces_.begin() + static_cast<std::ptrdiff_t>(end));
  }

  // Takes the first or last character from a text.
  bool shorten() {
    const auto at = pick_text();
    if (!at) return false;
    std::string& text = pieces_[*at].text;
    const std::size_t quote = pieces_[*at].kind == Kind::kString ? 1 : 0;
    if (text.size() <= 2 * quote + 1) return false;
    const bool first = random_.one_in(2);
    std::size_t begin = first ? quote : text.size() - quote - 1;
    std::size_t end = begin + 1;
    if (first && text[begin] == '\\') ++end;
    if (!first && begin > quote && text[begin - 1] == '\\') --begin;
    while (first && end < text.size() && (text[end] & 0xC0) == 0x80) ++end;
    while (!first && begin > quote && (text[begin] & 0xC0) == 0x80) --begin;
    text.erase(begin, end - begin);
    return true;
  }
  // Leaves one character.
  bool shrink() {
    const auto at =
        pick([this](std::size_t i) { return pieces_[i].kind == Kind::kString && pieces_[i].text.size() > 3; });
    if (!at) return false;
    std::string& text = pieces_[*at].text;
    const char kept = random_.one_in(2) ? text[1] : text[text.size() - 2];
    if (kept == '\\' || (kept & 0x80) != 0) return false;
    text = text.front() + std::string(1, kept) + text.back();
    return true;
  }
  bool empty() {
    const auto at = pick_text();
    if (at) pieces_[*at].text = pieces_[*at].kind == Kind::kString ? "''" : "";
    return at.has_value();
  }
  // Writes another text of the template.
  bool exchange() {
    const auto is_string = [this](std::size_t i) { return pieces_[i].kind == Kind::kString; };
    const auto at = pick(is_string);
    const auto other = pick(is_string);
    if (at) pieces_[*at].text = pieces_[*other].text;
    return at.has_value();
  }
  bool leave_out_operand() {
    const auto at =
        pick([this](std::size_t i) { return pieces_[i].kind == Kind::kSign && (is(i, "~") || is(i, "+")); });
    if (!at) return false;
    std::size_t end = *at + 1;
    while (end < pieces_.size() && pieces_[end].kind == Kind::kSpace) ++end;
    for (std::size_t depth = 0; end < pieces_.size() && pieces_[end].kind != Kind::kClose; ++end) {
      const bool opens = is(end, "(") || is(end, "[") || is(end, "{");
      const bool closes = is(end, ")") || is(end, "]") || is(end, "}");
      if (depth == 0 && (closes || pieces_[end].kind == Kind::kSpace)) break;
      depth = opens ? depth + 1 : closes ? depth - 1 : depth;
    }
    erase(*at, end);
    return true;
  }
  // Negates or leaves out a condition.
  bool decide() {
    const auto at = pick([this](std::size_t i) {
      return i > 1 && (is(i, "if") || is(i, "elif")) && pieces_[i - 2].kind == Kind::kOpen;
    });
    if (!at) return false;
    std::size_t end = *at;
    while (end < pieces_.size() && pieces_[end].kind != Kind::kClose) ++end;
    const std::size_t how = random_.below(4);
    if (how < 2) {
      erase(*at + 1, end);
      pieces_[*at].text += how == 0 ? " true " : " false ";
    } else {
      pieces_[*at].text += " not (";
      pieces_[end - 1].text += ") ";
    }
    return true;
  }
  // Takes or leaves the white space beside a tag.
  bool trim_more() {
    const auto at =
        pick([this](std::size_t i) { return pieces_[i].kind == Kind::kOpen || pieces_[i].kind == Kind::kClose; });
    if (!at) return false;
    std::string& text = pieces_[*at].text;
    if (text.size() == 3)
      text.erase(pieces_[*at].kind == Kind::kOpen ? 2 : 0, 1);
    else
      text.insert(pieces_[*at].kind == Kind::kOpen ? 2 : 0, "-");
    return true;
  }
  bool leave_filter() {
    const auto at = pick([this](std::size_t i) { return pieces_[i].kind == Kind::kSign && is(i, "|"); });
    if (!at) return false;
    std::size_t end = *at + 1;
    while (end < pieces_.size() && pieces_[end].kind != Kind::kName) ++end;
    if (is(++end, "(")) {
      while (end < pieces_.size() && !is(end, ")")) ++end;
      ++end;
    }
    if (end > pieces_.size()) return false;
    erase(*at, end);
    return true;
  }
  // Reads another field that the template reads somewhere.
  bool rename() {
    const auto at = pick([this](std::size_t i) { return is_field(i); });
    const auto other = pick([this](std::size_t i) { return is_field(i); });
    if (at) pieces_[*at].text = pieces_[*other].text;
    return at.has_value();
  }
  // Leaves out an output.
  bool leave_out() {
    const auto at = pick([this](std::size_t i) { return pieces_[i].text.starts_with("{{"); });
    if (!at) return false;
    std::size_t end = *at;
    while (end + 1 < pieces_.size() && pieces_[end].kind != Kind::kClose) ++end;
    erase(*at, end + 1);
    return true;
  }
  bool filter() {
    static constexpr std::array kFilters = {"trim", "tojson", "string", "upper", "tojson(indent=1)"};
    const auto at = pick([this](std::size_t i) { return i > 1 && is_field(i) && pieces_[i - 2].kind == Kind::kName; });
    if (!at || (*at > 2 && is(*at - 3, "."))) return false;
    pieces_[*at - 2].text.insert(0, "(");
    pieces_[*at].text += std::string(" | ") + random_.pick(kFilters) + ")";
    return true;
  }
  bool twice() {
    const auto at = pick_text();
    if (!at) return false;
    const std::string text = pieces_[*at].text;
    const std::size_t quote = pieces_[*at].kind == Kind::kString ? 1 : 0;
    pieces_[*at].text.insert(text.size() - quote, text.substr(quote, text.size() - 2 * quote));
    return true;
  }

  Pieces pieces_;
  Random& random_;
};

std::vector<std::string> lines_of(const std::string& source) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size() - 1) + 1;
    out.push_back(source.substr(at, end - at));
    at = end;
  }
  return out;
}

// Puts a line of the other template in place of a line, or in front of it.
std::string crossed(const std::string& source, const std::string& other, Random& random) {
  std::vector<std::string> lines = lines_of(source);
  const std::vector<std::string> others = lines_of(other);
  const std::size_t at = random.below(lines.size());
  const std::string& line = others[random.below(others.size())];
  lines[at] = random.one_in(3) ? line + lines[at] : line;
  std::string out;
  for (const std::string& kept : lines) out += kept;
  return out;
}

}  // namespace

std::string varied_template(const std::string& source, const std::string& other, std::uint64_t seed) {
  constexpr int kMostTrials = 60;
  Random random(seed);
  for (int trial = 0; trial < kMostTrials; ++trial) {
    std::string out = source;
    for (std::size_t lines = random.below(4); lines-- > 0;) out = crossed(out, other, random);
    Editor editor(pieces_of(out), random);
    bool is_edited = true;
    for (std::size_t edits = random.below(4); edits-- > 0;) is_edited = editor.edit() && is_edited;
    out = joined(editor.pieces());
    if (is_edited && out != source && jinja::Template::compile(out, {}, "varied").ok()) return out;
  }
  return source;
}

void check_edited(const std::string& golden, const std::map<std::string, std::string>& sources,
                  const std::function<std::string(const EditedTemplate&)>& describe) {
  const auto rows = files::read(std::string(RONDO_SOURCE_DIR) + "/tests/golden/" + golden);
  REQUIRE(rows.ok());
  std::string out;
  std::istringstream lines(rows.value());
  std::string digest;
  std::string name;
  std::string other;
  for (std::uint64_t seed = 0; lines >> digest >> name >> other >> seed;) {
    std::string row = name;
    row.append(" ").append(other).append(" ").append(std::to_string(seed));
    const std::string source = varied_template(sources.at(name), sources.at(other), seed);
    out.append(hex_digest({describe({name, row, source})})).append(" ").append(row).append("\n");
  }
  check_golden(golden, out);
}

}  // namespace rondo::test
