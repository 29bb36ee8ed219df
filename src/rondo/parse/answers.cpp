// Where answers end.  If the request has a schema for them, models put the JSON into a fence.
#include "format/units.h"
#include "json/parse.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

// Returns how many signs of punctuation `stop` has before its control token; 0 if it has none, or other text there.
std::size_t signs_before_token(std::string_view stop) {
  for (std::size_t at = 0; at < stop.size() && !format::is_word(stop[at]); ++at) {
    if (control_token(stop.substr(at), true).kind == MatchKind::kFull) return at;
  }
  return 0;
}

}  // namespace

// Ends the turn at a stop.  Brackets and quotes in front of its control token close what the format opened before the
// content.  Directly behind text that nothing opened, they belong to the text.
bool Machine::end_turn(const MarkerSet::Found& stop) {
  const bool is_unopened = !top_.is_wrapped && !top_.is_blank && message_.tool_calls.empty() &&
                           !format::is_blank(syntax_->format->content.open);
  const std::string_view text = std::string_view(buffer_).substr(stop.begin, stop.size);
  if (const std::size_t signs = is_unopened ? signs_before_token(text) : 0; signs > 0)
    emit(EventKind::kContent, stop.begin + signs);
  emit(EventKind::kMarker, pos_);
  phase_ = Phase::kEnded;
  return true;
}

// Keeps what stands behind the stop, which is no part of the turn.
bool Machine::behind_stop() {
  message_.behind_stop.append(buffer_, pos_);
  pos_ = buffer_.size();
  emit(EventKind::kMarker, pos_);
  return false;
}

// Further stops, other control tokens that pad a turn, and white space between them are no text.
void Machine::forget_blank_behind_stop() {
  std::string_view rest = message_.behind_stop;
  while (!rest.empty()) {
    const MarkerSet::Found stop = syntax_->sets.stop.at(rest, 0, true, nullptr);
    const Match token = control_token(rest, true);
    if (stop.kind == MatchKind::kFull && stop.size > 0) {
      rest.remove_prefix(stop.size);
    } else if (token.kind == MatchKind::kFull) {
      rest.remove_prefix(token.size);
    } else if (format::is_space(rest.front())) {
      rest.remove_prefix(1);
    } else {
      return;
    }
  }
  message_.behind_stop.clear();
}

// Returns whether the content that begins here may be an answer in JSON.
bool Machine::is_json_asked() const {
  return options().json_answer && message_.tool_calls.empty() && format::is_blank(message_.content);
}

// Matches the fence of such an answer at `at`.
MatchKind Machine::answer_fence(std::size_t at) {
  if (!is_json_asked()) return MatchKind::kNone;
  const Match fence = fence_at(std::string_view(buffer_).substr(at), is_end_);
  if (fence.kind != MatchKind::kFull) return fence.kind;
  top_.answer_begin = base_ + at + fence.size;
  pos_ = at + fence.size - 1;  // the closing fence may be on the next line
  phase_ = Phase::kFencedAnswer;
  return MatchKind::kFull;
}

// Reads up to the line that closes the fence.  If the fence holds valid JSON and the turn ends after it, the content is
// that JSON.  Otherwise the fence is ordinary text.
bool Machine::fenced_answer() {
  const std::size_t begin = top_.answer_begin - base_;
  while (true) {
    const std::size_t close = buffer_.find("\n" + std::string(kFence), pos_);
    if (close == std::string::npos) {
      if (is_end_) break;
      pos_ = std::max(pos_, buffer_.size() - std::min(buffer_.size(), kFence.size()));
      return false;
    }
    pos_ = close;
    const std::size_t behind = skip_space(close + 1 + kFence.size());
    if (behind == buffer_.size() && !is_end_) return false;
    const MarkerSet::Found stop =
        behind < buffer_.size() ? syntax_->sets.stop.at(buffer_, behind, is_end_, starts()) : MarkerSet::Found{};
    if (stop.kind == MatchKind::kPartial) return false;
    const bool is_last = behind == buffer_.size() || stop.kind == MatchKind::kFull;
    if (is_last && close >= begin && json::parse(std::string_view(buffer_).substr(begin, close - begin)).ok()) {
      emit(EventKind::kMarker, begin);
      emit(EventKind::kContent, close);
      emit(EventKind::kMarker, behind);
      phase_ = Phase::kTop;
      top_.is_blank = top_.is_layout = true;
      return true;
    }
    pos_ = close + 1;
  }
  pos_ = begin;
  phase_ = Phase::kTop;
  top_.is_blank = false;
  return true;
}

// Returns whether the close of content closes nothing.  Without an opener, punctuation and a quote are text.
bool Machine::is_stray_content_close(const Marker& close) const {
  if (&close == &syntax_->rare.preamble_close)
    return !syntax_->rare.shares_content_open && !(top_.is_wrapped && top_.is_preamble);
  const bool is_text = !close.is_distinct() || close.core().starts_with('"');
  return !top_.is_wrapped && is_text && !format::is_blank(syntax_->format->content.open);
}

// White space alone, before the end of the turn or before a call, is content too, except for what the template writes
// there.
void Machine::keep_blank(const MarkerSet::Found& found) {
  const bool is_end = found.id == kStop || found.id == kHistoryClose;
  const bool is_call = found.id == kSectionOpen || found.id == kCallOpen;
  const bool is_marked = !format::is_blank(syntax_->format->content.open) && !(is_end && has_read_nothing());
  if (top_.is_layout || is_marked || !(is_end || is_call)) return;
  emit_prompt_part();
  if (is_call && has_read_nothing()) drop_blank_preamble(found.begin);
  const std::string_view before = std::string_view(buffer_).substr(head_, found.begin - head_);
  // A call without its section's opener may stand behind the white space that separates calls.
  const std::string& separator = syntax_->format->calls.separator;
  const bool is_separated = found.id == kCallOpen && syntax_->has_marked_sections && format::is_blank(separator);
  const bool is_own = is_separated && before.ends_with(separator);
  emit(EventKind::kContent, found.begin - (is_own ? separator.size() : found.marker->own_lead(before)));
}

// Takes the white space that the template writes before a call only, in front of `end`.
void Machine::drop_blank_preamble(std::size_t end) {
  const std::string& preamble = syntax_->format->content.preamble_open;
  const std::string_view before = std::string_view(buffer_).substr(head_, end - head_);
  if (format::is_blank(preamble) && before.starts_with(preamble)) emit(EventKind::kMarker, head_ + preamble.size());
}

// Waits at a marker for the text behind it.
bool Machine::wait_at(const MarkerSet::Found& found) {
  pos_ = found.begin;
  return false;
}

// Returns whether the close of content, which ends at pos_, is one: the turn ends there, or a marker follows.  Otherwise
// plain text of the answer has the same spelling.
MatchKind Machine::content_ends(const MarkerSet::Found& found) const {
  if (is_stray_content_close(*found.marker)) return MatchKind::kNone;
  const format::Calls& calls = syntax_->format->calls;
  const bool has_unmarked_calls =
      calls.present && format::is_blank(calls.section_open) && format::is_blank(calls.call_open);
  const bool is_shared = found.marker == &syntax_->rare.preamble_close && syntax_->rare.shares_content_open;
  if (!(top_.is_wrapped || is_shared) || found.marker->is_reserved() || has_unmarked_calls) return MatchKind::kFull;
  const std::size_t next = skip_space(pos_);
  if (next == buffer_.size()) return is_end_ ? MatchKind::kFull : MatchKind::kPartial;
  const MarkerSet::Found behind = syntax_->sets.blank.at(buffer_, next, is_end_, starts());
  // An answer may quote its own markers; then the last close counts.
  const bool is_quoted = behind.kind == MatchKind::kFull && behind.marker == found.marker;
  return is_quoted ? MatchKind::kNone : behind.kind;
}

// If the close of reasoning ends with that of the open content, what it has before that is content.
bool Machine::ends_content(const MarkerSet::Found& found) {
  const Marker close(content_close());
  if (!top_.is_wrapped || close.empty() || !found.marker->core().ends_with(close.core())) return false;
  const std::size_t end = pos_ - close.core().size();
  emit(EventKind::kContent, end - close.own_lead(std::string_view(buffer_).substr(head_, end - head_)));
  emit(EventKind::kMarker, pos_);
  top_.is_wrapped = false;
  top_.is_blank = top_.is_layout = true;
  return true;
}

}  // namespace rondo::parse
