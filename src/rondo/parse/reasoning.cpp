// Reasoning, and calls in reasoning that is not closed.
#include <algorithm>
#include <utility>

#include "parse/machine.h"

namespace rondo::parse {

// Decides between reasoning and content in a format where no marker begins reasoning.  The text before the marker that
// closes reasoning is reasoning.  If another marker comes first, or none at all, there is no reasoning.  Until this is
// known, all text is held back.
bool Machine::undecided() {
  if (thoughts_.are_doubtful) return doubtful_reasoning();
  const MarkerSet::Found found = syntax_->sets.reasoning.find(buffer_, pos_, is_end_, starts());
  if (found.kind != MatchKind::kFull && !is_end_) {
    pos_ = found.begin;
    return false;
  }
  pos_ = head_;
  if (found.kind == MatchKind::kFull && found.id == kReasoningClose) {
    phase_ = Phase::kReasoning;
    message_.reasoning.emplace();
  } else {
    phase_ = Phase::kTop;
    begin_content();
  }
  return true;
}

// Decides whether punctuation that ends at pos_ opens reasoning: if what may close it comes next at the end of a line.
// Otherwise it is text, such as `*` before an item.
bool Machine::doubtful_reasoning() {
  const Marker& close = *syntax_->rare.light_close;
  const std::size_t at = buffer_.find(close.core(), std::max(pos_, std::max(thoughts_.searched, base_) - base_));
  if (at == std::string::npos && !is_end_) {
    thoughts_.searched = base_ + buffer_.size() - std::min(close.core().size() - 1, buffer_.size() - pos_);
    return false;
  }
  MatchKind kind = MatchKind::kNone;
  if (at != std::string::npos) kind = close.match(std::string_view(buffer_).substr(at), is_end_, starts()).kind;
  if (kind == MatchKind::kPartial) return false;
  thoughts_.are_doubtful = false;
  if (kind == MatchKind::kFull) return begin_reasoning();
  phase_ = Phase::kTop;
  top_.is_blank = false;
  return true;
}

// The opener `open` of reasoning ends at pos_.
bool Machine::reasoning_opened(const Marker& open) {
  thoughts_.open = &open;
  thoughts_.are_doubtful = syntax_->rare.light_close != nullptr && base_ + head_ >= prompt_.bytes;
  if (!thoughts_.are_doubtful) return begin_reasoning();
  phase_ = Phase::kUndecided;
  return true;
}

// Begins reasoning.  Its opener ends at pos_.  If the prompt begins reasoning with words, they are part of the
// text.
bool Machine::begin_reasoning() {
  phase_ = Phase::kReasoning;
  thoughts_.are_fresh = true;
  if (!message_.reasoning && !inline_reasoning_) message_.reasoning.emplace();
  if (syntax_->format->reasoning.begins_text) {
    emit(EventKind::kReasoning, pos_);
    return true;
  }
  emit_reasoning_marker(pos_);
  trail_.text = thoughts_.open->trail();
  trail_.of_reasoning = true;
  return true;
}

// Skips an opener that the prompt already has.  Some models repeat it.
bool Machine::reasoning_start() {
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) {
    if (!is_end_) return false;
    thoughts_.are_fresh = false;
    return true;
  }
  const MarkerSet::Found found = syntax_->sets.reasoning_open.at(buffer_, at, is_end_, starts());
  if (found.kind == MatchKind::kPartial) return false;
  thoughts_.are_fresh = false;
  if (found.kind == MatchKind::kFull) {
    if (syntax_->format->reasoning.begins_text) emit(EventKind::kReasoning, at);
    pos_ = at + found.size;
    emit_reasoning_marker(pos_);
    trail_.text = found.marker->trail();
    trail_.of_reasoning = true;
  }
  return true;
}

const MarkerSet& Machine::open_reasoning_set() const {
  return section_.is_open ? syntax_->sets.reasoning_section : syntax_->sets.reasoning;
}

bool Machine::reasoning() {
  MarkerSet::Found found;
  if (!scan(open_reasoning_set(), EventKind::kReasoning, found)) return false;
  return reasoning_marker(found);
}

// Looks after a call in reasoning for more calls, the close of the reasoning, or more reasoning.
bool Machine::reasoning_after_call() {
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) {
    if (is_end_) emit(EventKind::kMarker, at);
    return false;
  }
  const MarkerSet::Found found = syntax_->sets.reasoning_layout.at(buffer_, at, is_end_, starts());
  if (found.kind == MatchKind::kPartial) return false;
  if (found.kind == MatchKind::kFull && (found.id != kSectionClose || section_.is_open)) {
    pos_ = at + found.size;
    return reasoning_marker(found);
  }
  thoughts_.is_layout = false;
  return true;
}

bool Machine::reasoning_marker(const MarkerSet::Found& found) {
  switch (found.id) {
    case kStop:
      if (!found.marker->is_distinct() && !syntax_->format->reasoning.escapes.empty()) {
        pos_ = found.begin + 1;
        return true;
      }
      ending_.is_open = !thoughts_.is_layout;
      emit(EventKind::kMarker, pos_);
      release();
      phase_ = Phase::kEnded;
      return true;
    case kSectionOpen:
    case kCallOpen:
      hold();
      thoughts_.have_call = true;
      thoughts_.is_layout = false;
      attempt_.is_reserved = found.marker->is_reserved();
      begin_attempt(section_.is_open || found.id == kSectionOpen, Opening::kMarker);
      if (found.id == kCallOpen) return start_body();
      phase_ = Phase::kSection;
      return true;
    case kSectionClose:
      emit(EventKind::kMarker, pos_);
      section_.is_open = false;
      thoughts_.is_layout = thoughts_.is_layout || has_meant_call();  // the turn ends with its calls
      return true;
    default:
      if (held_ && (found.id == kReasoningClose || found.id == kContentOpen)) {
        const std::string_view before = std::string_view(buffer_).substr(0, found.begin);
        withdraw(found.begin - found.marker->own_lead(before));
        pos_ = found.begin + found.size;
      }
      release();
      phase_ = Phase::kTop;
      thoughts_.have_call = thoughts_.is_layout = false;
      top_.has_header = found.id == kHeader;
      if (found.id == kContentOpen) return top_marker(found);
      emit_reasoning_marker(pos_);
      trail_.text = found.marker->trail();
      trail_.of_reasoning = true;
      top_.is_blank = true;
      top_.is_layout = top_.is_layout || found.id == kHeader;
      return true;
  }
}

void Machine::emit_reasoning_marker(std::size_t end) {
  if (inline_reasoning_) {
    say_inline_open(raw(head_));
    return emit(EventKind::kContent, end);
  }
  if (end <= head_) return;
  Event event{EventKind::kMarker, raw(head_), raw(end), "", last_call(), std::nullopt, true};
  head_ = end;
  pos_ = std::max(pos_, head_);
  append(new_events(), std::move(event));
}

// Takes the close `found` of reasoning inside a call that cannot be read: the call was only a thought.
bool Machine::thought_ends(const MarkerSet::Found& found) {
  call_.is_reported = false;
  return reasoning_marker(found);
}

// Returns whether the reasoning contains a call that counts unless the reasoning is closed after it.
bool Machine::has_meant_call() const { return held_ && message_.tool_calls.size() > held_->before.tool_calls.size(); }

// Holds back everything from here.  A model that writes a call in its reasoning may mean it or only think about it.  It
// means the call if the reasoning is not closed after it.
void Machine::hold() {
  if (!held_) held_ = Held{base_ + head_, message_, mistake_, {}};
}

// Reports the events that were held back, unchanged.
void Machine::release() {
  if (!held_) return;
  for (Event& event : held_->events) append(reported_.events, std::move(event));
  held_.reset();
}

// Turns what was held back into reasoning text, up to `end`: the call was only a thought.
void Machine::withdraw(std::size_t end) {
  head_ = held_->begin - base_;
  message_ = std::move(held_->before);
  foreign_.quoting = {};
  mistake_ = std::move(held_->mistake);
  held_.reset();
  section_.is_open = false;
  emit(EventKind::kReasoning, end);
}

}  // namespace rondo::parse
