// Finds what the template writes alike for different messages, or not at all, and the line that decides it.
#include "analysis/escapes.h"
#include "analysis/parts.h"
#include "format/escapes.h"
#include "probe/words.h"

namespace rondo::analysis {

using format::is_blank;
using format::trimmed;

namespace {

// Returns the line of the last condition on that field of the message that was false, or else of the last one that was
// true; 0 if no condition read the field.
std::int32_t deciding_line(const Turn& turn, std::string_view field) {
  std::int32_t line = 0;
  for (const bool outcome : {true, false}) {
    for (const FieldRead& read : turn.reads) {
      if (read.outcome == outcome && read.field == field) line = read.line;
    }
  }
  return line;
}

// Reports the parts of such a message that no setting shows.
void find_dropped(const Evidence& evidence, const Parts& parts, Remarks& remarks) {
  const auto turn = evidence.ask(message_of(parts), {.tools = parts.calls > 0});
  if (!turn) return;  // refused: such a message cannot be written
  const bool has_calls = turn->has(SlotKind::kName) || turn->has(SlotKind::kId);
  if (parts.calls > 0 && !has_calls) {
    remarks.lose("calls beside content", "a message with content and calls is written without its calls",
                 deciding_line(*turn, "tool_calls"));
  } else if (parts.content && !turn->has(SlotKind::kContent)) {
    remarks.lose("content beside calls", "a message with content and calls is written without its content",
                 deciding_line(*turn, "content"));
  }
  if (parts.content && is_in_call(*turn, SlotKind::kContent))
    remarks.lose("content beside calls", "content of a message with calls is written inside of the calls");
  if (parts.reasoning && !turn->has(SlotKind::kReasoning)) {
    const std::string beside = parts.calls > 0 ? "calls" : "content";
    const std::string& field = turn->reasoning_name.empty() ? evidence.input.reasoning_field : turn->reasoning_name;
    remarks.lose("reasoning beside " + beside,
                 "a message with reasoning and " + beside + " is written without its reasoning",
                 deciding_line(*turn, field));
  }
}

// Returns whether content comes after the calls and after the end of the turn.
bool has_content_behind_end(const Turn& turn, const format::Stops& stops) {
  const std::size_t content = turn.first(SlotKind::kContent);
  const std::size_t last = turn.last_of_call(0);
  if (content < last) return false;
  const auto is_between = [between = turn.literals(last, content)](const std::string& stop) {
    return contains(between, trimmed(stop));
  };
  return std::ranges::any_of(stops.content, is_between) || std::ranges::any_of(stops.tool, is_between);
}

Remarks lost_parts(const Evidence& evidence, const Blocks& blocks, const format::Stops& stops) {
  Remarks out;
  for (const bool reasoning : {false, true}) {
    if (reasoning && !evidence.shows_reasoning()) continue;
    for (const bool content : {false, true}) {
      for (const std::size_t calls : {std::size_t{0}, std::size_t{1}}) {
        // A message of reasoning alone is not probed.
        const bool is_message = (content || calls > 0) && (calls == 0 || evidence.shows_calls);
        const Parts parts{reasoning, content, calls};
        if (is_message && evidence.find(parts) == nullptr) find_dropped(evidence, parts, out);
      }
    }
  }
  const Variant* both = evidence.find({.content = true, .calls = 1});
  if (both == nullptr) return out;
  if (has_content_behind_end(both->turn, stops))
    out.lose("content beside calls", "content of a message with calls is written behind the end of the turn");
  // The template may write content in the place of reasoning.
  const std::string_view open = trimmed(blocks.reasoning.open);
  const std::string before = both->turn.literals(0, both->turn.first(SlotKind::kContent));
  if (!open.empty() && before.ends_with(open)) {
    out.lose("content beside calls", "content of a message with calls is written as reasoning",
             deciding_line(both->turn, "content"));
  }
  return out;
}

// Reports borders that are lost.  The prompt may open reasoning that history does not close in answers without
// reasoning.  White space before content may differ if calls follow.
Remarks lost_borders(const Evidence& evidence, const Blocks& blocks) {
  Remarks out;
  const auto prompt = std::ranges::find(evidence.prompts, "default", &Prompt::thinking);
  const std::string_view open = trimmed(blocks.reasoning.open);
  const bool is_opened =
      prompt != evidence.prompts.end() && !open.empty() && trimmed(prompt->written.text).ends_with(open);
  const Variant* plain = evidence.find({.content = true});
  for (const Variant* answer : {plain, evidence.find({.calls = 1})}) {
    if (answer == nullptr || !is_opened) continue;
    if (!contains(lead(answer->turn, blocks.header), trimmed(blocks.reasoning.close)))
      out.lose("answers without reasoning", "the prompt opens reasoning that history never closes where there is none");
  }
  const Variant* both = evidence.find({.content = true, .calls = 1});
  if (plain == nullptr || both == nullptr) return out;
  const auto space_before = [](const Turn& turn) {
    const std::string before = turn.literals(0, turn.first(SlotKind::kContent));
    return before.substr(trimmed_end(before).size());
  };
  if (both->turn.first(SlotKind::kContent) < both->turn.first_of_call(0) &&
      space_before(plain->turn) != space_before(both->turn))
    out.lose("white space before content", "content stands behind other white space where calls follow");
  return out;
}

// Reports calls that are lost: all after the first, or a third one that is written unlike the second.
Remarks lost_calls(const Evidence& evidence, const format::Calls& calls) {
  Remarks out;
  if (evidence.input.single_call)
    out.lose("calls behind the first", "a message with several calls is refused, or written with one");
  const Variant* two = evidence.find({.calls = 2});
  if (!calls.present || two == nullptr) return out;
  ProbeMessage probe = message_of({.calls = 2});
  probe.calls.push_back(probe.calls.front());
  const auto turn = evidence.ask(probe, two->setting);
  if (!turn || turn->first_of_call(2) == kNone || turn->between_calls(0) == turn->between_calls(1)) return out;
  std::int32_t line = 0;
  for (const Source& source : turn->tokens[turn->last_of_call(1) + 1].sources) {
    if (line == 0 && source.literal != kNoLiteral)
      line = evidence.prober.chat_template().literals()[source.literal].line;
  }
  out.lose("calls from the third on",
           "between the second call and the third stands what does not stand between the first two", line);
  return out;
}

// Why the end of a string in quotes cannot be told from its content; "" if it can.
std::string_view lost_quotes(const format::ValueForm& form) {
  const std::string_view quote = trimmed(form.open);
  if (form.style != format::ValueStyle::kRaw || (quote != "\"" && quote != "'")) return "";
  const auto escape_of = [&](std::string_view text) {
    return std::ranges::find(form.escapes, text, &format::Escape::text);
  };
  const auto own = escape_of(quote);
  if (own == form.escapes.end()) return "a string is written in quotes, and the quotes inside it as they are";
  const std::string_view written = own->written;
  const bool is_marked = written.size() > quote.size() && written.ends_with(quote) && !written.starts_with(quote);
  if (!is_marked || escape_of(written.substr(0, written.size() - quote.size())) != form.escapes.end()) return "";
  return "a string is written in quotes, and what escapes the quotes inside it is not escaped itself";
}

// Reports calls that cannot be told from content, and strings whose quotes cannot be told from their content.
Remarks lost_values(const Evidence& evidence, const Blocks& blocks, const format::Calls& calls, const Ending& ending) {
  Remarks out;
  if (!calls.present) return out;
  if (ending.is_next_turn && !is_blank(blocks.content.close + calls.call_close))
    out.note(
        "only the next turn's header ends a turn: who stops at what closes content or a call sees nothing behind it");
  const bool is_json = calls.envelope != format::Envelope::kTags;
  const bool is_named = !is_json && calls.pieces.front().kind == format::CallPiece::Kind::kName;
  const bool is_bare = (is_json || is_named) && is_blank(calls.section_open) && is_blank(calls.call_open) &&
                       is_blank(blocks.content.close);
  if (is_bare && evidence.find({.content = true, .calls = 1}) != nullptr) {
    out.lose("calls behind content", is_json
                                         ? "nothing tells a call that follows content from content that holds JSON"
                                         : "nothing tells a call that follows content from content that names a tool");
  }
  if (is_bare && is_named)
    out.note("nothing announces a call but its name: one is read only where a tool of that name is given");
  if (calls.arguments != format::ArgumentStyle::kParameters) return out;
  if (is_named && is_blank(calls.section_open) && trimmed(calls.call_open) == "<")
    out.note("a call is a tag of its name, as markup is: one is read only where a tool of that name is given");
  for (const format::ValueForm& form : calls.parameters.forms) {
    if (const std::string_view why = lost_quotes(form); !why.empty()) out.lose("quotes in strings", std::string(why));
  }
  return out;
}

// Reports texts that the template does not write as they are given: cut off after some length, or with other letters.
Remarks changed_texts(const Evidence& evidence, const Blocks& blocks, const format::Calls& calls) {
  constexpr std::size_t kLongText = 1000;
  Remarks out;
  const auto lose = [&out](const std::string& what, const std::string& how) {
    out.lose("changed " + what, what + " are written with other letters" + how);
  };
  std::string text(probe::kContentText);
  while (text.size() < kLongText) text += " and more";
  const auto answer = evidence.prober.turn_of(text, {.tools = false});
  if (answer && answer->has(SlotKind::kContent) &&
      !contains(format::unescaped_text(text_of(*answer, SlotKind::kContent), blocks.content.escapes), text))
    lose("contents", ", or cut off after some length");
  for (const auto& [parts, variant] : evidence.variants) {
    const std::string thought =
        format::unescaped_text(text_of(variant.turn, SlotKind::kReasoning), blocks.reasoning.escapes);
    if (parts.reasoning && !contains(thought, probe::kReasoningText)) lose("thoughts", "");
    const std::size_t name = parts.calls > 0 ? variant.turn.first(SlotKind::kName) : kNone;
    if (name != kNone && format::unescaped(variant.turn.tokens[name].text, calls.name_escapes) != probe::kFirstTool)
      lose("names of tools", "");
  }
  return out;
}

// Notes a close and an opener that touch and share a sign, as in `%%/a%%%%b%%`.  If the model writes one sign less, the
// opener is still there and the close becomes text.
void note_touching_marks(const Blocks& blocks, const format::Calls& calls, Remarks& remarks) {
  if (!calls.present) return;
  const std::string& open = is_blank(calls.section_open) ? calls.call_open : calls.section_open;
  for (const std::string* close : {&blocks.content.close, &blocks.reasoning.close}) {
    if (is_blank(*close) || is_blank(open) || close->back() != open.front() || format::is_space(open.front())) continue;
    remarks.note("`" + std::string(trimmed(*close)) + "` ends with the sign that `" + std::string(trimmed(open)) +
                 "` begins with: where one of them lacks it, the first is read as text and the second as what it is");
  }
}

// Returns the last line that cuts off white space: that of the content, or that of other texts; 0 if no line does.
std::int32_t cutting_line(const Turn& turn, bool is_content) {
  std::int32_t out = 0;
  for (const auto& [field, line] : turn.cuts) {
    if ((field == "content") == is_content) out = line;
  }
  return out;
}

// Adds the ends of the content or of the reasoning at which white space is cut off.
//
// REQUIRES: the texts of the turn's message have white space at both ends.
void add_trims(const Turn& turn, SlotKind kind, const std::vector<format::Escape>& escapes, format::Trims& trims,
               Remarks& remarks) {
  if (!turn.has(kind)) return;
  const bool is_content = kind == SlotKind::kContent;
  const std::string text = format::unescaped_text(text_of(turn, kind), escapes);
  if (text.empty()) return;
  const bool begin = !format::is_space(text.front());
  const bool end = !format::is_space(text.back());
  (is_content ? trims.content_begin : trims.reasoning_begin) |= begin;
  (is_content ? trims.content_end : trims.reasoning_end) |= end;
  if (!begin && !end) return;
  const std::string name = is_content ? "content" : "reasoning";
  remarks.lose("white space around " + name, "white space at the ends of " + name + " is cut off",
               cutting_line(turn, is_content));
}

// Finds whether the template cuts off white space at the ends of texts.
format::Trims find_trims(const Evidence& evidence, const Blocks& blocks, Remarks& remarks) {
  format::Trims out;
  for (const auto& [parts, variant] : evidence.variants) {
    if (parts.calls > 1) continue;
    ProbeMessage probe = message_of(parts);
    probe.is_padded = true;
    const auto turn = evidence.ask(probe, variant.setting);
    if (!turn) continue;
    add_trims(*turn, SlotKind::kContent, blocks.content.escapes, out, remarks);
    add_trims(*turn, SlotKind::kReasoning, blocks.reasoning.escapes, out, remarks);
  }
  return out;
}

}  // namespace

Lost find_losses(const Evidence& evidence, const Blocks& blocks, const format::Calls& calls, const format::Stops& stops,
                 const Ending& ending) {
  Lost out;
  out.remarks = lost_parts(evidence, blocks, stops);
  out.remarks.add(lost_borders(evidence, blocks));
  out.remarks.add(lost_calls(evidence, calls));
  out.remarks.add(lost_values(evidence, blocks, calls, ending));
  out.remarks.add(changed_texts(evidence, blocks, calls));
  note_touching_marks(blocks, calls, out.remarks);
  out.trims = find_trims(evidence, blocks, out.remarks);
  return out;
}

}  // namespace rondo::analysis
