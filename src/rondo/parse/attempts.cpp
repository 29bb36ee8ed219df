// Attempts: text that may be a call, as long as its name is unknown.
#include <algorithm>

#include "format/escapes.h"
#include "format/units.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

using format::CallPiece;

// A failed attempt of at most this many bytes is searched for a marker.  The limit bounds the work per byte.
constexpr std::size_t kLongestRescan = 256;

}  // namespace

void Machine::begin_attempt(bool in_section, Opening opening) {
  section_.was_open = section_.is_open;
  section_.is_open = in_section;
  attempt_.is_open = true;
  attempt_.begin = raw(head_);
  attempt_.opening = opening;
  attempt_.is_prose = attempt_.was_wrapped = false;
  section_.expects_call = top_.has_header = false;
}

// Turns an attempt that the end of the text cuts off into text.
void Machine::finish_attempt() {
  ending_.is_open = true;
  if (!syntax_->options.partial) {
    if (attempt_.opening == Opening::kMarker && !thoughts_.have_call)
      complain(attempt_.begin, "a tool call was begun and its name never came");
    pos_ = buffer_.size();
    emit_prompt_part();
    emit(thoughts_.have_call ? EventKind::kReasoning : EventKind::kContent, buffer_.size());
  }
  attempt_.is_open = false;
}

// Returns whether the call may be reported, now that its name is known.  A whole opener proves a call.  In reasoning it
// does not, because a model may just talk about calls there, and neither does half an opener.  Then the name must be a
// tool's.  Without a list of tools, reasoning needs an opener in the shape of a control token, and other text must
// begin with the call.
bool Machine::may_commit(const std::string& name) const {
  if (attempt_.opening == Opening::kMarker && !thoughts_.have_call) return true;
  if (syntax_->options.tools) return syntax_->is_known_tool(name);
  return thoughts_.have_call ? attempt_.is_reserved : attempt_.opening == Opening::kBare;
}

// Returns where the next marker begins, or may begin, in a failed attempt that ends at `end`; `end` if there is none.
std::size_t Machine::marker_within(std::size_t end) const {
  if (end - head_ > kLongestRescan) return end;
  const MarkerSet& set = thoughts_.have_call ? open_reasoning_set() : syntax_->sets.text;
  const std::string_view text = std::string_view(buffer_).substr(0, end);
  for (std::size_t at = head_ + 1; at < end; ++at) {
    const MarkerSet::Found found = set.at(text, at, false, starts());
    if (found.kind == MatchKind::kPartial) return at;
    if (found.kind == MatchKind::kFull && found.id != kBareOpen && found.marker->is_distinct()) return at;
    if (opens_known_tool(found, at)) return at;
  }
  return end;
}

// Returns whether a call of a listed tool begins, or may begin, with the marker found at `at`.
bool Machine::opens_known_tool(const MarkerSet::Found& found, std::size_t at) const {
  if (found.kind != MatchKind::kFull || !syntax_->options.tools) return false;
  return (found.id == kCallOpen || found.id == kSectionOpen) &&
         opened_tool_at(skip_space(at + found.size)) != MatchKind::kNone;
}

// Returns whether the attempt begins in the text that the prompt wrote for the model.
bool Machine::is_prompt_part() const { return prompt_.is_generated && base_ + head_ < prompt_.generated; }

// Reports the prompt's part of an attempt as markup, because the model did not write it.
void Machine::emit_prompt_part() {
  if (is_prompt_part()) emit(EventKind::kMarker, std::min(prompt_.generated - base_, buffer_.size()));
}

// Begins the model's own text behind what the prompt began and the model did not go on with.  Returns false if there is
// no such text.
bool Machine::drop_prompt_part() {
  if (!is_prompt_part() || base_ + buffer_.size() <= prompt_.generated) return false;
  emit_prompt_part();
  pos_ = head_;
  phase_ = Phase::kTop;
  top_.is_blank = true;
  return true;
}

// Turns the attempt into text.  Parsing resumes at `resume`, or earlier at a marker inside the attempt.
bool Machine::fail_attempt(std::size_t resume, const char* why) {
  if (attempt_.opening == Opening::kMarker && !attempt_.is_prose && !thoughts_.have_call) complain(attempt_.begin, why);
  attempt_.is_open = false;
  top_.is_wrapped = top_.is_wrapped || attempt_.was_wrapped;
  const bool had_calls = !message_.tool_calls.empty() && section_.is_open && section_.was_open;
  if (!had_calls) section_.is_open = false;
  foreign_.closes.clear();
  settle_format();
  if (!thoughts_.have_call && drop_prompt_part()) return true;
  // White space at the end may be what the template writes before the next marker, so it is left for later.
  resume = std::max(resume, head_);
  while (resume > head_ && format::is_space(buffer_[resume - 1])) --resume;
  resume = marker_within(resume);
  emit_prompt_part();
  emit(thoughts_.have_call ? EventKind::kReasoning : EventKind::kContent, std::max(resume, head_));
  pos_ = head_;
  phase_ = thoughts_.have_call ? Phase::kReasoning : Phase::kTop;
  top_.is_blank = false;
  if (held_ && message_.tool_calls.size() == held_->before.tool_calls.size()) release();
  return true;
}

// Returns whether a call may begin at `at` in a format whose calls are JSON.
bool Machine::is_json_at(std::size_t at) const {
  return syntax_->format->calls.envelope != format::Envelope::kTags && (buffer_[at] == '{' || buffer_[at] == '[');
}

// Begins the first call of a section.  An empty section is markup.  If anything else follows, the section's opener was
// text.
bool Machine::section() {
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return false;
  const MarkerSet::Found found = syntax_->sets.section.at(buffer_, at, is_end_, starts());
  if (found.kind == MatchKind::kPartial) return false;
  if (found.kind == MatchKind::kFull && (found.id == kCallOpen || found.id == kHalfOpen)) {
    if (found.id == kHalfOpen) attempt_.opening = Opening::kHalf;
    if (found.marker->is_distinct()) attempt_.is_prose = false;
    pos_ = at + found.size;
    return start_body();
  }
  const TagRead tag = found.kind == MatchKind::kNone ? call_tag_at(at, false) : TagRead{};
  if (tag.kind == MatchKind::kPartial) return false;
  if (tag.kind == MatchKind::kFull) {
    take_call_tag(tag);
    return true;
  }
  const bool may_begin =
      syntax_->call_open.empty() || is_json_at(at) || is_named_by_marker() || may_be_json_instead(at);
  if (found.kind == MatchKind::kNone && may_begin) {
    pos_ = at;
    return start_body();
  }
  if (found.kind == MatchKind::kFull && found.id == kSectionClose && attempt_.opening == Opening::kMarker) {
    pos_ = at + found.size;
    return end_empty_section();
  }
  return fail_attempt(at, "the tool calls hold no call");
}

// Skips an opener that the model wrote twice.  Returns true if it skipped one, or if more text is needed to tell (then
// `wait` is set).
bool Machine::repeated_open(bool& wait) {
  if (!attempt_.is_open || syntax_->call_open.empty() || !syntax_->call_open.is_distinct() ||
      attempt_.opening != Opening::kMarker)
    return false;
  const std::size_t at = skip_space(pos_);
  wait = at == buffer_.size() && !is_end_;
  if (at == buffer_.size()) return wait;
  const Match match = syntax_->call_open.match(std::string_view(buffer_).substr(at), is_end_, starts());
  wait = match.kind == MatchKind::kPartial;
  if (match.kind == MatchKind::kFull) pos_ = at + match.size;
  return match.kind != MatchKind::kNone;
}

// Ends a section without calls.  Its markers are markup all the same.
bool Machine::end_empty_section() {
  emit(EventKind::kMarker, pos_);
  attempt_.is_open = section_.is_open = false;
  phase_ = thoughts_.have_call ? Phase::kReasoning : Phase::kTop;
  thoughts_.is_layout = thoughts_.have_call;
  top_.is_blank = top_.is_layout = true;
  return true;
}

// Returns whether a distinct marker follows the name in each call.  Such a call is recognised even without its opener.
bool Machine::is_named_by_marker() const {
  bool has_name = false;
  if (syntax_->format->calls.envelope != format::Envelope::kTags) return false;
  for (std::size_t i = 0; i < syntax_->piece_markers.size(); ++i) {
    if (syntax_->format->calls.pieces[i].kind != CallPiece::Kind::kLiteral) {
      has_name = true;
    } else if (has_name && syntax_->piece_markers[i].is_distinct()) {
      return true;
    }
  }
  return false;
}

// Returns whether arguments as the format writes them begin at `at`, or an object, or a call without any ends there.
MatchKind Machine::arguments_at(std::size_t at) const {
  if (at == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  if (buffer_[at] == '{') return MatchKind::kFull;
  if (syntax_->format->calls.arguments != format::ArgumentStyle::kParameters) return MatchKind::kNone;
  const MatchKind found = syntax_->sets.parameter.at(buffer_, at, is_end_, starts()).kind;
  return found == MatchKind::kNone && syntax_->parameter_open.empty() ? key_at(at) : found;
}

// Returns kFull if what stands behind the name shows that this is a call, or need not show it.  Behind an opener of
// punctuation, text that names a tool goes on in other ways than a call: `[find] is a tool`.
MatchKind Machine::proof_of_arguments() const {
  const bool is_doubtful = syntax_->format->calls.arguments == format::ArgumentStyle::kParameters &&
                           attempt_.opening == Opening::kHalf && !section_.is_open && !syntax_->call_open.empty() &&
                           !syntax_->call_open.is_distinct();
  if (!attempt_.is_open || !(needs_evidence() || is_doubtful)) return MatchKind::kFull;
  const std::size_t at = skip_space(pos_);
  const MatchKind arguments = arguments_at(at);
  const bool may_break_off = !needs_evidence() && at == buffer_.size() && is_end_;
  return arguments == MatchKind::kNone && may_break_off ? MatchKind::kFull : arguments;
}

// Begins a call that only its name announces, at the start of the text or after another call.
MatchKind Machine::named_call(std::size_t at) {
  const format::Calls& calls = syntax_->format->calls;
  if (!calls.present || !format::is_blank(calls.section_open)) return MatchKind::kNone;
  if (!top_.is_layout && !format::is_blank(message_.content)) return MatchKind::kNone;
  // Directly behind a call, the opener may be missing before a tool's name and the format's own text behind names.
  const bool is_behind_call = top_.is_layout && !message_.tool_calls.empty() && syntax_->has_marked_names();
  if (!syntax_->call_open.empty() && !(is_behind_call && syntax_->piece_markers[1].is_distinct()))
    return MatchKind::kNone;
  const MatchKind kind = tool_at(at);
  if (kind != MatchKind::kFull) return kind;
  pos_ = at;
  begin_attempt(false, Opening::kBare);
  return start_body() ? MatchKind::kFull : MatchKind::kNone;
}

// Matches the comma or semicolon that models write between calls in JSON that no marker announces.
MatchKind Machine::bare_separator(std::size_t at) {
  const bool is_bare_list = format::is_blank(syntax_->format->calls.section_open) && syntax_->call_open.empty() &&
                            !message_.tool_calls.empty();
  if (!top_.is_layout || !is_bare_list || (buffer_[at] != ';' && buffer_[at] != ',')) return MatchKind::kNone;
  const std::size_t next = skip_space(at + 1);
  if (next == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  if (buffer_[next] != '{') return MatchKind::kNone;
  pos_ = next;
  emit(EventKind::kMarker, pos_);
  return MatchKind::kFull;
}

// Begins a call in JSON without an opener, at the start of the text or after another call.  If the format has an
// opener, only a list of tools can tell.
MatchKind Machine::bare_call(std::size_t at) {
  const format::Calls& calls = syntax_->format->calls;
  const bool has_opener = !format::is_blank(calls.section_open) || !syntax_->call_open.empty();
  if (!calls.present || !syntax_->options.calls || (has_opener && !syntax_->options.tools)) return MatchKind::kNone;
  if (!is_json_at(at) || !(top_.is_layout || format::is_blank(message_.content))) return MatchKind::kNone;
  pos_ = at;
  begin_attempt(false, Opening::kBare);
  return start_body() ? MatchKind::kFull : MatchKind::kNone;
}

// Matches the name of a tool at `at`, where names alone announce calls, with the text that the format writes after it.
MatchKind Machine::tool_at(std::size_t at) const {
  if (!syntax_->has_marked_names()) return MatchKind::kNone;
  const Marker& behind_name = syntax_->piece_markers[1];
  return tool_name_at(at, [&](std::size_t behind) {
    if (!behind_name.lead().empty()) behind = skip_space(behind);
    if (behind == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
    return behind_name.match(std::string_view(buffer_).substr(behind), is_end_, starts()).kind;
  });
}

// Matches the name of a tool at `at`, behind a call's opener, with what may follow it there.
MatchKind Machine::opened_tool_at(std::size_t at) const {
  const std::vector<format::CallPiece>& pieces = syntax_->format->calls.pieces;
  if (pieces.empty() || pieces.front().kind != format::CallPiece::Kind::kName) return MatchKind::kNone;
  return tool_name_at(at, [&](std::size_t behind) {
    behind = skip_space(behind);
    if (behind == buffer_.size()) return is_end_ ? MatchKind::kFull : MatchKind::kPartial;
    const MatchKind kind = syntax_->slot_sets.front().at(buffer_, behind, is_end_, starts()).kind;
    const bool are_next = pieces.size() > 1 && format::is_blank(pieces[1].text);
    return kind == MatchKind::kNone && are_next ? arguments_at(behind) : kind;
  });
}

// Matches the name of a tool at `at`.  `close_at` tells whether the name may end at an offset.
MatchKind Machine::tool_name_at(std::size_t at, const std::function<MatchKind(std::size_t)>& close_at) const {
  const std::string_view text = std::string_view(buffer_).substr(at);
  for (const chat::ToolDefinition& tool : syntax_->tools) {
    const std::string name = format::escaped(tool.name, syntax_->format->calls.name_escapes);
    const std::size_t same = std::min(text.size(), name.size());
    if (name.empty() || text.substr(0, same) != std::string_view(name).substr(0, same)) continue;
    if (at + same == buffer_.size() && !is_end_) return MatchKind::kPartial;
    if (same < name.size()) continue;
    const MatchKind kind = close_at(at + same);
    if (kind != MatchKind::kNone) return kind;
  }
  return MatchKind::kNone;
}

// Begins a second call in the markers of the call that ends at `at`.  Those markers are still open, so the call begins
// with the end of the opener, `call:` of `<call>call:`, or with the tag of its second name.
MatchKind Machine::second_call(std::size_t at) {
  const bool is_tagged = syntax_->rare.inner_open.empty();
  const Marker& open = is_tagged ? syntax_->rare.second_name_open : syntax_->rare.inner_open;
  if (open.empty() || syntax_->format->calls.envelope != format::Envelope::kTags) return MatchKind::kNone;
  const std::size_t begin = skip_space(at);
  if (begin == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const Match match = open.match(std::string_view(buffer_).substr(begin), is_end_, starts());
  if (match.kind != MatchKind::kFull) return match.kind;
  pos_ = at;
  emit(EventKind::kMarker, pos_);
  end_call(raw(head_));
  pos_ = begin + match.size;
  begin_attempt(section_.is_open, Opening::kMarker);
  (void)start_body();
  if (is_tagged) call_.piece = syntax_->rare.second_name;
  return MatchKind::kFull;
}

// A format may write the name twice.  Where the two differ, the one beside the arguments counts, unless only the first is
// a tool.
bool Machine::is_nearer_name(const std::string& text) const {
  return !text.empty() && text != call_.name &&
         (!options().tools || syntax_->is_known_tool(text) || !syntax_->is_known_tool(call_.name));
}

}  // namespace rondo::parse
