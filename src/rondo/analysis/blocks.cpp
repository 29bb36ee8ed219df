// Infers the reasoning and the content of a turn.
#include <algorithm>

#include "analysis/escapes.h"
#include "analysis/parts.h"
#include "probe/words.h"

namespace rondo::analysis {

using format::is_blank;
using format::trimmed;

namespace {

// The text between reasoning and content, cut in two.
struct Border {
  std::string reasoning_close;
  std::string content_open;
};

// Returns the end of `between`, the text from reasoning to content, that opens the content; "" if none does.  It is
// recognised where it is absent: calls or the end of the turn follow the reasoning without it.  Content without
// reasoning must follow it too, so `plain_lead` ends with it.
std::string opener_behind_reasoning(const Evidence& evidence, const Turn& thinking, const std::string& between,
                                    const std::string& plain_lead) {
  const std::size_t begin = thinking.last(SlotKind::kReasoning) + 1;
  const Written to_content = written(thinking, begin, thinking.tokens.size()).before(between.size());
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{0}}) {
    const Variant* other = evidence.find({.reasoning = true, .calls = count});
    if (other == nullptr) continue;
    const std::size_t reasoning = other->turn.last(SlotKind::kReasoning);
    const std::size_t slot = count > 0 ? other->turn.first_of_call(0) : other->turn.tokens.size();
    if (slot == kNone || slot < reasoning) continue;
    const std::size_t same = same_front(to_content, written(other->turn, reasoning, slot), evidence.atoms);
    const std::string rest = between.substr(same);
    if (is_inside_json(std::string_view(between).substr(0, same))) continue;  // two objects have the same key there
    // Punctuation that two headings share, as in `## Answer` and `## Tools`, closes nothing.
    if (between == plain_lead && std::ranges::none_of(between.substr(0, same), format::is_word)) continue;
    if (!is_blank(rest) && !is_blank(between.substr(0, same)) && plain_lead.ends_with(rest)) return rest;
  }
  return "";
}

// Returns whether the reasoning is a string with quotes around it, which close it then.
bool has_quoted_reasoning(const Turn& turn) {
  const std::string written = text_of(turn, SlotKind::kReasoning);
  return written.starts_with('"') && written.ends_with('"');
}

// Splits `between`, the text from the reasoning of `thinking` to content.  `plain_lead` is the text before the content
// of a turn without reasoning.
Border split_border(const Evidence& evidence, const std::string& header, const Turn& thinking,
                    const std::string& between, const std::string& plain_lead) {
  const std::string opening = lead(thinking, thinking.first(SlotKind::kReasoning), header);
  const bool is_quoted = has_quoted_reasoning(thinking);
  const auto is_split = [&between, is_quoted, open = trimmed(opening)](const std::string& candidate) {
    return !is_blank(candidate) && between.ends_with(candidate) &&
           (is_quoted || !is_blank(between.substr(0, between.size() - candidate.size()))) && !contains(candidate, open);
  };
  std::string content_open;
  if (is_split(plain_lead)) {
    content_open = plain_lead;
  } else if (std::string opener = opener_behind_reasoning(evidence, thinking, between, plain_lead); !opener.empty()) {
    content_open = std::move(opener);
  } else {
    for (const Prompt& prompt : evidence.prompts) {
      const std::string rest = without_prefix(prompt.written.text, header);
      if (is_split(rest)) content_open = rest;
    }
  }
  std::string close = between.substr(0, between.size() - content_open.size());
  // The header of the next block is recognised by itself, unless nothing else closes the reasoning.
  if (!is_blank(header) && close.ends_with(header) && !is_blank(close.substr(0, close.size() - header.size())))
    close.resize(close.size() - header.size());
  return {std::move(close), std::move(content_open)};
}

// Returns the text that closes reasoning at token `end` if no content follows: all of the text after it at the end of
// the turn, and otherwise only its first unit.
std::string close_without_content(const Evidence& evidence, const Turn& turn, std::size_t end) {
  std::size_t next = end + 1;
  while (next < turn.tokens.size() && turn.tokens[next].kind == SlotKind::kLiteral) ++next;
  std::string rest = turn.literals(end, next);
  if (next == turn.tokens.size()) return rest;
  const std::vector<std::size_t> cuts = evidence.boundaries(trimmed(rest));
  return rest.substr(0, rest.find(trimmed(rest)) + first_unit_end(cuts));
}

// Returns where the words at the end of `opening` begin.  Words are letters, digits and the other characters of a
// sentence.
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

// Takes the opener of the reasoning from the prompt if history does not write it.
void open_by_prompt(const Evidence& evidence, Blocks& blocks) {
  format::Reasoning& reasoning = blocks.reasoning;
  for (const Prompt& prompt : evidence.prompts) {
    const std::string rest = without_prefix(prompt.written.text, blocks.header);
    const bool is_other = contains(rest, trimmed(reasoning.close)) || contains(rest, trimmed(blocks.content.open));
    if (!is_blank(reasoning.open) || is_blank(rest) || is_other) continue;
    const std::size_t words = begin_of_words(rest);
    reasoning.begins_text = is_blank(rest.substr(0, words));
    reasoning.open = reasoning.begins_text ? rest : rest.substr(0, words);
    blocks.remarks.lose("reasoning in history",
                        reasoning.begins_text
                            ? "the prompt begins the reasoning with words that history has only as the reasoning's own"
                            : "the prompt opens the reasoning, and history writes it without that opening");
  }
}

// Returns whether `text`, before content without reasoning, has the close of reasoning.  It has none where a word, such as
// `null`, stands in the reasoning's place.
bool has_empty_reasoning(const std::string& text, const format::Reasoning& reasoning) {
  const std::string_view open = trimmed(reasoning.open);
  const std::size_t close = text.find(trimmed(reasoning.close));
  if (!contains(text, trimmed(reasoning.close))) return false;
  const std::size_t at = open.empty() ? std::string::npos : text.find(open);
  if (at == std::string::npos || at + open.size() > close) return true;
  return std::ranges::none_of(text.substr(at + open.size(), close - at - open.size()), format::is_word);
}

// Returns the block without a text that stands before content without reasoning, if other white space follows it than
// follows reasoning: `<think></think>` C beside `<think>R</think>\n` C.  Returns "" otherwise.
std::string empty_reasoning(const std::string& plain_lead, const Blocks& blocks) {
  const format::Reasoning& reasoning = blocks.reasoning;
  const std::string block = std::string(trimmed(reasoning.open)) + std::string(trimmed(reasoning.close));
  if (is_blank(reasoning.open) || is_blank(reasoning.close) || !is_blank(blocks.content.open)) return "";
  if (trimmed(plain_lead) != block) return "";
  const auto space_behind = [](const std::string& text) { return text.substr(trimmed_end(text).size()); };
  return space_behind(plain_lead) == space_behind(reasoning.close) ? "" : plain_lead;
}

// Infers both blocks from `turn`, which has reasoning.  If no content follows the reasoning there, `plain_lead` opens
// the content, unless it contains the close of the reasoning.
Blocks blocks_of(const Evidence& evidence, const std::string& header, const Turn& turn, const std::string& plain_lead) {
  Blocks out;
  out.header = header;
  const std::size_t end = turn.last(SlotKind::kReasoning);
  const std::size_t content = turn.first(SlotKind::kContent);
  const std::size_t name = std::min(turn.first(SlotKind::kName), turn.first(SlotKind::kId));
  out.reasoning.present = true;
  out.reasoning.open = lead(turn, turn.first(SlotKind::kReasoning), header);
  if (content > end && name > content) {
    Border border = split_border(evidence, header, turn, turn.literals(end, content), plain_lead);
    out.reasoning.close = std::move(border.reasoning_close);
    out.content.open = std::move(border.content_open);
  } else {
    out.reasoning.close = close_without_content(evidence, turn, end);
    if (!contains(plain_lead, trimmed(out.reasoning.close))) out.content.open = plain_lead;
  }
  if (!has_empty_reasoning(plain_lead, out.reasoning) && plain_lead.ends_with(out.content.open)) {
    const std::string absent = plain_lead.substr(0, plain_lead.size() - out.content.open.size());
    if (!is_blank(absent)) out.reasoning.absent = absent;
  }
  if (std::string empty = empty_reasoning(plain_lead, out); !empty.empty()) out.reasoning.absent = std::move(empty);
  open_by_prompt(evidence, out);
  const bool is_open = is_blank(out.reasoning.close) && !has_quoted_reasoning(turn);
  if (is_open || is_inside_json(out.reasoning.close)) {
    out.reasoning = {};
    out.content.open = plain_lead;
    out.remarks.note("nothing that the template writes ends the reasoning");
  }
  if (out.content.open.empty() && is_blank(plain_lead)) out.content.open = plain_lead;
  return out;
}

bool is_behind_content(const Turn& turn) {
  const std::size_t content = turn.last(SlotKind::kContent);
  return content != kNone && content < turn.first(SlotKind::kReasoning);
}

// Infers the blocks of `turn`, whose reasoning stands behind its content.  `plain` is a turn with content alone.
Blocks blocks_behind_content(const Evidence& evidence, const std::string& header, const Turn& turn, const Turn& plain) {
  Blocks out;
  out.header = header;
  out.content.open = lead(plain, plain.first(SlotKind::kContent), header);
  const Written plain_tail = written(plain, plain.last(SlotKind::kContent), plain.tokens.size());
  const Written opening = written(turn, turn.last(SlotKind::kContent), turn.first(SlotKind::kReasoning));
  out.reasoning.present = true;
  out.reasoning.behind_content = true;
  const std::size_t content_close = same_front(opening, plain_tail, evidence.atoms);
  out.reasoning.open = opening.text.substr(content_close);
  if (!is_blank(out.content.open)) out.content.close = opening.text.substr(0, content_close);
  const std::size_t end = turn.last(SlotKind::kReasoning);
  if (turn.first_of_call(0) != kNone) {
    out.reasoning.close = close_without_content(evidence, turn, end);
  } else {
    const Written behind = written(turn, end, turn.tokens.size());
    const std::size_t stop = same_back(behind, plain_tail.from(content_close), evidence.atoms);
    out.reasoning.close = behind.text.substr(0, behind.text.size() - stop);
  }
  if (is_blank(out.reasoning.open) || is_blank(out.reasoning.close)) {
    out.reasoning = {};
    out.remarks.note("nothing that the template writes opens or closes the reasoning behind the content");
  }
  return out;
}

// Returns how many bytes at the start of `tail`, the text after the content of a plain turn, close the content of
// `blocks`.
std::size_t content_close_in(const Evidence& evidence, const Written& tail, const Blocks& blocks,
                             const Variant* calling) {
  const std::size_t content = calling != nullptr ? calling->turn.last(SlotKind::kContent) : kNone;
  const std::size_t slot = calling != nullptr ? calling->turn.first_of_call(0) : kNone;
  if (content != kNone && slot > content)
    return same_front(tail, written(calling->turn, content, slot), evidence.atoms);
  if (is_blank(blocks.content.open)) return 0;
  // Content after calls, or without calls, also stands at the end of a turn.  The text that ends turns without content
  // then follows the text that closes content.
  if (content != kNone) {
    const Turn& turn = calling->turn;
    if (closes_calls_before_content(turn, trimmed(tail.text), blocks.header)) return tail.text.size();
    const std::size_t same = same_front(tail, written(turn, content, turn.tokens.size()), evidence.atoms);
    if (same < tail.text.size()) return same;
    const Variant* alone = evidence.find({.calls = 1});
    const std::size_t last = alone != nullptr ? alone->turn.last_of_call(0) : kNone;
    const std::size_t stop =
        last == kNone ? 0 : same_back(tail, written(alone->turn, last, alone->turn.tokens.size()), evidence.atoms);
    // White space alone closes nothing.  Both turns then end alike, with marks that look the same.
    const std::string_view text = tail.text;
    if (!is_blank(text.substr(text.size() - stop)) && !is_blank(text.substr(0, text.size() - stop)))
      return text.size() - stop;
  }
  return tail.begins.empty() ? 0 : tail.begins.back();
}

// Returns `size`, of the text at the start of `tail` that closes content, without the bracket of an empty list: it belongs
// to the list of calls, which the template writes in turns without calls too.  The member of an object is no such list.
std::size_t without_empty_list(std::string_view tail, std::size_t size) {
  const bool is_list = size > 1 && tail.substr(size - 1).starts_with("[]");
  return is_list && !trimmed(tail.substr(0, size - 1)).ends_with(':') ? size - 1 : size;
}

// Finds markers around content that are written only if calls in bare JSON follow.
std::optional<format::Content> wrap_beside_calls(const Evidence& evidence, const Blocks& blocks) {
  const Variant* calling = evidence.find({.content = true, .calls = 1}, Parts{.content = true, .calls = 2});
  if (calling == nullptr || !is_blank(blocks.content.open)) return std::nullopt;
  const Turn& turn = calling->turn;
  const std::size_t content = turn.first(SlotKind::kContent);
  const std::size_t slot = turn.first_of_call(0);
  if (slot == kNone || slot < content) return std::nullopt;
  std::string open = without_prefix(lead(turn, content, blocks.header), blocks.reasoning.absent);
  const std::string behind = turn.literals(turn.last(SlotKind::kContent), slot);
  const std::size_t json = behind.find_first_of("{[");
  if (is_blank(open) || json == std::string::npos || is_blank(behind.substr(0, json))) return std::nullopt;
  const std::vector<std::size_t> cuts = evidence.boundaries(behind);
  if (std::ranges::find(cuts, json) == cuts.end()) return std::nullopt;
  // A text that stands before each call opens calls, not content.
  const std::string close(trimmed(behind.substr(0, json)));
  const Variant* two = evidence.find({.content = true, .calls = 2});
  if (two == nullptr || contains(two->turn.between_calls(0), close)) return std::nullopt;
  if (contains(open, trimmed(blocks.reasoning.close))) return std::nullopt;
  return format::Content{std::move(open), behind.substr(0, json)};
}

// Finds the markers around content that calls follow, if they are not those of other content.  If nothing closes it,
// other content must have an opener too.
void find_preamble(const Evidence& evidence, Blocks& blocks) {
  const Variant* both = evidence.find({.content = true, .calls = 1});
  const Variant* alone = evidence.find({.calls = 1});
  if (both == nullptr || alone == nullptr) return;
  const std::size_t content = both->turn.first(SlotKind::kContent);
  const std::size_t last = both->turn.last(SlotKind::kContent);
  const std::size_t slot = both->turn.first_of_call(0);
  if (slot == kNone || slot < content) return;
  std::string open = without_prefix(lead(both->turn, content, blocks.header), blocks.reasoning.absent);
  if (is_blank(open) || trimmed(open) == trimmed(blocks.reasoning.open) ||
      contains(open, trimmed(blocks.reasoning.close)))
    return;
  const Written behind = written(both->turn, last, slot);
  const std::size_t calls = same_back(behind, written(alone->turn, 0, alone->turn.first_of_call(0)), evidence.atoms);
  std::string close = behind.text.substr(0, behind.text.size() - calls);
  if (is_blank(close) && is_blank(blocks.content.open)) return;
  // With the opener of other content it is content before calls only if something closes it that closes no other.
  const bool is_like_others = trimmed(open) == trimmed(blocks.content.open);
  if (is_like_others && (is_blank(close) || !is_blank(blocks.content.close))) return;
  blocks.content.preamble_open = std::move(open);
  blocks.content.preamble_close = is_blank(close) ? "" : std::move(close);
}

// Finds what stands in place of content in a turn that has calls alone, with the close of content: `null,` where content is
// a string.
void find_absent_content(const Evidence& evidence, Blocks& blocks) {
  const Variant* alone = evidence.find({.calls = 1}, Parts{.calls = 2});
  const std::string_view close = trimmed(blocks.content.close);
  const std::size_t slot = alone != nullptr ? alone->turn.first_of_call(0) : kNone;
  if (slot == kNone || close.empty()) return;
  const std::string text = without_prefix(lead(alone->turn, slot, blocks.header), blocks.reasoning.absent);
  const std::size_t at = text.find(close);
  const std::string open = without_prefix(text, blocks.content.open);
  if (at == std::string::npos || trimmed(open).starts_with(close)) return;
  if (std::ranges::none_of(text.substr(0, at), format::is_word)) return;
  if (contains(text, trimmed(blocks.reasoning.open)) || close == trimmed(blocks.reasoning.close)) return;
  blocks.content.absent = text.substr(0, at) + blocks.content.close.substr(blocks.content.close.find(close));
}

// Finds markers around content that are written only if reasoning stands before it: `</think><say>` C `</say>`.
void wrap_beside_reasoning(const Evidence& evidence, const Turn& thinking, const Written& plain_tail, Blocks& blocks) {
  const std::size_t content = thinking.last(SlotKind::kContent);
  if (content == kNone || !is_blank(blocks.content.open)) return;
  const Written tail = written(thinking, content, thinking.tokens.size());
  const std::size_t stop = same_back(tail, plain_tail, evidence.atoms);
  const std::string close = tail.text.substr(0, tail.text.size() - stop);
  if (is_blank(close) || stop < plain_tail.text.size()) return;
  // The opener is the pair of the closer, or else the last of several marks between reasoning and content.
  const std::string& between = blocks.reasoning.close;
  const std::string pair = opening_of(std::string(trimmed(close)));
  std::size_t at = pair.empty() ? std::string::npos : between.rfind(pair);
  if (at == std::string::npos) {
    const std::vector<std::size_t> cuts = evidence.boundaries(trimmed(between));
    at = between.find(trimmed(between)) + last_unit_begin(cuts);
  }
  if (is_blank(std::string_view(between).substr(0, at))) return;
  blocks.content = {between.substr(at), close};
  blocks.reasoning.close.resize(at);
}

// Some templates write white space behind a question that is answered, and none behind one that asks for an answer.
// Returns that white space, if nothing else stands before the content of the turn `plain`.
std::string space_before_answer(const Evidence& evidence, const Variant& plain) {
  const auto is_empty = [](const Prompt& prompt) { return prompt.written.text.empty(); };
  if (plain.turn.first_slot() != 0 || !std::ranges::all_of(evidence.prompts, is_empty)) return "";
  json::Value question = probe::plain_message("user", probe::kQuestionText);
  const auto asked = evidence.prober.text_of({question}, plain.setting);
  const auto answered = evidence.prober.text_of(
      {std::move(question), probe::assistant_message(evidence.shape, {"", std::string(probe::kContentText), {}})},
      plain.setting);
  if (!asked || !answered || !answered->starts_with(*asked)) return "";
  const std::string rest = answered->substr(asked->size());
  const std::string space = rest.substr(0, rest.find_first_not_of(" \n\t\r"));
  return rest.substr(space.size()).starts_with(probe::kContentText) ? space : "";
}

}  // namespace

Blocks infer_blocks(const Evidence& evidence, const std::string& header) {
  const Variant* plain = evidence.find({.content = true});
  const std::string plain_lead =
      plain != nullptr ? lead(plain->turn, plain->turn.first(SlotKind::kContent), header) : "";
  const Variant* thinking = evidence.find({true, true, 0}, Parts{true, true, 1});
  if (thinking == nullptr) {
    for (const auto& [parts, variant] : evidence.variants) {
      if (parts.reasoning) thinking = &variant;
    }
  }
  Blocks out;
  if (thinking != nullptr && plain != nullptr && is_behind_content(thinking->turn)) {
    out = blocks_behind_content(evidence, header, thinking->turn, plain->turn);
  } else if (thinking != nullptr) {
    out = blocks_of(evidence, header, thinking->turn, plain_lead);
  } else {
    out.header = header;
    out.content.open = plain_lead;
  }
  if (plain == nullptr) plain = evidence.find({true, true, 0});
  if (plain == nullptr) return out;
  // The text that ends content follows it both before calls and at the end of the turn.
  const Variant* calling = evidence.find({.content = true, .calls = 1}, Parts{true, true, 1});
  const Written tail = written(plain->turn, plain->turn.last(SlotKind::kContent), plain->turn.tokens.size());
  const std::size_t same = out.content.close.empty()
                               ? without_empty_list(tail.text, content_close_in(evidence, tail, out, calling))
                               : out.content.close.size();
  const bool is_closed = !is_blank(std::string_view(tail.text).substr(0, same));
  if (is_closed) out.content.close = tail.text.substr(0, same);
  out.plain_tail = tail.text.substr(is_closed ? same : 0);
  const Variant* both = evidence.find({true, true, 0});
  if (!is_closed && both != nullptr && plain != both && !out.reasoning.behind_content)
    wrap_beside_reasoning(evidence, both->turn, tail, out);
  if (!is_closed && calling != nullptr && is_blank(out.content.close))
    out.content = wrap_beside_calls(evidence, out).value_or(out.content);
  find_preamble(evidence, out);
  if (out.content.open.empty() && header.empty()) out.content.open = space_before_answer(evidence, *plain);
  find_absent_content(evidence, out);
  return out;
}

}  // namespace rondo::analysis
