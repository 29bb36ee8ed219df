#include "tester/difference.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "audit/line_diff.h"
#include "base/printing.h"
#include "base/utf8.h"
#include "format/units.h"
#include "render/turn.h"

namespace rondo::tester {
namespace {

constexpr std::size_t kMostPlaces = 8;
constexpr std::size_t kQuotedCharacters = 120;
constexpr std::size_t kSourceCharacters = 100;
// How many bytes of a long line are shown: before the place that matters, and in all.
constexpr std::size_t kLeadBytes = 60;
constexpr std::size_t kLineBytes = 200;

using Lines = std::vector<std::string_view>;
using Kind = ShownLine::Kind;

// A line including its end, and the column of byte `focus` in what is shown.
struct Window {
  std::string text;
  std::size_t column = 0;
};

Window window(std::string_view line, std::size_t focus) {
  std::size_t begin = 0;
  std::size_t end = line.size();
  if (line.size() > kLineBytes) {
    begin = utf8::boundary(line, focus > kLeadBytes ? focus - kLeadBytes : 0);
    end = utf8::boundary(line, std::min(line.size(), begin + kLineBytes));
  }
  const std::string lead = (begin > 0 ? "…" : "") + printing::printable(line.substr(begin, focus - begin), false);
  return {lead + printing::printable(line.substr(focus, end - focus), false) + (end < line.size() ? "…" : ""),
          utf8::length(lead)};
}

// One text, its lines, and where each begins.
struct Side {
  explicit Side(std::string_view whole) : text(whole), lines(audit::lines_with_breaks(whole)) {}

  [[nodiscard]] std::size_t begin(std::size_t line) const {
    return line < lines.size() ? static_cast<std::size_t>(lines[line].data() - text.data()) : text.size();
  }
  [[nodiscard]] std::string_view part(std::size_t from, std::size_t to) const {
    return text.substr(begin(from), begin(to) - begin(from));
  }

  std::string_view text;
  Lines lines;
};

class Report {
 public:
  Report(std::string_view expected, std::string_view got, const Sides& writers)
      : expected_(expected), got_(got), writers_(writers) {}

  std::vector<ShownLine> run() {
    const std::vector<audit::LineChange> changes = audit::line_changes(expected_.lines, got_.lines);
    for (std::size_t i = 0; i < std::min(changes.size(), kMostPlaces); ++i) add(changes[i]);
    if (changes.size() > kMostPlaces)
      put(Kind::kNote, "... and " + std::to_string(changes.size() - kMostPlaces) + " more places");
    return std::move(out_);
  }

 private:
  void put(Kind kind, std::string text) { out_.push_back({kind, std::move(text)}); }

  void add(const audit::LineChange& change) {
    const std::string_view wanted = expected_.part(change.old_begin, change.old_end);
    const std::string_view found = got_.part(change.new_begin, change.new_end);
    const std::size_t at = first_difference(wanted, found);
    put(Kind::kNote, "line " + std::to_string(change.new_begin + 1) + ":");
    if (change.new_begin > 0) put(Kind::kSame, window(got_.lines[change.new_begin - 1], 0).text);
    add_lines(Kind::kExpected, expected_, {change.old_begin, change.old_end}, at, writers_.expected);
    add_lines(Kind::kGot, got_, {change.new_begin, change.new_end}, at, writers_.got);
  }

  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };

  // Adds the lines of a change, with the place below the line that contains byte `at`.  A change without lines has a
  // place too.
  void add_lines(Kind kind, const Side& side, Range lines, std::size_t at, const Writers* writers) {
    const std::size_t byte = side.begin(lines.begin) + at;
    std::optional<std::size_t> column;
    for (std::size_t i = lines.begin; i < lines.end; ++i) {
      const std::size_t end = side.begin(i) + side.lines[i].size();
      const bool is_here = !column && (byte < end || i + 1 == lines.end);
      const Window shown = window(side.lines[i], is_here ? std::min(byte, end) - side.begin(i) : 0);
      put(kind, shown.text);
      if (!is_here) continue;
      column = shown.column;
      add_place(writers, byte, shown.column);
    }
    if (!column) add_place(writers, byte, 0);
  }

  void add_place(const Writers* writers, std::size_t byte, std::size_t column) {
    if (writers == nullptr) return;
    if (const std::string place = writers->at(byte); !place.empty())
      put(Kind::kPlace, std::string(column, ' ') + "^ " + place);
  }

  Side expected_;
  Side got_;
  const Sides& writers_;
  std::vector<ShownLine> out_;
};

}  // namespace

std::string_view to_string(ShownLine::Kind kind) {
  switch (kind) {
    case Kind::kSame: return "same";
    case Kind::kExpected: return "expected";
    case Kind::kGot: return "got";
    case Kind::kPlace: return "place";
    case Kind::kNote: return "note";
  }
  return "";
}

std::size_t first_difference(std::string_view a, std::string_view b) {
  const auto [in_a, in_b] = std::ranges::mismatch(a, b);
  return utf8::boundary(b, static_cast<std::size_t>(in_b - b.begin()));
}

std::string quoted(std::string_view text) {
  return '"' + printing::printable(printing::elided(text, kQuotedCharacters), false) + '"';
}

// For a long line, the text from the place on is shown.
std::string Writers::source(const core::TemplatePlace& place) const {
  const auto line = static_cast<std::size_t>(place.line);
  if (place.line < 1 || line > namer_.lines().size()) return "";
  std::string_view text = namer_.lines().line(line);
  if (utf8::length(text) > kSourceCharacters)
    text.remove_prefix(utf8::offset_of(text, static_cast<std::size_t>(std::max<std::int64_t>(place.column, 1) - 1)));
  const std::string shown = printing::printable(printing::elided(format::trimmed(text), kSourceCharacters), false);
  return "template line " + std::to_string(line) + (shown.empty() ? "" : ": " + shown);
}

std::string Writers::at(std::size_t byte) const {
  const std::optional<text::Run> found = namer_.run_at(byte);
  if (!found) return "";
  const core::NamedOrigin origin = namer_.name(*found);
  const std::string line = source(origin.place);
  if (!origin.path.empty()) return origin.path + (line.empty() ? "" : ", written by " + line);
  const std::int32_t message = namer_.message(render::owner(*found, rendered_.origins));
  const std::string turn = message < 0 ? "" : ", in the turn of messages[" + std::to_string(message) + "]";
  return (line.empty() ? std::string(origin.from) : line) + turn;
}

std::vector<ShownLine> difference(std::string_view expected, std::string_view got, const Sides& writers) {
  return Report(expected, got, writers).run();
}

}  // namespace rondo::tester
