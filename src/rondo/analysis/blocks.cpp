// Header, content and reasoning.
#include <cctype>
#include <map>

#include "analysis/analyst.h"

namespace rondo::analysis {

using format::is_blank;
using format::trimmed;

std::size_t first_slot(const Turn& turn) {
  std::size_t i = 0;
  while (i < turn.tokens.size() &&
         (turn.tokens[i].kind == SlotKind::kLiteral || turn.tokens[i].kind == SlotKind::kIndex))
    ++i;
  return i;
}

// `text` cut at the last place that lies in the common prefix with `other`.
Written common_start(const Written& text, const Written& other, std::span<const std::string> atoms) {
  const auto same = static_cast<std::size_t>(std::ranges::mismatch(text.text, other.text).in1 - text.text.begin());
  if (same == text.text.size()) return text;
  std::size_t cut = 0;
  for (const std::size_t place : cuts_of(text, atoms)) cut = place <= same ? place : cut;
  return text.before(cut);
}

// Whether a word stands between the same punctuation at both ends, `==/x==`, or between signs that are not ASCII,
// `«/x»`.
bool is_framed(std::string_view text) {
  constexpr std::size_t kLeast = 4;
  if (text.size() < kLeast || text.find_first_of(" \n\t\r\"'{}<>[]()") != std::string::npos) return false;
  const auto is_ascii = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
  const bool is_same = text.front() == text.back() && std::ispunct(static_cast<unsigned char>(text.front())) != 0;
  const bool has_word = std::ranges::any_of(text, format::is_word);
  return has_word && (is_same || (!is_ascii(text.front()) && !is_ascii(text.back())));
}

// String constants of the template that units would cut, or not tell apart: brackets that do not pair (`]~b]`), and
// marks without brackets (`%%done`).
void Analyst::find_atoms() {
  const auto add = [this](std::string_view text) {
    const bool is_token = text.size() > 2 && text.find_first_of(" \n\t\r\"'=/{}") == std::string::npos &&
                          std::isalnum(static_cast<unsigned char>(text.front())) == 0 &&
                          (!format::is_paired(text) || format::is_mark(text));
    if ((is_token || is_framed(text)) &&
        std::find(format_.atoms.begin(), format_.atoms.end(), text) == format_.atoms.end())
      format_.atoms.emplace_back(text);
  };
  if (options_.bos_token) add(*options_.bos_token);
  if (options_.eos_token) add(*options_.eos_token);
  std::map<std::string_view, int> whole;  // literals, and how often a turn has all of them
  for (const auto& [key, found] : variants_) {
    whole.clear();
    for (const Token& token : found.turn.tokens) {
      for (std::size_t i = 0; i < token.sources.size(); ++i) {
        const Source& source = token.sources[i];
        const std::size_t end = i + 1 < token.sources.size() ? token.sources[i + 1].at : token.text.size();
        if (source.literal == kNoLiteral || source.offset != 0) continue;
        const std::string& text = template_.literal_texts()[source.literal];
        if (text.size() != end - source.at) continue;
        if (++whole[text] == 2 || is_framed(trimmed(text))) add(trimmed(text));
      }
    }
  }
}

// How much of the begin of `text` stands at the end of `start`.
std::size_t overlap(const std::string& start, const std::string& text) {
  std::size_t size = std::min(start.size(), text.size());
  while (!start.ends_with(std::string_view(text).substr(0, size))) --size;
  return size;
}

// What of `header` the turn that begins with `start` begins with too.
Written Analyst::shared_header(const Written& header, const Written& begin) const {
  const std::string& start = begin.text;
  Written shared = header;
  // The prompt may have the end of the turn before it in front.
  for (const std::size_t cut : boundaries(header.text)) {
    const std::string rest = header.text.substr(cut);
    if (cut == 0 || trimmed(rest).size() < 4 || !start.starts_with(rest) || contains(start, header.text)) continue;
    shared = header.from(cut);
    break;
  }
  // A line end in front of the prompt may stand only between two turns.
  const std::size_t led = std::min(shared.text.find_first_not_of(" \n\t\r"), shared.text.size());
  const bool is_led = led > 0 && !contains(start, shared.text);
  if (is_led) shared = shared.from(led);
  const std::size_t up_to_slot = overlap(start, shared.text);
  while (!shared.text.empty() && !contains(start, shared.text)) {
    const std::vector<std::size_t> cuts = cuts_of(shared, format_.atoms);
    const std::size_t cut = cuts.size() > 1 ? cuts[cuts.size() - 2] : 0;
    shared = shared.before(up_to_slot > cut ? up_to_slot : cut);
  }
  if (!shared.text.empty() && shared.text.size() < header.text.size()) {
    const Written whole = is_led ? header.from(led) : header;
    const std::size_t same = same_front(whole, begin.from(start.find(shared.text)), format_.atoms);
    if (same > 0 && same < shared.text.size()) shared = shared.before(same);
  }
  if (!is_led || is_blank(shared.text)) return shared;
  Written out = header.before(led);
  out.append(shared);
  return out;
}

// What all generation prompts and all turns begin with.  A turn may have something of the turn before it in front
// (closers that a template writes late): it counts from where the generation prompt begins in it.
void Analyst::find_header() {
  std::optional<Written> header;
  for (const Written& prompt : prompts_) {
    if (!is_blank(prompt.text)) header = header ? common_start(*header, prompt, format_.atoms) : prompt;
  }
  const bool has_prompt = header.has_value();
  for (const auto& [key, found] : variants_) {
    const Written start = written(found.turn, 0, first_slot(found.turn));
    if (!header) {
      header = start;
      continue;
    }
    Written shared = shared_header(*header, start);
    if (!is_blank(shared.text) || !has_prompt) header = std::move(shared);
  }
  format_.header = header ? header->text : "";
  if (is_blank(format_.header)) format_.header.clear();
  if (header_opens_block()) {
    const std::vector<std::size_t> cuts = cuts_of(header->before(trimmed_end(header->text).size()), format_.atoms);
    std::size_t cut = cuts.size() - 2;
    while (cut > 0 && is_blank(std::string_view(format_.header).substr(cuts[cut]))) --cut;
    // What a call's own opener has in front stays, if it is all that there is; reasoning must have its opener.
    if (cuts[cut] > 0 || is_header_repeated() || !header_opens_call()) format_.header.resize(cuts[cut]);
  }
}

// Whether the header stands inside of turns as well, before each block.
bool Analyst::is_header_repeated() const {
  return std::ranges::any_of(variants_, [this](const auto& entry) {
    const std::string all = entry.second.turn.literals(0, entry.second.turn.tokens.size());
    const std::size_t first = all.find(trimmed(format_.header));
    return first != std::string::npos && all.find(trimmed(format_.header), first + 1) != std::string::npos;
  });
}

// True if the last unit of the header is what opens a call.
bool Analyst::header_opens_call() const {
  const Variant* plain = find(false, true, 0);
  const bool is_bare = plain != nullptr && is_blank(lead(plain->turn, first_slot(plain->turn)));
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}}) {
    const Variant* calling = find(false, false, count);
    if (calling == nullptr) continue;
    const std::size_t slot = first_slot(calling->turn);
    // Where content stands behind it as well, the header opens neither.
    if (!is_bare && slot < calling->turn.tokens.size() && is_blank(lead(calling->turn, slot))) return true;
  }
  return false;
}

// True if the last unit of the header is what opens the reasoning, or a call.
bool Analyst::header_opens_block() const {
  if (is_blank(format_.header)) return false;
  if (header_opens_call()) return true;
  const Variant* plain = find(false, true, 0);
  const Variant* thinking = find(true, true, 0);
  if (thinking == nullptr) thinking = find(true, false, 1);
  if (thinking == nullptr || first_slot(thinking->turn) != thinking->turn.first(SlotKind::kReasoning)) return false;
  if (!is_blank(lead(thinking->turn, first_slot(thinking->turn)))) return false;
  // The reasoning's close is what a turn without reasoning begins with then.
  const std::size_t end = thinking->turn.last(SlotKind::kReasoning);
  const Written behind = written(thinking->turn, end + 1, end + 2);
  const Written core = behind.from(std::min(behind.text.find_first_not_of(" \n\t\r"), behind.text.size()));
  const std::vector<std::size_t> cuts = cuts_of(core, format_.atoms);
  const std::string_view close = std::string_view(core.text).substr(0, cuts[std::min<std::size_t>(1, cuts.size() - 1)]);
  for (const format::GenerationPrompt& prompt : format_.generation_prompts) {
    const std::string rest = without_prefix(prompt.text, format_.header);
    if (!is_blank(rest) && !contains(rest, close)) return false;
  }
  return plain == nullptr || contains(lead(plain->turn, first_slot(plain->turn)), close);
}

std::string Analyst::lead(const Turn& turn, std::size_t end) const {
  std::string text = turn.literals(0, end);
  if (format_.header.empty()) return text;
  // A prompt may begin with the line end that only stands between two turns.
  for (const std::string_view header : {std::string_view(format_.header), trimmed(format_.header)}) {
    const std::size_t at = text.find(header);
    if (at != std::string::npos) return text.substr(at + header.size());
  }
  return text;
}

// What of `between`, the text from reasoning to content, opens the content: calls, or the end of the turn, stand behind
// the reasoning without it, and so does content without reasoning (`plain_lead`) behind an empty block.
std::string Analyst::opener_behind_reasoning(const Turn& thinking, const std::string& between,
                                             const std::string& plain_lead) const {
  const std::size_t begin = thinking.last(SlotKind::kReasoning) + 1;
  const Written to_content = written(thinking, begin, thinking.tokens.size()).before(between.size());
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{0}}) {
    const Variant* other = find(true, false, count);
    if (other == nullptr) continue;
    const std::size_t reasoning = other->turn.last(SlotKind::kReasoning);
    const std::size_t slot = count > 0 ? first_call_slot(other->turn, 0) : other->turn.tokens.size();
    if (slot == kNone || slot < reasoning) continue;
    const std::size_t same = same_front(to_content, written(other->turn, reasoning + 1, slot), format_.atoms);
    const std::string rest = between.substr(same);
    if (!is_blank(rest) && !is_blank(between.substr(0, same)) && plain_lead.ends_with(rest)) return rest;
  }
  return "";
}

// `between` stands between reasoning and content; `plain_lead` before the content of a turn without reasoning.
void Analyst::split_reasoning_close(const Turn& thinking, const std::string& between, const std::string& plain_lead) {
  format::Reasoning& reasoning = format_.reasoning;
  const auto split = [&](const std::string& content_open) {
    format_.content.open = content_open;
    reasoning.close = between.substr(0, between.size() - content_open.size());
  };
  const std::string_view open = trimmed(reasoning.open);
  const auto is_split = [&](const std::string& candidate) {
    return !is_blank(candidate) && between.ends_with(candidate) &&
           !is_blank(between.substr(0, between.size() - candidate.size())) && !contains(candidate, open);
  };
  if (is_split(plain_lead)) {
    split(plain_lead);
  } else if (const std::string opener = opener_behind_reasoning(thinking, between, plain_lead); !opener.empty()) {
    split(opener);
  } else {
    reasoning.close = between;
    for (const format::GenerationPrompt& prompt : format_.generation_prompts) {
      const std::string rest = without_prefix(prompt.text, format_.header);
      if (is_split(rest)) split(rest);
    }
  }
  // The next block's own header is recognised by itself.
  if (!is_blank(format_.header) && reasoning.close.size() > format_.header.size() &&
      reasoning.close.ends_with(format_.header)) {
    reasoning.close.resize(reasoning.close.size() - format_.header.size());
  }
}

// Where the words begin that `opening` ends with: letters, digits and what a sentence has besides.
std::size_t begin_of_words(std::string_view opening) {
  const auto is_prose = [](char byte) {
    return format::is_space(byte) || static_cast<unsigned char>(byte) >= 0x80 ||
           (format::is_word(byte) && byte != '_') ||
           std::string_view(",.;:!?'\"-").find(byte) != std::string_view::npos;
  };
  std::size_t begin = opening.size();
  while (begin > 0 && is_prose(opening[begin - 1])) --begin;
  while (begin > 0 && begin < opening.size() && format::is_space(opening[begin])) ++begin;
  return begin;
}

void Analyst::infer_content_and_reasoning() {
  const Variant* plain = find(false, true, 0);
  const std::string plain_lead = plain != nullptr ? lead(plain->turn, plain->turn.first(SlotKind::kContent)) : "";
  const Variant* thinking = find(true, true, 0);
  if (thinking == nullptr) thinking = find(true, true, 1);
  if (thinking == nullptr) {
    for (const auto& [key, found] : variants_) {
      if (std::get<0>(key)) thinking = &found;
    }
  }
  if (thinking == nullptr) {
    format_.content.open = plain_lead;
  } else {
    const Turn& turn = thinking->turn;
    format_.reasoning.present = true;
    const std::size_t begin = turn.first(SlotKind::kReasoning);
    const std::size_t end = turn.last(SlotKind::kReasoning);
    const std::size_t content = turn.first(SlotKind::kContent);
    format_.reasoning.open = lead(turn, begin);
    const std::size_t name = std::min(turn.first(SlotKind::kName), turn.first(SlotKind::kId));
    if (content != kNone && content > end && name > content) {
      split_reasoning_close(turn, turn.literals(end + 1, content), plain_lead);
    } else {
      std::size_t next = end + 1;
      while (next < turn.tokens.size() && turn.tokens[next].kind == SlotKind::kLiteral) ++next;
      const std::string rest = turn.literals(end + 1, next);
      const std::vector<std::size_t> cuts = boundaries(trimmed(rest));
      format_.reasoning.close =
          next < turn.tokens.size()
              ? rest.substr(0, rest.find(trimmed(rest)) + cuts[std::min<std::size_t>(1, cuts.size() - 1)])
              : rest;
      format_.content.open = contains(plain_lead, trimmed(format_.reasoning.close)) ? "" : plain_lead;
    }
    // Nothing marks the beginning in history, but the prompt for an answer does.
    for (const format::GenerationPrompt& prompt : format_.generation_prompts) {
      const std::string rest = without_prefix(prompt.text, format_.header);
      const bool is_other =
          contains(rest, trimmed(format_.reasoning.close)) || contains(rest, trimmed(format_.content.open));
      if (!is_blank(format_.reasoning.open) || is_blank(rest) || is_other) continue;
      const std::size_t words = begin_of_words(rest);
      format_.reasoning.begins_text = is_blank(rest.substr(0, words));
      format_.reasoning.open = format_.reasoning.begins_text ? rest : rest.substr(0, words);
      lose("reasoning in history",
           format_.reasoning.begins_text
               ? "the prompt begins the reasoning with words that history has only as the reasoning's own"
               : "the prompt opens the reasoning, and history writes it without that opening",
           0);
    }
    if (is_blank(format_.reasoning.close)) {
      format_.reasoning = {};
      note("nothing that the template writes ends the reasoning");
    }
  }
  if (thinking != nullptr && format_.content.open.empty() && is_blank(plain_lead)) format_.content.open = plain_lead;
  find_content_close(plain);
}

// How much of `tail`, which stands behind the content of a plain turn, closes the content.
std::size_t Analyst::content_close_in(const Written& tail, const Variant* calling) const {
  const std::size_t content = calling != nullptr ? calling->turn.last(SlotKind::kContent) : kNone;
  const std::size_t slot = calling != nullptr ? first_call_slot(calling->turn, 0) : kNone;
  if (content != kNone && slot > content)
    return same_front(tail, written(calling->turn, content + 1, slot), format_.atoms);
  if (is_blank(format_.content.open)) return 0;
  // Behind calls, or where there are none, content stands at the end of the turn too: what ends turns without content
  // stands behind what closes it.
  if (content != kNone) {
    const std::size_t same =
        same_front(tail, written(calling->turn, content + 1, calling->turn.tokens.size()), format_.atoms);
    if (same < tail.text.size()) return same;
    const Variant* alone = find(false, false, 1);
    const std::size_t last = alone != nullptr ? last_call_slot(alone->turn, 0) : kNone;
    const std::size_t stop =
        last == kNone ? 0 : same_back(tail, written(alone->turn, last + 1, alone->turn.tokens.size()), format_.atoms);
    if (stop < tail.text.size() && !is_blank(tail.text.substr(tail.text.size() - stop))) return tail.text.size() - stop;
  }
  return tail.begins.empty() ? 0 : tail.begins.back();
}

void Analyst::find_content_close(const Variant* plain) {
  // What ends content stands behind it both before calls and before the turn's end.
  const Variant* calling = find(false, true, 1);
  if (calling == nullptr) calling = find(true, true, 1);
  if (plain == nullptr) plain = find(true, true, 0);
  if (plain == nullptr) return;
  const Written tail = written(plain->turn, plain->turn.last(SlotKind::kContent) + 1, plain->turn.tokens.size());
  plain_tail_ = tail.text;
  const std::size_t same = content_close_in(tail, calling);
  if (is_blank(std::string_view(tail.text).substr(0, same))) {
    if (calling != nullptr) find_wrap_beside_calls();
    return;
  }
  format_.content.close = tail.text.substr(0, same);
  plain_tail_ = tail.text.substr(same);
}

// Content that has markers around it only where calls in bare JSON follow.
void Analyst::find_wrap_beside_calls() {
  const Variant* calling = find(false, true, 1);
  if (calling == nullptr) calling = find(false, true, 2);
  if (calling == nullptr || !is_blank(format_.content.open)) return;
  const Turn& turn = calling->turn;
  const std::size_t content = turn.first(SlotKind::kContent);
  const std::size_t slot = first_call_slot(turn, 0);
  if (slot == kNone || slot < content) return;
  const std::string open = lead(turn, content);
  const std::string behind = turn.literals(turn.last(SlotKind::kContent) + 1, slot);
  const std::size_t json = behind.find_first_of("{[");
  if (is_blank(open) || json == std::string::npos || is_blank(behind.substr(0, json))) return;
  const std::vector<std::size_t> cuts = boundaries(behind);
  if (std::find(cuts.begin(), cuts.end(), json) == cuts.end()) return;
  // What stands before each call opens calls.
  const std::string close(trimmed(behind.substr(0, json)));
  const Variant* two = find(false, true, 2);
  if (two == nullptr || contains(between_calls(two->turn, 0), close)) return;
  if (contains(open, trimmed(format_.reasoning.close))) return;
  format_.content = {open, behind.substr(0, json)};
}

// History may write a whole block without reasoning before the content, and all generation prompts its opening.
void Analyst::settle_inline_reasoning() {
  format::Reasoning& reasoning = format_.reasoning;
  const std::string close(trimmed(reasoning.close));
  std::string& before = format_.content.open;
  if (const std::size_t at = before.find(close);
      at != std::string::npos && is_blank(before.substr(at + close.size()))) {
    const std::size_t from = at == 0 ? 0 : before.find_last_not_of(" \n\t\r", at - 1) + 1;
    reasoning.close = before.substr(from);
    before.clear();
  }
  const std::string_view open = trimmed(reasoning.open);
  if (trimmed(before) == open) before.clear();
  const std::size_t block = open.empty() ? std::string::npos : format_.header.find(open);
  if (block != std::string::npos && block > 0 && format_.header.find(close, block) != std::string::npos) {
    format_.header.resize(block);
    return;
  }
  const std::string_view header = trimmed(format_.header);
  if (open.empty() || header.size() <= open.size() || !header.ends_with(open)) return;
  const std::size_t at = format_.header.rfind(open);
  reasoning.open = format_.header.substr(at);
  format_.header.resize(at);
}

// What a generation prompt has behind the header, without what opens content; but a tag that stands alone there is no
// such thing, even if history writes content behind it.
std::string Analyst::behind_header(const format::GenerationPrompt& prompt) const {
  const std::string all = without_prefix(prompt.text, format_.header);
  const std::string rest = without_prefix(all, format_.content.open);
  return is_blank(rest) && !closing_of(std::string(trimmed(all))).empty() ? all : rest;
}

// A tag that a generation prompt leaves open, or a pair with nothing in it; or what one prompt opens and another one
// closes.
void Analyst::find_reasoning_tags(std::string& open, std::string& close) const {
  for (const format::GenerationPrompt& prompt : format_.generation_prompts) {
    const std::string rest = behind_header(prompt);
    const std::string_view core = trimmed(rest);
    const std::vector<std::size_t> cuts = boundaries(core);
    if (cuts.size() < 2) continue;
    const std::string first(core.substr(0, cuts[1]));
    const std::string second(trimmed(core.substr(cuts[1])));
    const std::string closing = second.empty() ? closing_of(first) : second;
    const bool is_pair = closing == closing_of(first) || opening_of(closing) == first;
    if (closing.empty() || !close.empty() || !is_pair) continue;
    open = second.empty() ? rest : first;
    close = closing;
  }
  for (const format::GenerationPrompt& prompt : format_.generation_prompts) {
    const std::string opened = behind_header(prompt);
    for (const format::GenerationPrompt& other : format_.generation_prompts) {
      const std::string whole = behind_header(other);
      if (is_blank(opened) || !close.empty() || !trimmed(whole).starts_with(trimmed(opened))) continue;
      const std::string_view rest = trimmed(trimmed(whole).substr(trimmed(opened).size()));
      if (rest.empty()) continue;
      open = opened;
      close = rest;
    }
  }
}

// The generation prompt opens a block that history does not have; what closes it is a constant that the template looks
// for in an assistant message's content.
void Analyst::infer_inline_reasoning() {
  if (format_.reasoning.present) return;
  std::vector<std::string> constants;
  for (const auto& [key, found] : variants_) {
    for (const jinja::Probe& probe : found.turn.probes) {
      const bool searches = probe.operation == "in" || probe.operation == "split" || probe.operation == "find";
      if (searches && trimmed(probe.constant).size() > 2 &&
          std::find(constants.begin(), constants.end(), probe.constant) == constants.end()) {
        constants.push_back(probe.constant);
      }
    }
  }
  std::string open;
  std::string close;
  for (const format::GenerationPrompt& prompt : format_.generation_prompts) {
    const std::string rest = behind_header(prompt);
    if (is_blank(rest)) continue;
    for (const std::string& constant : constants) {
      const std::size_t at = rest.find(trimmed(constant));
      if (at == std::string::npos || !(close.empty() || close == constant)) continue;
      if (at > 0 && !is_blank(rest.substr(0, at))) {
        open = rest.substr(0, at);
        close = constant;
      }
    }
  }
  if (close.empty()) {
    for (const format::GenerationPrompt& prompt : format_.generation_prompts) {
      const std::string rest = behind_header(prompt);
      if (is_blank(rest) || !prompt.text.starts_with(format_.header)) continue;
      for (const std::string& constant : constants) {
        if (open.empty() && !contains(rest, trimmed(constant))) {
          open = rest;
          close = constant;
        }
      }
    }
  }
  if (close.empty()) find_reasoning_tags(open, close);
  for (const std::string& constant : constants) {
    if (close.empty() && !opening_of(std::string(trimmed(constant))).empty()) {
      close = constant;
      open = opening_of(std::string(trimmed(constant)));
    }
  }
  if (is_blank(close)) return;
  format_.reasoning = {true, open, close, true};
  settle_inline_reasoning();
}
}  // namespace rondo::analysis
