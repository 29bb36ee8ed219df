#include "analysis/written.h"

#include <algorithm>
#include <set>

#include "format/units.h"

namespace rondo::analysis {

void Written::append(const Written& more) {
  for (const std::size_t begin : more.begins) begins.push_back(text.size() + begin);
  text += more.text;
}

void Written::append(const std::string& more, std::span<const Source> sources) {
  if (sources.empty()) begins.push_back(text.size());  // a number
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

namespace {

// Returns the literals and numbers of the tokens [begin, end), each as `text` has it.
template <typename Text>
Written texts_of(const Turn& turn, std::size_t begin, std::size_t end, Text text) {
  Written out;
  for (std::size_t i = begin; i < std::min(end, turn.tokens.size()); ++i) {
    const Token& token = turn.tokens[i];
    if (token.kind == SlotKind::kLiteral || token.kind == SlotKind::kIndex) out.append(text(token), token.sources);
  }
  return out;
}

}  // namespace

Written written(const Turn& turn, std::size_t begin, std::size_t end) {
  return texts_of(turn, begin, end, [](const Token& token) { return token.text; });
}

std::string counted_text(const Token& token) {
  const bool is_counter = token.kind == SlotKind::kIndex && token.text.size() == 1;
  return is_counter ? std::string(1, format::kCounter) : token.text;
}

Written counted(const Turn& turn, std::size_t begin, std::size_t end) {
  return texts_of(turn, begin, end, counted_text);
}

namespace {

constexpr std::string_view kOpening = "<[({";
constexpr std::string_view kClosing = ">])}";

// Returns, for each byte, the place of the bracket that pairs with it; npos for other bytes.
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

// A place where the template continues with another text.
struct Begin {
  std::size_t at = 0;
  bool is_inside = false;  // inside brackets
  bool is_tied =
      false;  // at an end of a word that stands between two tags and ties them together, as in `<|open|>call<|then|>`
};

bool is_tied(std::string_view text, const std::vector<std::size_t>& partners, std::size_t cut) {
  std::size_t begin = cut;
  std::size_t end = cut;
  while (begin > 0 && format::is_word(text[begin - 1])) --begin;
  while (end < text.size() && format::is_word(text[end])) ++end;
  return begin > 0 && begin < end && end < text.size() && partners[begin - 1] != std::string::npos &&
         partners[end] != std::string::npos;
}

std::vector<Begin> text_begins(const Written& written) {
  const std::string_view text = written.text;
  const std::vector<std::size_t> partners = partners_of(text);
  std::vector<Begin> out{{0}, {text.size()}};
  for (const std::size_t cut : written.begins) {
    if (cut == 0 || cut == text.size()) continue;
    const auto begin = partners.begin();
    const bool is_inside = std::any_of(begin, begin + static_cast<std::ptrdiff_t>(cut), [cut](std::size_t partner) {
      return partner != std::string::npos && partner >= cut;
    });
    // What follows a number belongs to it.  A number belongs to what precedes it, if that does not end there.
    const bool ends_before = format::is_space(text[cut - 1]) || kClosing.find(text[cut - 1]) != std::string_view::npos;
    if (text[cut - 1] == format::kCounter || (text[cut] == format::kCounter && !ends_before)) continue;
    out.push_back({cut, is_inside, is_tied(text, partners, cut)});
  }
  return out;
}

// Returns whether the template continues with another text both at `in_a` and at `in_b`.
bool is_shared(const std::vector<Begin>& a, std::size_t in_a, const std::vector<Begin>& b, std::size_t in_b) {
  const auto first = std::ranges::find(a, in_a, &Begin::at);
  const auto second = std::ranges::find(b, in_b, &Begin::at);
  return first != a.end() && second != b.end() && !first->is_tied && !second->is_tied &&
         !(first->is_inside && second->is_inside);
}

// Returns the longer of two sizes of a common text, by the template's constants and by units.  The constants win if the
// units add only words or punctuation without brackets.  Constants that differ after that begin alike by chance.
std::size_t better_cut(std::size_t by_constants, std::size_t by_units, std::string_view added) {
  const bool is_chance = by_constants > 0 && !format::is_blank(added) &&
                         added.find_first_of(kOpening) == std::string_view::npos &&
                         added.find_first_of(kClosing) == std::string_view::npos;
  return is_chance ? by_constants : std::max(by_constants, by_units);
}

}  // namespace

std::size_t same_front(const Written& a, const Written& b, std::span<const std::string> atoms) {
  std::size_t same = format::alike_in_front(a.text, b.text);
  const std::size_t by_units = format::common_prefix(a.text, b.text, atoms);
  const std::vector<Begin> in_a = text_begins(a);
  const std::vector<Begin> in_b = text_begins(b);
  while (same > 0 && !is_shared(in_a, same, in_b, same)) --same;
  return better_cut(same, by_units,
                    std::string_view(a.text).substr(std::min(same, by_units), by_units - std::min(same, by_units)));
}

std::size_t same_back(const Written& a, const Written& b, std::span<const std::string> atoms) {
  std::size_t same = format::alike_behind(a.text, b.text);
  const std::size_t by_units = format::common_suffix(a.text, b.text, atoms);
  const std::vector<Begin> in_a = text_begins(a);
  const std::vector<Begin> in_b = text_begins(b);
  while (same > 0 && !is_shared(in_a, a.text.size() - same, in_b, b.text.size() - same)) --same;
  return better_cut(same, by_units,
                    std::string_view(a.text).substr(a.text.size() - by_units, by_units - std::min(same, by_units)));
}

std::vector<std::size_t> cuts_of(const Written& written, std::span<const std::string> atoms) {
  const std::vector<std::size_t> units = format::unit_boundaries(written.text, atoms);
  std::set<std::size_t> cuts(units.begin(), units.end());
  for (const Begin& begin : text_begins(written)) {
    if (!begin.is_tied && !begin.is_inside) cuts.insert(begin.at);
  }
  return {cuts.begin(), cuts.end()};
}

std::string opening_of(const std::string& close) {
  const std::size_t slash = close.find('/');
  if (close.size() < 3 || slash == std::string::npos) return "";
  const bool is_sign = std::ranges::none_of(close.substr(0, slash),
                                            [](char byte) { return format::is_word(byte) || format::is_space(byte); });
  if (slash > 2 && !is_sign) return "";
  return close.substr(0, slash) + close.substr(slash + 1);
}

std::string closing_of(const std::string& open) {
  const bool is_tag =
      open.size() > 2 && ((open.front() == '<' && open.back() == '>') || (open.front() == '[' && open.back() == ']'));
  if (!is_tag || open.find_first_of("</>[]|= \n", 1) != open.size() - 1) return "";
  return open.substr(0, 1) + "/" + open.substr(1);
}

bool is_inside_json(std::string_view text) {
  const std::size_t json = text.find('{');
  const std::size_t key = json == std::string_view::npos ? json : text.find_first_not_of(" \n\t\r", json + 1);
  if (key == std::string_view::npos || text[key] != '"') return false;
  return std::ranges::count(text.substr(json), '"') % 2 == 1 || format::trimmed(text).ends_with(':');
}

bool are_kin(std::string_view a, std::string_view b) {
  const auto is_letter = [](char byte) { return format::is_word(byte) && byte != '_'; };
  const auto is_mark = [](std::string_view text) {
    return text.size() > 2 && !format::is_word(text[0]) && !format::is_word(text[1]) && !format::is_word(text.back());
  };
  if (a == b || !is_mark(a) || !is_mark(b)) return false;
  auto front = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  while (front > 0 && is_letter(a[front - 1])) --front;
  const std::string_view a_rest = a.substr(front);
  const std::string_view b_rest = b.substr(front);
  const auto behind_word = [&](std::string_view text) {
    return text.substr(static_cast<std::size_t>(std::ranges::find_if_not(text, is_letter) - text.begin()));
  };
  const std::string_view a_more = behind_word(a_rest);
  const std::string_view b_more = behind_word(b_rest);
  const bool has_more_words = a.substr(0, front).find('_') != std::string_view::npos || a_more.starts_with('_');
  return has_more_words && a_more == b_more && a_more.size() < a_rest.size() && b_more.size() < b_rest.size();
}

}  // namespace rondo::analysis
