// Attempts: what may be a call, until its name is known.
#include <algorithm>

#include "format/units.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

using format::CallPiece;

// An attempt that failed sooner is looked through for a marker; the limit bounds the work for each byte.
constexpr std::size_t kLongestRescan = 256;

}  // namespace

void Machine::begin_attempt(bool in_section, Opening opening) {
  was_in_section_ = in_section_;
  in_section_ = in_section;
  attempt_ = true;
  attempt_begin_ = raw(head_);
  opening_ = opening;
  expect_call_ = false;
}

// Whether a call may be reported, now that its name is known.  What opens a call proves it, except in reasoning, where
// a model may also just talk about calls, and except where the opener is half missing: then the name must be a tool's.
bool Machine::may_commit() const {
  if (opening_ == Opening::kMarker && !from_reasoning_) return true;
  if (syntax_->options.tools) return syntax_->is_known_tool(name_);
  return from_reasoning_ ? opening_is_reserved_ : opening_ == Opening::kBare;
}

// Where in the text of a failed attempt, which ends at `end`, the next marker begins or may begin; `end` if none does.
std::size_t Machine::marker_within(std::size_t end) const {
  if (end - head_ > kLongestRescan) return end;
  const MarkerSet& set = from_reasoning_ ? syntax_->reasoning_set : syntax_->text_set;
  const std::string_view text = std::string_view(buffer_).substr(0, end);
  for (std::size_t at = head_ + 1; at < end; ++at) {
    const MarkerSet::Found found = set.at(text, at, false, starts());
    if (found.kind == MatchKind::kPartial) return at;
    if (found.kind == MatchKind::kFull && found.id != kBareOpen && found.marker->is_distinct()) return at;
  }
  return end;
}

// Whether the attempt begins in what the prompt opened for the model.
bool Machine::is_prompt_part() const { return is_generated_ && base_ + head_ < prompt_bytes_; }

// What the prompt opened for the model is no text of its own.
void Machine::emit_prompt_part() {
  if (is_prompt_part()) emit(EventKind::kMarker, std::min(prompt_bytes_ - base_, buffer_.size()));
}

// What was read becomes text; reading goes on at `resume`.
bool Machine::fail_attempt(std::size_t resume, const char* why) {
  if (opening_ == Opening::kMarker && !from_reasoning_) complain(attempt_begin_, why);
  attempt_ = false;
  const bool had_calls = !message_.tool_calls.empty() && in_section_ && was_in_section_;
  if (!had_calls) in_section_ = false;
  closes_.clear();
  settle_format();
  resume = marker_within(std::max(resume, head_));
  emit_prompt_part();
  emit(from_reasoning_ ? EventKind::kReasoning : EventKind::kContent, std::max(resume, head_));
  pos_ = head_;
  phase_ = from_reasoning_ ? Phase::kReasoning : Phase::kTop;
  blank_ = false;
  if (held_ && message_.tool_calls.size() == held_->before.tool_calls.size()) release();
  return true;
}

// Whether a call of a format in JSON may stand at `at`.
bool Machine::is_json_at(std::size_t at) const {
  return syntax_->format->calls.envelope != format::Envelope::kTags && (buffer_[at] == '{' || buffer_[at] == '[');
}

bool Machine::section() {
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return false;
  const MarkerSet::Found found = syntax_->section_set.at(buffer_, at, is_end_, starts());
  if (found.kind == MatchKind::kPartial) return false;
  if (found.kind == MatchKind::kFull && (found.id == kCallOpen || found.id == kHalfOpen)) {
    if (found.id == kHalfOpen) opening_ = Opening::kHalf;
    pos_ = at + found.size;
    return start_body();
  }
  if (found.kind == MatchKind::kNone && (syntax_->call_open.empty() || is_json_at(at) || is_named_by_marker())) {
    pos_ = at;
    return start_body();
  }
  if (found.kind == MatchKind::kFull && found.id == kSectionClose && opening_ == Opening::kMarker) {
    pos_ = at + found.size;
    return end_empty_section();
  }
  return fail_attempt(at, "the tool calls hold no call");
}

// Models repeat the opener of a call.  True if that was read, or if more text is needed to tell (`wait`).
bool Machine::repeated_open(bool& wait) {
  if (!attempt_ || syntax_->call_open.empty() || !syntax_->call_open.is_distinct() || opening_ != Opening::kMarker)
    return false;
  const std::size_t at = skip_space(pos_);
  wait = at == buffer_.size() && !is_end_;
  if (at == buffer_.size()) return wait;
  const Match match = syntax_->call_open.match(std::string_view(buffer_).substr(at), is_end_, starts());
  wait = match.kind == MatchKind::kPartial;
  if (match.kind == MatchKind::kFull) pos_ = at + match.size;
  return match.kind != MatchKind::kNone;
}

// A section without any call is markup all the same.
bool Machine::end_empty_section() {
  emit(EventKind::kMarker, pos_);
  attempt_ = in_section_ = false;
  phase_ = from_reasoning_ ? Phase::kReasoning : Phase::kTop;
  reasoning_layout_ = from_reasoning_;
  blank_ = layout_ = true;
  return true;
}

// Whether a marker of its own stands behind the name: then a call is known even without its opener.
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

// A call that nothing announces but its name, at the begin of the text or behind another one.
MatchKind Machine::named_call(std::size_t at) {
  const format::Calls& calls = syntax_->format->calls;
  if (!calls.present || !format::is_blank(calls.section_open) || !syntax_->call_open.empty()) return MatchKind::kNone;
  if (!layout_ && !format::is_blank(message_.content)) return MatchKind::kNone;
  const MatchKind kind = tool_at(at);
  if (kind != MatchKind::kFull) return kind;
  pos_ = at;
  begin_attempt(false, Opening::kBare);
  return start_body() ? MatchKind::kFull : MatchKind::kNone;
}

// The name of a tool at `at`, with what the format writes behind it.
MatchKind Machine::tool_at(std::size_t at) const {
  if (!syntax_->has_named_calls()) return MatchKind::kNone;
  const Marker& behind_name = syntax_->piece_markers[1];
  const std::string_view text = std::string_view(buffer_).substr(at);
  for (const chat::ToolDefinition& tool : syntax_->tools) {
    const std::size_t same = std::min(text.size(), tool.name.size());
    if (tool.name.empty() || text.substr(0, same) != std::string_view(tool.name).substr(0, same)) continue;
    const std::size_t behind = behind_name.lead().empty() ? at + same : skip_space(at + same);
    if (behind == buffer_.size() && !is_end_) return MatchKind::kPartial;
    if (same < tool.name.size() || behind == buffer_.size()) continue;
    const Match match = behind_name.match(std::string_view(buffer_).substr(behind), is_end_, starts());
    if (match.kind != MatchKind::kNone) return match.kind;
  }
  return MatchKind::kNone;
}

}  // namespace rondo::parse
