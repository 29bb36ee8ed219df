// Shows the template of a check, with the lines that findings blame, and texts of its page.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include "base/utf8.h"
#include "pages/check_parts.h"
#include "pages/html.h"
#include "protocol/rows.h"
#include "report/summary.h"

namespace rondo::pages {
namespace {

// Characters without a visible shape, or that change the direction of the text after them.
bool is_unseen(char32_t c) {
  constexpr std::array<std::pair<char32_t, char32_t>, 16> kRanges = {{{0x7F, 0xA0},
                                                                      {0xAD, 0xAD},
                                                                      {0x61C, 0x61C},
                                                                      {0x115F, 0x1160},
                                                                      {0x180E, 0x180E},
                                                                      {0x2000, 0x200F},
                                                                      {0x2028, 0x202F},
                                                                      {0x205F, 0x206F},
                                                                      {0x3000, 0x3000},
                                                                      {0x3164, 0x3164},
                                                                      {0xFE00, 0xFE0F},
                                                                      {0xFEFF, 0xFEFF},
                                                                      {0xFFA0, 0xFFA0},
                                                                      {0xFFF9, 0xFFFC},
                                                                      {0xFFFE, 0xFFFF},
                                                                      {0xE0000, 0xE01EF}}};
  return std::ranges::any_of(kRanges, [c](const auto& range) { return c >= range.first && c <= range.second; });
}

std::string code_name(char32_t c) {
  std::array<char, 16> out{};
  std::snprintf(out.data(), out.size(), "U+%04X", static_cast<unsigned>(c));
  return out.data();
}

constexpr std::size_t kMostShown = 200;  // bytes of a line that are quoted or marked

// The beginning of `text`: whole characters of at most `most` bytes.
std::string_view whole(std::string_view text, std::size_t most) {
  return text.substr(0, utf8::complete_prefix(text.substr(0, most)));
}

// A line of the template or a piece of one, with its offset (bytes, from 0).
struct SourcePiece {
  std::string id;
  std::size_t begin = 0;
  std::size_t column = 1;  // in code points
  std::string_view text;
};

std::vector<SourcePiece> pieces_of(const CheckedModel& model, std::int32_t line) {
  const std::string& whole_line = model.report.template_lines[static_cast<std::size_t>(line) - 1];
  std::vector<std::string_view> texts = protocol::cut_line(whole_line);
  if (texts.size() > 1 && texts.front().find_first_not_of(" \t") == std::string_view::npos) {
    // Indentation does not make a piece of its own.
    texts[1] = std::string_view(whole_line).substr(0, texts[0].size() + texts[1].size());
    texts.erase(texts.begin());
  }
  std::vector<SourcePiece> out;
  std::size_t begin = 0;
  std::size_t column = 1;
  for (const std::string_view text : texts) {
    std::string id = model.key + "-L" + std::to_string(line);
    if (begin > 0) id += "-" + std::to_string(begin + 1);
    out.push_back({std::move(id), begin, column, text});
    begin += text.size();
    column += utf8::length(text);
  }
  return out;
}

const SourcePiece& piece_at(const std::vector<SourcePiece>& pieces, std::int32_t column) {
  std::size_t at = 0;
  while (at + 1 < pieces.size() && static_cast<std::size_t>(std::max(column, 1)) > pieces[at + 1].begin) ++at;
  return pieces[at];
}

bool has_line(const report::Report& report, const causes::TemplatePlace& place) {
  return place.line > 0 && static_cast<std::size_t>(place.line) <= report.template_lines.size();
}

// The findings that blame a piece.
struct Blame {
  report::Level level = report::Level::kNote;  // the highest
  std::string links;
  std::vector<std::size_t> marks;  // offsets in the piece
};

// Keyed by the ids of pieces.
std::map<std::string, Blame> blamed_pieces(const CheckedModel& model) {
  std::map<std::string, Blame> out;
  std::size_t index = 0;
  for (const auto* list : {&model.report.findings, &model.report.notes}) {
    for (const report::Finding& finding : *list) {
      const std::size_t at = index++;
      if (!has_line(model.report, finding.place)) continue;
      const std::vector<SourcePiece> pieces = pieces_of(model, finding.place.line);
      const SourcePiece& piece = piece_at(pieces, finding.place.column);
      Blame& blame = out[piece.id];
      blame.level = std::max(blame.level, finding.level);
      blame.links += "<a class=\"" + std::string(report::to_string(finding.level)) + "\" href=\"#" +
                     model.finding_id(at) + "\">" + shown(finding.rule) + "</a> ";
      if (finding.place.column > 0)
        blame.marks.push_back(static_cast<std::size_t>(finding.place.column) - 1 - piece.begin);
    }
  }
  return out;
}

// The text with marks at the offsets, each up to the end of its tag.
std::string line_html(std::string_view line, const std::vector<std::size_t>& offsets) {
  std::vector<std::pair<std::size_t, std::size_t>> marks;
  for (const std::size_t begin : offsets) {
    if (begin >= line.size() || utf8::is_continuation(line[begin])) continue;
    // The place may be the tag itself.
    std::size_t end = line.size();
    for (const std::string_view close : {"%}", "}}"}) end = std::min(end, line.find(close, begin + 2));
    if (end < line.size()) end += 2;
    marks.emplace_back(begin, begin + whole(line.substr(begin, end - begin), kMostShown).size());
  }
  std::ranges::sort(marks);
  std::string out;
  std::size_t at = 0;
  for (const auto& [begin, end] : marks) {
    if (end <= at) continue;
    const std::size_t from = std::max(begin, at);
    out += shown(line.substr(at, from - at));
    out += "<mark>" + shown(line.substr(from, end - from)) + "</mark>";
    at = end;
  }
  return out + shown(line.substr(at));
}

std::string piece_html(const SourcePiece& piece, std::int32_t line, const Blame* blame) {
  const std::string number = piece.begin > 0 ? ":" + std::to_string(piece.column) : std::to_string(line);
  std::string out = "<div class=\"l";
  if (blame != nullptr) out += " blamed " + std::string(report::to_string(blame->level));
  out += "\" id=\"" + piece.id + "\"><span class=\"n\">" + number + "</span><code>" +
         line_html(piece.text, blame != nullptr ? blame->marks : std::vector<std::size_t>{}) + "</code>";
  if (blame != nullptr) out += "<span class=\"refs\">" + blame->links + "</span>";
  return out + "</div>";
}

}  // namespace

std::string marked_text(std::string_view text, bool marks_spaces) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded unit = utf8::decode(text, at);
    if (unit.code_point == U' ' && marks_spaces) {
      out += "<span class=\"sp\"> </span>";
    } else if (unit.code_point == U'\t') {
      out += "<span class=\"w\">\u21E5</span>\t";
    } else if (is_unseen(unit.code_point)) {
      out += "<i class=\"c\">" + code_name(unit.code_point) + "</i>";
    } else if (unit.valid) {
      out += html_text(text.substr(at, unit.size));
    } else {
      utf8::append(out, utf8::kReplacement);
    }
    at += unit.size;
  }
  return out;
}

std::string attribute_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded unit = utf8::decode(text, at);
    switch (unit.code_point) {
      case U'&': out += "&amp;"; break;
      case U'<': out += "&lt;"; break;
      case U'>': out += "&gt;"; break;
      case U'"': out += "&quot;"; break;
      default:
        // Controls become their pictures, so that an attribute is read back as it was written.
        if (unit.code_point < 0x20) {
          utf8::append(out, 0x2400 + unit.code_point);
        } else {
          utf8::append(out, is_unseen(unit.code_point) ? utf8::kReplacement : unit.code_point);
        }
    }
    at += unit.size;
  }
  return out;
}

Spot spot_of(const CheckedModel& model, const causes::TemplatePlace& place) {
  const std::string line = std::to_string(place.line);
  if (!has_line(model.report, place)) return {"", "line " + line, place.source};
  const std::vector<SourcePiece> pieces = pieces_of(model, place.line);
  const SourcePiece& piece = piece_at(pieces, place.column);
  std::string_view text = piece.text;
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::string excerpt(text);
  if (text.size() > kMostShown) {
    // The text at the place, if the piece is too long to be quoted.
    const std::size_t at =
        std::min(static_cast<std::size_t>(std::max(place.column, 1)) - 1 - piece.begin, piece.text.size());
    const std::string_view rest = piece.text.substr(at);
    excerpt =
        (at > 0 ? "\u2026" : "") + std::string(whole(rest, kMostShown)) + (rest.size() > kMostShown ? "\u2026" : "");
  }
  return {piece.id,
          "line " + line +
              (pieces.size() > 1 ? ":" + std::to_string(report::column_in_code_points(model.report, place)) : ""),
          std::move(excerpt)};
}

std::string place_link(const CheckedModel& model, const causes::TemplatePlace& place, bool with_source) {
  if (place.line < 1) return "";
  const Spot spot = spot_of(model, place);
  std::string out = spot.id.empty() ? spot.name : "<a class=\"place\" href=\"#" + spot.id + "\">" + spot.name + "</a>";
  if (with_source && !spot.text.empty()) out += " <code>" + shown(spot.text) + "</code>";
  return out;
}

std::string template_source(const CheckedModel& model) {
  const std::map<std::string, Blame> blamed = blamed_pieces(model);
  std::string out = "<pre class=\"source\" tabindex=\"0\" aria-label=\"Template\">";
  for (std::size_t line = 1; line <= model.report.template_lines.size(); ++line) {
    const auto number = static_cast<std::int32_t>(line);
    for (const SourcePiece& piece : pieces_of(model, number)) {
      const auto blame = blamed.find(piece.id);
      out += piece_html(piece, number, blame != blamed.end() ? &blame->second : nullptr);
    }
  }
  return out + "</pre>\n";
}

}  // namespace rondo::pages
