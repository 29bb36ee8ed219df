#include "parse/marker.h"

#include <algorithm>
#include <utility>

#include "format/units.h"

namespace rondo::parse {
namespace {

using format::is_space;
using format::is_word;

// Longer gaps inside a marker are not tolerated, because a gap is scanned again with every piece of input.
constexpr std::size_t kLargestGap = 64;
constexpr std::size_t kLongestControlToken = 64;
constexpr std::string_view kBlankSign = "\xE2\x96\x81";  // a blank in vocabularies; text may have it decoded

// Returns the size of a bar, ASCII or full width, at the start of `text`; 0 if there is none.  Control tokens have such
// a bar beside a bracket.
std::size_t bar_at(std::string_view text) {
  if (text.starts_with('|')) return 1;
  return text.starts_with("\xEF\xBD\x9C") ? 3 : 0;
}

bool has_reserved_shape(std::string_view core) {
  for (std::size_t i = 0; i < core.size(); ++i) {
    if (core[i] == '<' && bar_at(core.substr(i + 1)) > 0) return true;
    const std::size_t bar = bar_at(core.substr(i));
    if (bar > 0 && core.substr(i + bar).starts_with('>')) return true;
  }
  if (core.size() < 4 || core.front() != '[') return false;
  const std::size_t end = core.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", core[1] == '/' ? 2 : 1);
  return end != std::string_view::npos && end > 2 && core[end] == ']';
}

// Returns whether a control token ends or begins at `at`.  Some tokenizers write a space behind each control token.
bool is_beside_token(std::string_view text, std::size_t at) {
  if (text[at] == '<' && bar_at(text.substr(at + 1)) > 0) return true;
  if (at == 0 || text[at - 1] != '>') return false;
  const std::string_view before = text.substr(0, at - 1);
  return before.ends_with('|') || before.ends_with("\xEF\xBD\x9C");
}

// Returns whether text before and at `at` is JSON that may have white space between the two: a bracket, comma or colon
// beside a quote.
bool is_joint_of_json(std::string_view text, std::size_t at) {
  if (at == 0) return false;
  constexpr std::string_view kBefore = "{[,:";
  constexpr std::string_view kBehind = ":,}]";
  return (text[at] == '"' && kBefore.find(text[at - 1]) != std::string_view::npos) ||
         (text[at - 1] == '"' && kBehind.find(text[at]) != std::string_view::npos);
}

// Returns the size of the gap at the start of `text`: white space, as far as a marker may contain it.
std::size_t gap_at(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && is_space(text[size]) && size < kLargestGap) ++size;
  return size;
}

// Returns how many digits `text` begins with.
std::size_t digits_at(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, format::is_digit) - text.begin());
}

// A place in a marker's text, and the place in another text up to which both agree.
struct Agreement {
  std::size_t in_marker = 0;
  std::size_t in_text = 0;
  bool has_ended = false;  // the other text ends there, perhaps inside a number
};

// Goes through `marker` and `text` as far as they agree.  The sign for a blank also agrees with a blank or an
// underscore (not inside a token), and a counter with any number.
Agreement agreement(std::string_view text, std::string_view marker, bool is_token) {
  Agreement out;
  while (out.in_marker < marker.size()) {
    const std::string_view rest = text.substr(out.in_text);
    const bool is_blank_sign = !is_token && marker.substr(out.in_marker).starts_with(kBlankSign);
    const std::size_t digits = marker[out.in_marker] == format::kCounter ? digits_at(rest) : 0;
    out.has_ended = digits == rest.size();
    if (out.has_ended) return out;
    if (digits > 0) {
      out.in_text += digits;
      ++out.in_marker;
    } else if (is_blank_sign && (rest[0] == ' ' || rest[0] == '_')) {
      ++out.in_text;
      out.in_marker += kBlankSign.size();
    } else if (rest[0] == marker[out.in_marker]) {
      ++out.in_text;
      ++out.in_marker;
    } else {
      return out;
    }
  }
  return out;
}

// Returns whether `text` has a word, which ordinary text does not have in the place of a marker by chance.
bool has_word(std::string_view text) {
  return std::ranges::any_of(text, [](char byte) { return is_word(byte) || static_cast<unsigned char>(byte) >= 0x80; });
}

// Returns where the first of `tokens` begins in `text`; npos if there is none.
std::size_t find_token(std::string_view text, std::span<const std::string> tokens) {
  std::size_t first = std::string_view::npos;
  for (const std::string& token : tokens) {
    if (!token.empty()) first = std::min(first, text.find(token));
  }
  return first;
}

}  // namespace

// Cuts the text into chunks between which white space is allowed: at unit boundaries, around control tokens, in JSON, and
// at white space of its own.
Marker::Marker(std::string_view text, std::span<const std::string> tokens) {
  const std::string_view core = format::trimmed(text);
  if (core.empty()) {
    lead_ = text;
    return;
  }
  const auto begin = static_cast<std::size_t>(core.data() - text.data());
  lead_ = text.substr(0, begin);
  trail_ = text.substr(begin + core.size());
  core_ = core;
  cuts_ = format::unit_boundaries(core);
  is_reserved_ = has_reserved_shape(core);
  is_varied_ = core.find(kBlankSign) != std::string_view::npos || core.find(format::kCounter) != std::string_view::npos;
  is_distinct_ = has_word(core);
  const std::size_t token = find_token(core, tokens);
  has_token_ = token != std::string_view::npos;
  std::string chunk;
  for (std::size_t i = 0; i < core.size(); ++i) {
    const bool is_cut =
        std::binary_search(cuts_.begin(), cuts_.end(), i) || is_beside_token(core, i) || is_joint_of_json(core, i);
    if ((is_cut || is_space(core[i])) && !chunk.empty()) chunks_.push_back(std::exchange(chunk, {}));
    if (i == token) {
      token_chunk_ = chunks_.size();
      token_offset_ = chunk.size();
    }
    if (!is_space(core[i])) chunk += core[i];
  }
  chunks_.push_back(std::move(chunk));
}

void Marker::keep_to_line() {
  const std::size_t line = lead_.rfind('\n');
  const std::size_t blanks = is_distinct_ ? 0 : lead_.size();  // in front of punctuation inside a line
  line_lead_ = line == std::string::npos ? blanks : lead_.size() - line;
  keep_line_end();
}

std::string_view Marker::first_bytes() const {
  return core_.front() == format::kCounter ? "0123456789" : std::string_view(core_).substr(0, 1);
}

// Matches one of the chunks at the start of `text`.
Match Marker::chunk_at(std::size_t chunk, std::string_view text, const TokenStarts* starts) const {
  const std::string& own = chunks_[chunk];
  const bool has_token = has_token_ && chunk == token_chunk_;
  std::size_t size = std::min(own.size(), text.size());
  std::size_t token = token_offset_;
  bool is_whole = size == own.size();
  if (is_varied_) {
    const Agreement with = agreement(text, own, has_token);
    is_whole = with.in_marker == own.size();
    if (!is_whole && !with.has_ended) return {};
    size = is_whole ? with.in_text : text.size();
    if (has_token) {
      const Agreement before = agreement(text, std::string_view(own).substr(0, token_offset_), true);
      token = before.in_marker == token_offset_ ? before.in_text : text.size();
    }
  } else if (text.substr(0, size) != std::string_view(own).substr(0, size)) {
    return {};
  }
  if (has_token && starts != nullptr && size > token && !starts->has(text.data() + token)) return {};
  return {is_whole ? MatchKind::kFull : MatchKind::kPartial, size};
}

// Matches `text` if it ends inside the marker.  What a marker has before its first word (`"` of `" <|end|>`) may be text.
Match Marker::cut_off(std::string_view text, bool is_end) const {
  if (!is_end) return {MatchKind::kPartial, text.size()};
  const Agreement with = agreement(text, core_, has_token_);
  const bool is_in_number = with.in_text < text.size();
  const bool is_units =
      with.has_ended && std::binary_search(cuts_.begin(), cuts_.end(), with.in_marker + (is_in_number ? 1 : 0));
  const bool is_telling = is_units && (has_word(text) || !is_distinct_);
  return {is_telling ? MatchKind::kFull : MatchKind::kNone, text.size()};
}

Match Marker::match(std::string_view text, bool is_end, const TokenStarts* starts) const {
  std::size_t at = 0;
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    if (i > 0) at += gap_at(text.substr(at));
    const Match chunk = chunk_at(i, text.substr(at), starts);
    if (chunk.kind == MatchKind::kNone) return {};
    if (chunk.kind == MatchKind::kPartial) return cut_off(text, is_end);
    at += chunk.size;
  }
  if (needs_line_end_) {
    const std::size_t behind = text.find_first_not_of(" \t\r", at);
    if (behind == std::string_view::npos) return {is_end ? MatchKind::kFull : MatchKind::kPartial, at};
    if (text[behind] != '\n') return {};
  }
  // A marker that ends with a word and white space must not match the beginning of a longer word: `all\n` does not
  // begin `allocate`.
  if (!trail_.empty() && is_word(core_.back())) {
    if (at == text.size()) return {is_end ? MatchKind::kFull : MatchKind::kPartial, at};
    if (is_word(text[at])) return {};
  }
  return {MatchKind::kFull, at};
}

std::optional<std::string_view> Marker::missing_behind(std::string_view text, const TokenStarts* starts) const {
  std::size_t at = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_space(text[i])) continue;
    while (at < core_.size() && is_space(core_[at])) ++at;
    const bool is_number = at < core_.size() && core_[at] == format::kCounter && format::is_digit(text[i]);
    if (at == core_.size() || (core_[at] != text[i] && !is_number)) return std::nullopt;
    if (is_number) i += digits_at(text.substr(i)) - 1;
    ++at;
  }
  const bool has_unit = std::ranges::any_of(cuts_, [at](std::size_t cut) { return cut > 0 && cut <= at; });
  const std::size_t bar = text.starts_with('<') ? bar_at(text.substr(1)) : 0;
  const bool is_token = bar > 0 && text.size() > 1 + bar && match(text, false, starts).kind == MatchKind::kPartial;
  return has_unit || is_token ? std::optional(std::string_view(core_).substr(at)) : std::nullopt;
}

std::size_t Marker::own_lead(std::string_view before) const {
  std::size_t size = 0;
  while (size < lead_.size() && size < before.size() &&
         lead_[lead_.size() - 1 - size] == before[before.size() - 1 - size])
    ++size;
  return size;
}

Match control_token(std::string_view text, bool is_end) {
  if (!text.starts_with('<')) return {};
  const Match unfinished{is_end ? MatchKind::kNone : MatchKind::kPartial, 0};
  const std::size_t bar = bar_at(text.substr(1));
  if (bar == 0)
    return text.size() < 4 && std::string_view("\xEF\xBD\x9C").starts_with(text.substr(1)) ? unfinished : Match{};
  for (std::size_t i = 1 + bar; i < std::min(text.size(), kLongestControlToken); ++i) {
    if (text[i] == '<' || text[i] == '\n') return {};
    const std::size_t last = bar_at(text.substr(i));
    if (last > 0 && text.substr(i + last).starts_with('>')) return {MatchKind::kFull, i + last + 1};
  }
  return text.size() < kLongestControlToken ? unfinished : Match{};
}

void MarkerSet::add_control_tokens(int id) {
  control_id_ = id;
  first_['<'] = special_['<'] = true;
}

void MarkerSet::add(int id, const Marker* marker) {
  if (marker->empty()) return;
  entries_.push_back({id, marker});
  if (!marker->lead().empty()) add_lead(marker->lead());
  for (const char byte : marker->first_bytes())
    first_[static_cast<unsigned char>(byte)] = special_[static_cast<unsigned char>(byte)] = true;
}

void MarkerSet::add_lead(const std::string& lead) {
  leads_.push_back(lead);
  for (const char byte : lead) special_[static_cast<unsigned char>(byte)] = true;
}

std::size_t MarkerSet::plain_prefix(std::string_view text) const {
  std::size_t size = 0;
  while (size < text.size() && !special_[static_cast<unsigned char>(text[size])]) ++size;
  return size;
}

// If any marker may still become complete, the result is partial, so the longest one is found.
MarkerSet::Found MarkerSet::at(std::string_view text, std::size_t at, bool is_end, const TokenStarts* starts) const {
  Found found;
  found.begin = at;
  if (!first_[static_cast<unsigned char>(text[at])]) return found;
  const std::string_view rest = text.substr(at);
  for (const Entry& entry : entries_) {
    if (!entry.marker->may_begin(rest) || !entry.marker->may_follow(text.substr(0, at))) continue;
    const Match match = entry.marker->match(rest, is_end, starts);
    if (match.kind == MatchKind::kNone) continue;
    if (match.kind == MatchKind::kPartial) {
      found.kind = MatchKind::kPartial;
      return found;
    }
    if (found.kind == MatchKind::kNone || match.size > found.size) {
      found = {MatchKind::kFull, at, match.size, entry.id, entry.marker};
    }
  }
  if (control_id_ && found.kind == MatchKind::kNone) {
    static const Marker kAny;
    const Match match = control_token(rest, is_end);
    if (match.kind != MatchKind::kNone) found = {match.kind, at, match.size, *control_id_, &kAny};
  }
  return found;
}

MarkerSet::Found MarkerSet::find(std::string_view text, std::size_t from, bool is_end,
                                 const TokenStarts* starts) const {
  for (std::size_t i = from; i < text.size(); ++i) {
    if (!first_[static_cast<unsigned char>(text[i])]) continue;
    const Found found = at(text, i, is_end, starts);
    if (found.kind != MatchKind::kNone) return found;
  }
  Found none;
  none.begin = text.size();
  return none;
}

std::size_t MarkerSet::possible_lead(std::string_view text) const {
  std::size_t spaces = 0;
  while (spaces < text.size() && is_space(text[text.size() - 1 - spaces])) ++spaces;
  std::size_t longest = 0;
  for (const std::string& lead : leads_) {
    for (std::size_t size = std::min(spaces, lead.size()); size > longest; --size) {
      if (lead.find(text.substr(text.size() - size)) != std::string::npos) longest = size;
    }
  }
  return longest;
}

}  // namespace rondo::parse
