// What the template writes alike for different messages, or not at all, with the line that decides it.
#include "analysis/analyst.h"

namespace rondo::analysis {

using format::is_blank;
using format::trimmed;

namespace {

// The line of the last condition that looked at that field of the message, those that were false first; 0 if none did.
std::int32_t deciding_line(const Turn& turn, std::string_view field) {
  std::int32_t line = 0;
  for (const bool outcome : {true, false}) {
    for (const FieldRead& read : turn.reads) {
      if (read.outcome == outcome && read.field == field) line = read.line;
    }
  }
  return line;
}

}  // namespace

void Analyst::lose(std::string what, std::string meaning, std::int32_t line) {
  for (const format::Loss& known : format_.losses) {
    if (known.what == what) return;
  }
  format_.losses.push_back({std::move(what), std::move(meaning), line});
}

// A message shape of which no setting shows everything.
void Analyst::find_dropped(const VariantKey& key) {
  const auto& [reasoning, content, calls] = key;
  ProbeMessage probe;
  probe.reasoning = reasoning;
  probe.content = content;
  probe.calls = probe_calls(calls);
  const auto turn = prober_.turn(shape_, probe, {"default", calls > 0, false, false});
  if (!turn) return;  // refused: nobody can write such a message
  const bool has_calls = turn->has(SlotKind::kName) || turn->has(SlotKind::kId);
  if (calls > 0 && !has_calls) {
    lose("calls beside content", "a message with content and calls is written without its calls",
         deciding_line(*turn, "tool_calls"));
  } else if (content && !turn->has(SlotKind::kContent)) {
    lose("content beside calls", "a message with content and calls is written without its content",
         deciding_line(*turn, "content"));
  }
  if (reasoning && !turn->has(SlotKind::kReasoning)) {
    const std::string beside = calls > 0 ? "calls" : "content";
    lose("reasoning beside " + beside, "a message with reasoning and " + beside + " is written without its reasoning",
         deciding_line(*turn, turn->reasoning_name.empty() ? format_.input.reasoning_field : turn->reasoning_name));
  }
}

void Analyst::find_content_behind_end(const Turn& turn) {
  const std::size_t content = turn.first(SlotKind::kContent);
  const std::size_t last = last_call_slot(turn, 0);
  if (last == kNone || content < last) return;
  const std::string between = turn.literals(last + 1, content);
  for (const auto* stops : {&format_.stops.content, &format_.stops.tool}) {
    for (const std::string& stop : *stops) {
      if (contains(between, trimmed(stop)))
        lose("content beside calls", "content of a message with calls is written behind the end of the turn", 0);
    }
  }
}

void Analyst::find_lost_parts() {
  for (const bool reasoning : {false, true}) {
    if (reasoning && !shows_reasoning_) continue;
    for (const bool content : {false, true}) {
      for (const std::size_t calls : {std::size_t{0}, std::size_t{1}}) {
        const bool is_message = (reasoning || content || calls > 0) && (calls == 0 || shows_calls_);
        const bool is_alone = reasoning && !content && calls == 0;
        if (is_message && !is_alone && find(reasoning, content, calls) == nullptr)
          find_dropped({reasoning, content, calls});
      }
    }
  }
  const Variant* both = find(false, true, 1);
  if (both != nullptr && shows_calls_) find_content_behind_end(both->turn);
  // Content that stands where reasoning does.
  if (both == nullptr || is_blank(format_.reasoning.open)) return;
  const std::string before = both->turn.literals(0, both->turn.first(SlotKind::kContent));
  if (before.ends_with(trimmed(format_.reasoning.open))) {
    lose("content beside calls", "content of a message with calls is written as reasoning",
         deciding_line(both->turn, "content"));
  }
}

// The prompt for an answer opens the reasoning, and history has answers that do not close it; or content stands behind
// other white space where calls follow.
void Analyst::find_lost_borders() {
  const format::GenerationPrompt* prompt = format_.generation_prompt("default");
  const std::string_view open = trimmed(format_.reasoning.open);
  const bool is_opened = prompt != nullptr && !open.empty() && trimmed(prompt->text).ends_with(open);
  const Variant* plain = find(false, true, 0);
  for (const Variant* answer : {plain, find(false, false, 1)}) {
    if (answer == nullptr || !is_opened) continue;
    if (!contains(lead(answer->turn, first_slot(answer->turn)), trimmed(format_.reasoning.close)))
      lose("answers without reasoning", "the prompt opens reasoning that history never closes where there is none", 0);
  }
  const Variant* both = find(false, true, 1);
  if (plain == nullptr || both == nullptr) return;
  const auto space_before = [](const Turn& turn) {
    const std::string before = turn.literals(0, turn.first(SlotKind::kContent));
    return before.substr(trimmed_end(before).size());
  };
  if (both->turn.first(SlotKind::kContent) < first_call_slot(both->turn, 0) &&
      space_before(plain->turn) != space_before(both->turn))
    lose("white space before content", "content stands behind other white space where calls follow", 0);
}

// Whether a third call is written like the second.
void Analyst::find_lost_calls() {
  if (!format_.calls.present || format_.input.single_call) {
    if (format_.input.single_call)
      lose("calls behind the first", "a message with several calls is refused, or written with one", 0);
    return;
  }
  ProbeMessage probe;
  probe.calls = probe_calls(2);
  probe.calls.push_back(probe.calls.front());
  const Variant* two = find(false, false, 2);
  if (two == nullptr) return;
  const auto turn = prober_.turn(shape_, probe, two->setting);
  if (!turn || first_call_slot(*turn, 2) == kNone) return;
  if (between_calls(*turn, 0) == between_calls(*turn, 1)) return;
  const Token& token = turn->tokens[last_call_slot(*turn, 1) + 1];
  std::int32_t line = 0;
  for (const Source& source : token.sources) {
    if (line == 0 && source.literal != kNoLiteral) line = template_.literals()[source.literal].line;
  }
  lose("calls from the third on",
       "between the second call and the third stands what does not stand between the first two", line);
}

void Analyst::find_lost_values() {
  const format::Calls& calls = format_.calls;
  if (!calls.present) return;
  if (is_ended_by_next_ && !is_blank(format_.content.close + calls.call_close))
    note("only the next turn's header ends a turn: who stops at what closes content or a call sees nothing behind it");
  const bool is_json = calls.envelope != format::Envelope::kTags;
  const bool is_named = !is_json && calls.pieces.front().kind == format::CallPiece::Kind::kName;
  const bool is_bare = (is_json || is_named) && is_blank(calls.section_open) && is_blank(calls.call_open) &&
                       is_blank(format_.content.close);
  if (is_bare && find(false, true, 1) != nullptr) {
    lose("calls behind content",
         is_json ? "nothing tells a call that follows content from content that holds JSON"
                 : "nothing tells a call that follows content from content that names a tool",
         0);
  }
  if (is_bare && is_named)
    note("nothing announces a call but its name: one is read only where a tool of that name is given");
  if (calls.arguments != format::ArgumentStyle::kParameters) return;
  for (const format::ValueForm& form : calls.parameters.forms) {
    const std::string_view open = trimmed(form.open);
    const bool is_quote = open == "\"" || open == "'";
    if (form.style == format::ValueStyle::kRaw && is_quote)
      lose("quotes in strings", "a string is written in quotes, and the quotes inside it as they are", 0);
  }
}

// White space at the ends of texts, which the template cuts off.
void Analyst::infer_trims() {
  for (const auto& [key, found] : variants_) {
    if (std::get<2>(key) > 1) continue;
    ProbeMessage probe;
    probe.reasoning = std::get<0>(key);
    probe.content = std::get<1>(key);
    probe.calls = probe_calls(std::get<2>(key));
    probe.is_padded = true;
    const auto turn = prober_.turn(shape_, probe, found.setting);
    if (!turn) continue;
    for (const SlotKind kind : {SlotKind::kContent, SlotKind::kReasoning}) {
      const std::size_t first = turn->first(kind);
      if (first == kNone) continue;
      const bool is_content = kind == SlotKind::kContent;
      const bool begin = !format::is_space(turn->tokens[first].text.front());
      const bool end = !format::is_space(turn->tokens[turn->last(kind)].text.back());
      (is_content ? format_.trims.content_begin : format_.trims.reasoning_begin) |= begin;
      (is_content ? format_.trims.content_end : format_.trims.reasoning_end) |= end;
      if (!begin && !end) continue;
      const std::string name = is_content ? "content" : "reasoning";
      std::int32_t line = 0;
      for (const auto& [field, cut_line] : turn->cuts) {
        if ((field == "content") == is_content) line = cut_line;
      }
      lose("white space around " + name, "white space at the ends of " + name + " is cut off", line);
    }
  }
}

}  // namespace rondo::analysis
