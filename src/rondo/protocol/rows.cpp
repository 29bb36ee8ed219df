#include "protocol/rows.h"

#include <algorithm>
#include <tuple>

#include "base/utf8.h"

namespace rondo::protocol {
namespace {

constexpr std::size_t kLongLine = 160;  // bytes; wider than most windows

// The end of the tag that begins at `at`, or of the text before the next tag.
std::size_t piece_end(std::string_view line, std::size_t at) {
  const auto opens = [&](std::size_t i) {
    return line[i] == '{' && i + 1 < line.size() && (line[i + 1] == '%' || line[i + 1] == '{' || line[i + 1] == '#');
  };
  if (opens(at)) {
    const char kind = line[at + 1] == '{' ? '}' : line[at + 1];
    const std::size_t close = line.find(kind == '}' ? "}}" : kind == '%' ? "%}" : "#}", at + 2);
    if (close == std::string_view::npos) return line.size();
    at = close + 2;
  }
  // Text stays with the tag before it.
  while (at < line.size() && !opens(at)) ++at;
  return at;
}

}  // namespace

std::vector<std::string_view> cut_line(std::string_view line) {
  std::vector<std::string_view> out;
  std::size_t at = 0;
  do {
    const std::size_t end = line.size() > kLongLine ? piece_end(line, at) : line.size();
    out.push_back(line.substr(at, end - at));
    at = end;
  } while (at < line.size());
  return out;
}

TemplateRows::TemplateRows(const core::TemplateLines& lines) {
  for (std::size_t number = 1; number <= lines.size(); ++number) {
    core::TemplatePlace place{static_cast<std::int64_t>(number), 1};
    for (const std::string_view piece : cut_line(lines.line(number))) {
      rows_.push_back({place, piece});
      place.column += static_cast<std::int64_t>(utf8::length(piece));
    }
  }
}

std::size_t TemplateRows::row_of(const core::TemplatePlace& place) const {
  const auto behind =
      std::upper_bound(rows_.begin(), rows_.end(), place, [](const core::TemplatePlace& a, const TemplateRow& b) {
        return std::tie(a.line, a.column) < std::tie(b.place.line, b.place.column);
      });
  return behind == rows_.begin() ? 0 : static_cast<std::size_t>(behind - rows_.begin()) - 1;
}

}  // namespace rondo::protocol
