#include "analysis/written.h"

#include <algorithm>
#include <set>

#include "analysis/probe.h"
#include "format/units.h"

namespace rondo::analysis {

void Written::append(const Written& more) {
  for (const std::size_t begin : more.begins) begins.push_back(text.size() + begin);
  text += more.text;
}

void Written::append(const std::string& more, std::span<const Source> sources) {
  for (const Source& source : sources) {
    if (source.literal == kNoLiteral || source.offset == 0) begins.push_back(text.size() + source.at);
  }
  text += more;
}

Written Written::from(std::size_t at) const {
  Written out{text.substr(at), {}};
  for (const std::size_t begin : begins) {
    if (begin >= at) out.begins.push_back(begin - at);
  }
  return out;
}

Written Written::before(std::size_t at) const {
  Written out{text.substr(0, at), {}};
  for (const std::size_t begin : begins) {
    if (begin <= at) out.begins.push_back(begin);
  }
  return out;
}

Written Written::ending(std::string_view end) const {
  return text.ends_with(end) ? from(text.size() - end.size()) : Written{std::string(end), {}};
}

Written written(const Turn& turn, std::size_t begin, std::size_t end) {
  Written out;
  for (std::size_t i = begin; i < std::min(end, turn.tokens.size()); ++i) {
    if (turn.tokens[i].kind == SlotKind::kLiteral || turn.tokens[i].kind == SlotKind::kIndex)
      out.append(turn.tokens[i].text, turn.tokens[i].sources);
  }
  return out;
}

namespace {

bool is_cut(const Written& written, std::size_t at) {
  return at == 0 || at == written.text.size() || std::ranges::find(written.begins, at) != written.begins.end();
}

// Of the sizes of a common text by the template's constants and by units the longer one; but where units add only punctuation,
// in the middle of constants that go on otherwise, constants are right.
std::size_t better_cut(std::size_t by_constants, std::size_t by_units, std::string_view added) {
  const bool is_chance = by_constants > 0 && !format::is_blank(added) && format::is_mark(format::trimmed(added)) &&
                         std::ranges::none_of(added, format::is_word);
  return is_chance ? by_constants : std::max(by_constants, by_units);
}

}  // namespace

std::size_t same_front(const Written& a, const Written& b, std::span<const std::string> atoms) {
  const auto differ = std::ranges::mismatch(a.text, b.text);
  auto same = static_cast<std::size_t>(differ.in1 - a.text.begin());
  const std::size_t by_units = format::common_prefix(a.text, b.text, atoms);
  while (same > 0 && !(is_cut(a, same) && is_cut(b, same))) --same;
  return better_cut(same, by_units,
                    std::string_view(a.text).substr(std::min(same, by_units), by_units - std::min(same, by_units)));
}

std::size_t same_back(const Written& a, const Written& b, std::span<const std::string> atoms) {
  std::size_t same = 0;
  const std::size_t by_units = format::common_suffix(a.text, b.text, atoms);
  while (same < std::min(a.text.size(), b.text.size()) &&
         a.text[a.text.size() - 1 - same] == b.text[b.text.size() - 1 - same])
    ++same;
  while (same > 0 && !(is_cut(a, a.text.size() - same) && is_cut(b, b.text.size() - same))) --same;
  return better_cut(same, by_units,
                    std::string_view(a.text).substr(a.text.size() - by_units, by_units - std::min(same, by_units)));
}

std::vector<std::size_t> cuts_of(const Written& written, std::span<const std::string> atoms) {
  const std::vector<std::size_t> units = format::unit_boundaries(written.text, atoms);
  std::set<std::size_t> cuts(units.begin(), units.end());
  cuts.insert(written.begins.begin(), written.begins.end());
  return {cuts.begin(), cuts.end()};
}

}  // namespace rondo::analysis
