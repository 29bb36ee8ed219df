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

constexpr std::string_view kOpening = "<[({";
constexpr std::string_view kClosing = ">])}";

// For each byte the place of the bracket that it opens or closes, npos for others.
std::vector<std::size_t> partners_of(std::string_view text) {
  std::vector<std::size_t> out(text.size(), std::string::npos);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t kind = kClosing.find(text[i]);
    if (kOpening.find(text[i]) != std::string_view::npos) open.push_back(i);
    if (kind == std::string_view::npos || open.empty() || text[open.back()] != kOpening[kind]) continue;
    out[i] = open.back();
    out[open.back()] = i;
    open.pop_back();
  }
  return out;
}

// Where the template goes on with another text, but for places inside of brackets and at the ends of a word that stands
// between two tags and ties them together, `<|open|>call<|then|>`.
std::vector<std::size_t> text_begins(const Written& written) {
  const std::string_view text = written.text;
  const std::vector<std::size_t> partners = partners_of(text);
  const auto is_word_part = [&](std::size_t i) { return format::is_word(text[i]); };
  const auto is_glued = [&](std::size_t cut) {
    for (std::size_t i = 0; i < cut; ++i) {
      if (partners[i] != std::string::npos && partners[i] >= cut) return true;
    }
    std::size_t begin = cut;
    std::size_t end = cut;
    while (begin > 0 && is_word_part(begin - 1)) --begin;
    while (end < text.size() && is_word_part(end)) ++end;
    const bool is_between = begin > 0 && end < text.size() && partners[begin - 1] != std::string::npos &&
                            partners[end] != std::string::npos;
    return is_between && begin < end;
  };
  std::vector<std::size_t> out;
  for (const std::size_t begin : written.begins) {
    if (begin == 0 || begin == text.size() || !is_glued(begin)) out.push_back(begin);
  }
  out.push_back(0);
  out.push_back(text.size());
  return out;
}

bool has(const std::vector<std::size_t>& cuts, std::size_t at) { return std::ranges::find(cuts, at) != cuts.end(); }

// Of the sizes of a common text by the template's constants and by units the longer one; but where units add only
// punctuation, in the middle of constants that go on otherwise, constants are right.
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
  const std::vector<std::size_t> in_a = text_begins(a);
  const std::vector<std::size_t> in_b = text_begins(b);
  while (same > 0 && !(has(in_a, same) && has(in_b, same))) --same;
  return better_cut(same, by_units,
                    std::string_view(a.text).substr(std::min(same, by_units), by_units - std::min(same, by_units)));
}

std::size_t same_back(const Written& a, const Written& b, std::span<const std::string> atoms) {
  std::size_t same = 0;
  const std::size_t by_units = format::common_suffix(a.text, b.text, atoms);
  while (same < std::min(a.text.size(), b.text.size()) &&
         a.text[a.text.size() - 1 - same] == b.text[b.text.size() - 1 - same])
    ++same;
  const std::vector<std::size_t> in_a = text_begins(a);
  const std::vector<std::size_t> in_b = text_begins(b);
  while (same > 0 && !(has(in_a, a.text.size() - same) && has(in_b, b.text.size() - same))) --same;
  return better_cut(same, by_units,
                    std::string_view(a.text).substr(a.text.size() - by_units, by_units - std::min(same, by_units)));
}

std::vector<std::size_t> cuts_of(const Written& written, std::span<const std::string> atoms) {
  const std::vector<std::size_t> units = format::unit_boundaries(written.text, atoms);
  std::set<std::size_t> cuts(units.begin(), units.end());
  const std::vector<std::size_t> begins = text_begins(written);
  cuts.insert(begins.begin(), begins.end());
  return {cuts.begin(), cuts.end()};
}

}  // namespace rondo::analysis
