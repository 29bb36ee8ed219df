#include "demo/table.h"

#include <algorithm>

#include "base/utf8.h"

namespace rondo::demo {
namespace {

std::string shown(std::string cell, std::size_t limit) {
  for (char& c : cell) {
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  }
  if (limit == 0 || utf8::length(cell) <= limit) return cell;
  cell.resize(utf8::offset_of(cell, limit - 1));
  return cell + "\u2026";
}

void append_cell(std::string& line, const std::string& cell, std::size_t width, Align align, bool last) {
  const std::string padding(width - std::min(width, utf8::length(cell)), ' ');
  if (align == Align::kRight) line += padding;
  line += cell;
  if (align == Align::kLeft && !last) line += padding;
}

using Lines = std::vector<std::vector<std::string>>;

// One line of titles, or two if a title has two.
Lines header_lines(const std::vector<Column>& columns) {
  Lines lines(2);
  for (const Column& column : columns) {
    const std::size_t feed = column.title.find('\n');
    lines[0].push_back(feed == std::string::npos ? "" : column.title.substr(0, feed));
    lines[1].push_back(feed == std::string::npos ? column.title : column.title.substr(feed + 1));
  }
  if (std::ranges::all_of(lines[0], &std::string::empty)) lines.erase(lines.begin());
  return lines;
}

std::string rule(const std::vector<std::size_t>& widths) {
  std::string out;
  for (const std::size_t width : widths) out += (out.empty() ? "" : "  ") + std::string(width, '-');
  return out + '\n';
}

}  // namespace

std::string format_table(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows) {
  Lines lines = header_lines(columns);
  const std::size_t header = lines.size();
  for (const std::vector<std::string>& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i)
      line.push_back(shown(i < row.size() ? row[i] : "", columns[i].limit));
  }
  std::vector<std::size_t> widths(columns.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < columns.size(); ++i) widths[i] = std::max(widths[i], utf8::length(line[i]));
  }
  std::string out;
  for (std::size_t row = 0; row < lines.size(); ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i > 0) out += "  ";
      append_cell(out, lines[row][i], widths[i], columns[i].align, i + 1 == columns.size());
    }
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
    if (row + 1 == header) out += rule(widths);
  }
  return out;
}

}  // namespace rondo::demo
