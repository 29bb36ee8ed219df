#include "audit/line_diff.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace rondo::audit {
namespace {

constexpr std::size_t kContext = 3;
constexpr std::size_t kMostCells = 4'000'000;  // of the table below

using Lines = std::vector<std::string_view>;

void put(std::string& out, char mark, std::string_view line) {
  out += mark;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

std::string range(std::size_t begin, std::size_t end) {
  const std::size_t count = end - begin;
  return std::to_string(count == 0 ? begin : begin + 1) + (count == 1 ? "" : "," + std::to_string(count));
}

// One hunk for changes that are close together.
std::string hunk(const Lines& before, const Lines& after, std::span<const LineChange> changes) {
  const std::size_t lead = std::min(changes.front().old_begin, kContext);
  const std::size_t tail = std::min(before.size() - changes.back().old_end, kContext);
  std::size_t at = changes.front().old_begin - lead;
  std::string out = "@@ -" + range(at, changes.back().old_end + tail) + " +" +
                    range(changes.front().new_begin - lead, changes.back().new_end + tail) + " @@\n";
  for (const LineChange& change : changes) {
    for (; at < change.old_begin; ++at) put(out, ' ', before[at]);
    for (; at < change.old_end; ++at) put(out, '-', before[at]);
    for (std::size_t i = change.new_begin; i < change.new_end; ++i) put(out, '+', after[i]);
  }
  for (std::size_t end = at + tail; at < end; ++at) put(out, ' ', before[at]);
  return out;
}

}  // namespace

std::vector<std::string_view> lines_with_breaks(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t at = text.find('\n');
    const std::size_t end = at == std::string_view::npos ? text.size() : at + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

namespace {

// The lines between the common beginning and the common end of two texts.
struct Middle {
  const std::vector<std::string_view>& before;
  const std::vector<std::string_view>& after;
  std::size_t head = 0;  // both begin here
  std::size_t rows = 0;
  std::size_t columns = 0;

  [[nodiscard]] bool has(std::size_t i, std::size_t j) const { return i < rows || j < columns; }
  [[nodiscard]] bool is_same(std::size_t i, std::size_t j) const {
    return i < rows && j < columns && before[head + i] == after[head + j];
  }
};

// For lines i.. and j.., the length of their longest common subsequence.
class CommonLines {
 public:
  explicit CommonLines(const Middle& middle)
      : columns_(middle.columns), lengths_((middle.rows + 1) * (middle.columns + 1), 0) {
    for (std::size_t i = middle.rows; i-- > 0;) {
      for (std::size_t j = middle.columns; j-- > 0;) {
        cell(i, j) = middle.is_same(i, j) ? cell(i + 1, j + 1) + 1 : std::max(cell(i + 1, j), cell(i, j + 1));
      }
    }
  }

  [[nodiscard]] std::uint32_t at(std::size_t i, std::size_t j) const { return lengths_[i * (columns_ + 1) + j]; }

 private:
  std::uint32_t& cell(std::size_t i, std::size_t j) { return lengths_[i * (columns_ + 1) + j]; }

  std::size_t columns_;
  std::vector<std::uint32_t> lengths_;
};

}  // namespace

// Finds the longest common subsequence of the lines between the common beginning and the common end.
std::vector<LineChange> line_changes(const std::vector<std::string_view>& before,
                                     const std::vector<std::string_view>& after) {
  std::size_t head = 0;
  while (head < before.size() && head < after.size() && before[head] == after[head]) ++head;
  std::size_t old_end = before.size();
  std::size_t new_end = after.size();
  while (old_end > head && new_end > head && before[old_end - 1] == after[new_end - 1]) --old_end, --new_end;
  const std::size_t rows = old_end - head;
  const std::size_t columns = new_end - head;
  if (rows == 0 && columns == 0) return {};
  if ((rows + 1) * (columns + 1) > kMostCells) return {{head, old_end, head, new_end}};
  const Middle middle{before, after, head, rows, columns};
  const CommonLines common(middle);
  std::vector<LineChange> out;
  for (std::size_t i = 0, j = 0; middle.has(i, j);) {
    if (middle.is_same(i, j)) {
      ++i, ++j;
      continue;
    }
    LineChange change{head + i, head + i, head + j, head + j};
    while (middle.has(i, j) && !middle.is_same(i, j)) {
      const bool removes = i < rows && (j == columns || common.at(i + 1, j) >= common.at(i, j + 1));
      removes ? ++i : ++j;
    }
    change.old_end = head + i;
    change.new_end = head + j;
    out.push_back(change);
  }
  return out;
}

std::string unified_diff(std::string_view before, std::string_view after, const std::string& name) {
  const Lines old_lines = lines_with_breaks(before);
  const Lines new_lines = lines_with_breaks(after);
  const std::vector<LineChange> changes = line_changes(old_lines, new_lines);
  if (changes.empty()) return "";
  std::string out = "--- a/" + name + "\n+++ b/" + name + "\n";
  for (std::size_t i = 0; i < changes.size();) {
    std::size_t next = i + 1;
    while (next < changes.size() && changes[next].old_begin <= changes[next - 1].old_end + 2 * kContext) ++next;
    out += hunk(old_lines, new_lines, std::span(changes).subspan(i, next - i));
    i = next;
  }
  return out;
}

}  // namespace rondo::audit
