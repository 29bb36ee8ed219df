// Infers the header, which opens a turn.
#include <algorithm>
#include <array>

#include "analysis/parts.h"

namespace rondo::analysis {

using format::is_blank;
using format::trimmed;

namespace {

// Returns `text` cut at the last place that lies in the common prefix with `other`.
Written common_start(const Written& text, const Written& other, std::span<const std::string> atoms) {
  const std::size_t same = format::alike_in_front(text.text, other.text);
  if (same == text.text.size()) return text;
  std::size_t cut = 0;
  for (const std::size_t place : cuts_of(text, atoms)) cut = place <= same ? place : cut;
  return text.before(cut);
}

// Returns how many bytes at the beginning of `text` are also the end of `start`.
std::size_t overlap(const std::string& start, const std::string& text) {
  std::size_t size = std::min(start.size(), text.size());
  while (!start.ends_with(std::string_view(text).substr(0, size))) --size;
  return size;
}

// Returns the part of `header` that the turn beginning with `begin` also has.
Written shared_header(const Evidence& evidence, const Written& header, const Written& begin) {
  const std::string& start = begin.text;
  Written shared = header;
  // The prompt may begin with the end of the turn before it.
  for (const std::size_t cut : evidence.boundaries(header.text)) {
    const std::string rest = header.text.substr(cut);
    if (cut == 0 || trimmed(rest).size() < 4 || !start.starts_with(rest) || contains(start, header.text)) continue;
    shared = header.from(cut);
    break;
  }
  // The prompt may begin with a line end that stands only between two turns.
  const std::size_t led = std::min(shared.text.find_first_not_of(" \n\t\r"), shared.text.size());
  const bool is_led = led > 0 && !contains(start, shared.text);
  if (is_led) shared = shared.from(led);
  const std::size_t up_to_slot = overlap(start, shared.text);
  while (!shared.text.empty() && !contains(start, shared.text)) {
    const std::vector<std::size_t> cuts = cuts_of(shared, evidence.atoms);
    const std::size_t cut = last_unit_begin(cuts);
    shared = shared.before(up_to_slot > cut ? up_to_slot : cut);
  }
  if (!shared.text.empty() && shared.text.size() < header.text.size()) {
    const Written whole = is_led ? header.from(led) : header;
    const std::size_t same = same_front(whole, begin.from(start.find(shared.text)), evidence.atoms);
    if (same > 0 && same < shared.text.size()) shared = shared.before(same);
  }
  if (!is_led || is_blank(shared.text)) return shared;
  Written out = header.before(led);
  out.append(shared);
  return out;
}

// Returns whether the header also stands inside turns, before each block.
bool is_repeated(const std::string& header, const Variants& variants) {
  return std::ranges::any_of(variants, [core = trimmed(header)](const auto& entry) {
    const std::string all = entry.second.turn.literals();
    const std::size_t first = all.find(core);
    return first != std::string::npos && all.find(core, first + 1) != std::string::npos;
  });
}

// Returns whether the last unit of the header stands again inside turns, before another block.
bool is_last_unit_repeated(const Evidence& evidence, const std::string& header) {
  constexpr std::size_t kShortest = 3;  // shorter ones, such as a colon, may stand anywhere
  Written text;
  text.text = std::string(trimmed(header));
  const std::vector<std::size_t> cuts = cuts_of(text, evidence.atoms);
  const std::string_view unit = trimmed(std::string_view(text.text).substr(last_unit_begin(cuts)));
  return unit.size() >= kShortest && std::ranges::any_of(evidence.variants, [unit](const auto& entry) {
           const Turn& turn = entry.second.turn;
           return contains(turn.literals(turn.first_slot(), turn.tokens.size()), unit);
         });
}

// Returns whether the last unit of the header opens a call.
bool opens_call(const Evidence& evidence, const std::string& header) {
  const Variant* plain = evidence.find({.content = true});
  const bool is_bare = plain != nullptr && is_blank(lead(plain->turn, header));
  // A unit that content follows too opens no call, unless it stands before every block.
  if (is_bare || (plain != nullptr && !is_last_unit_repeated(evidence, header))) return false;
  return std::ranges::any_of(std::array<std::size_t, 2>{1, 2}, [&](std::size_t count) {
    const Variant* calling = evidence.find({.calls = count});
    const bool has_slot = calling != nullptr && calling->turn.first_slot() < calling->turn.tokens.size();
    return has_slot && is_blank(lead(calling->turn, header));
  });
}

// Returns whether the last unit of the header opens the reasoning or a call.
bool opens_block(const Evidence& evidence, const std::string& header) {
  if (is_blank(header)) return false;
  if (opens_call(evidence, header)) return true;
  const Variant* plain = evidence.find({.content = true});
  const Variant* thinking = evidence.find({true, true, 0}, Parts{true, false, 1});
  if (thinking == nullptr || thinking->turn.first_slot() != thinking->turn.first(SlotKind::kReasoning)) return false;
  if (!is_blank(lead(thinking->turn, header))) return false;
  // If it opens the reasoning, a turn without reasoning must begin with the reasoning's close.
  const std::size_t end = thinking->turn.last(SlotKind::kReasoning);
  const Written behind = written(thinking->turn, end, end + 2);
  const Written core = behind.from(std::min(behind.text.find_first_not_of(" \n\t\r"), behind.text.size()));
  const std::vector<std::size_t> cuts = cuts_of(core, evidence.atoms);
  const std::string_view close = std::string_view(core.text).substr(0, first_unit_end(cuts));
  for (const Prompt& prompt : evidence.prompts) {
    const std::string rest = without_prefix(prompt.written.text, header);
    if (!is_blank(rest) && !contains(rest, close)) return false;
  }
  const Variant* calling = evidence.find({.calls = 1});
  const auto begins_closed = [&](const Variant* other) {
    return other == nullptr || contains(lead(other->turn, other->turn.first_slot(), header), close);
  };
  return begins_closed(plain) && begins_closed(calling);
}

// Returns the text that all prompts and turns share.  A template may write closers of the turn before at the beginning
// of a turn.  Such a turn counts from where the generation prompt begins in it.
std::optional<Written> common_header(const Evidence& evidence) {
  std::optional<Written> header;
  for (const Prompt& prompt : evidence.prompts) {
    if (!is_blank(prompt.written.text))
      header = header ? common_start(*header, prompt.written, evidence.atoms) : prompt.written;
  }
  const bool has_prompt = header.has_value();
  for (const auto& [parts, variant] : evidence.variants) {
    const Written start = written(variant.turn, 0, variant.turn.first_slot());
    if (!header) {
      header = start;
      continue;
    }
    Written shared = shared_header(evidence, *header, start);
    if (!is_blank(shared.text) || !has_prompt) header = std::move(shared);
  }
  return header;
}

}  // namespace

std::string lead(const Turn& turn, std::size_t end, const std::string& header) {
  std::string text = turn.literals(0, end);
  if (header.empty()) return text;
  // A prompt may begin with a line end that stands only between two turns.
  for (const std::string_view opening : {std::string_view(header), trimmed(header)}) {
    const std::size_t at = text.find(opening);
    if (at != std::string::npos) return text.substr(at + opening.size());
  }
  return text;
}

std::string find_header(const Evidence& evidence) {
  const auto common = common_header(evidence);
  if (!common || is_blank(common->text)) return "";
  const std::string& header = common->text;
  if (!opens_block(evidence, header)) return header;
  const std::vector<std::size_t> cuts = cuts_of(common->before(trimmed_end(header).size()), evidence.atoms);
  std::size_t cut = cuts.size() - 2;
  while (cut > 0 && is_blank(std::string_view(header).substr(cuts[cut]))) --cut;
  // The text before a call's own opener stays if nothing else would remain.  Reasoning must keep its opener in any
  // case.
  const bool is_cut = cuts[cut] > 0 || is_repeated(header, evidence.variants) || !opens_call(evidence, header);
  return is_cut ? header.substr(0, cuts[cut]) : header;
}

}  // namespace rondo::analysis
