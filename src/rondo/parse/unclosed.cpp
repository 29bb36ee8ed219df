// Values of parameters whose closing tag is missing, and parameters that cannot be read: where the rest of the call
// goes on.
#include <algorithm>

#include "format/escapes.h"
#include "format/units.h"
#include "json/parse.h"
#include "parse/machine.h"
#include "parse/schema_check.h"

namespace rondo::parse {

// Returns whether something that the format allows after a value follows at `at`.  Sets `wait` if more text is needed.
bool Machine::is_followed(std::size_t at, bool& wait) const {
  const std::size_t next = skip_space(at);
  if (next == buffer_.size()) {
    wait = !is_end_;
    return is_end_;
  }
  if (syntax_->parameter_open.empty() && syntax_->parameter_separator.empty()) return true;
  const MarkerSet::Found found = syntax_->sets.follower.at(buffer_, next, is_end_, starts());
  MatchKind kind = found.kind;
  if (kind == MatchKind::kNone && is_end_ && syntax_->sets.follower.at(buffer_, next, false, starts()).kind != kind)
    return true;  // the end cuts a marker off
  if (kind == MatchKind::kNone) kind = wrapper_end_at(next);
  if (kind == MatchKind::kNone) {
    const ParameterTag tag = parameter_tag_at(next);
    if (tag.kind != MatchKind::kFull || has_parameter(std::string(tag.key))) kind = tag.kind;
  }
  if (found.kind == MatchKind::kFull && found.id == kCallClose) kind = call_ends_at(found);
  wait = kind == MatchKind::kPartial;
  return kind == MatchKind::kFull;
}

// Returns whether the value is a number or a word that the tool's schema wants, and complete at `end`.  Its closer then
// counts, whatever follows it.
bool Machine::is_whole_scalar(std::size_t end) const {
  const bool may_be_text = !parameter_.types || parameter_.types->has(TypeSet::kString);
  if (may_be_text || end - head_ > kLongestScalar) return false;
  const auto value = json::parse(format::trimmed(std::string_view(buffer_).substr(head_, end - head_)));
  return value.ok() && fits(value.value(), parameter_.schema);
}

// Returns whether `close` ends the call.  Mere punctuation, such as the bracket in `print('a') # x`, does only if what
// comes between calls or after them follows it, or the call's name where the format repeats that.
MatchKind Machine::call_ends_at(const MarkerSet::Found& close) const {
  const bool needs_more = section_.is_open && !syntax_->section_close.empty() &&
                          !syntax_->format->calls.may_stay_open && !close.marker->is_distinct();
  if (!needs_more) return MatchKind::kFull;
  const std::size_t next = skip_space(close.begin + close.size);
  if (next == buffer_.size()) return is_end_ ? MatchKind::kFull : MatchKind::kPartial;
  const std::vector<format::CallPiece>& pieces = syntax_->format->calls.pieces;
  const std::size_t behind = syntax_->behind_arguments() + 1;
  if (behind < pieces.size() && close.marker == &syntax_->piece_markers[behind - 1] &&
      pieces[behind].kind == format::CallPiece::Kind::kName) {
    const std::string name = format::escaped(call_.name, syntax_->format->calls.name_escapes);
    const std::string_view rest = std::string_view(buffer_).substr(next);
    if (rest.starts_with(name)) return MatchKind::kFull;
    if (name.starts_with(rest)) return is_end_ ? MatchKind::kFull : MatchKind::kPartial;
  }
  const MarkerSet::Found found = syntax_->sets.between.at(buffer_, next, is_end_, starts());
  if (found.kind != MatchKind::kFull || found.id != kSeparator || !syntax_->has_named_calls()) return found.kind;
  const std::size_t name = skip_space(next + found.size);
  if (name == buffer_.size()) return is_end_ ? MatchKind::kFull : MatchKind::kPartial;
  return tool_at(name);
}

// Looks for a call's edge in a value, from pos_ up to `end`: the opener of a call that the value quotes, or the end of
// the call to which the value belongs.  Returns kFull with pos_ where the value ends, although nothing closes it.
MatchKind Machine::value_unclosed(std::size_t& end) {
  std::size_t from = std::max(pos_, std::max(parameter_.edges_from, base_) - base_);
  while (from < end) {
    const MarkerSet::Found edge = syntax_->sets.edges.find(buffer_, from, is_end_, starts());
    if (edge.kind == MatchKind::kNone || edge.begin >= end) break;
    const bool is_open = edge.kind == MatchKind::kFull && edge.id == kCallOpen;
    const bool is_quoted = edge.kind == MatchKind::kFull && edge.id != kCallOpen && parameter_.quoted_calls > 0;
    const MatchKind kind = edge.kind == MatchKind::kPartial ? edge.kind
                           : is_open || is_quoted           ? MatchKind::kNone
                                                            : call_goes_on(edge.begin);
    if (kind != MatchKind::kNone) {
      end = edge.begin;
      return kind;
    }
    if (is_open) ++parameter_.quoted_calls;
    if (is_quoted) --parameter_.quoted_calls;
    from = edge.begin + (is_open || is_quoted ? edge.size : 1);
    parameter_.edges_from = base_ + from;
  }
  return MatchKind::kNone;
}

// Returns whether the call ends at `at`, where text is that closes calls: behind it comes the next call of a known
// tool, or nothing more.  A value may contain such text, but hardly followed by those.
MatchKind Machine::call_goes_on(std::size_t at) const {
  std::size_t next = at;
  bool is_called = false;
  while (true) {
    next = skip_space(next);
    if (next == buffer_.size()) return is_end_ ? MatchKind::kFull : MatchKind::kPartial;
    const MarkerSet::Found found = syntax_->sets.edges.at(buffer_, next, is_end_, starts());
    if (found.kind == MatchKind::kPartial) return found.kind;
    if (found.kind == MatchKind::kNone) break;
    is_called = found.id == kCallOpen;
    next += found.size;
    if (is_called) break;
  }
  if (is_called) return syntax_->options.tools ? opened_tool_at(next) : MatchKind::kNone;
  const MarkerSet::Found stop = syntax_->sets.stop.at(buffer_, next, is_end_, starts());
  if (stop.kind != MatchKind::kFull) return stop.kind;
  if (skip_space(next + stop.size) < buffer_.size()) return MatchKind::kNone;
  return is_end_ ? MatchKind::kFull : MatchKind::kPartial;
}

// Ends the value at `end`, where its call ends without having closed it.
void Machine::end_unclosed_value(std::size_t end) {
  const std::string_view before = std::string_view(buffer_).substr(head_, end - head_);
  end -= parameter_.closer_set.possible_lead(before);
  end_value(end, end);
  call_.problems.push_back({chat::CallProblem::Kind::kUnclosedValue, parameter_.key,
                            "nothing closes the value of `" + parameter_.key + "`"});
}

// Ends the value at `end`, where the text breaks off.  A quote or bracket that is open in it counts as closed there.
void Machine::end_cut_value(std::size_t end) {
  const std::string_view text = format::trimmed(std::string_view(buffer_).substr(head_, end - head_));
  const bool is_open = is_structured() && !parameter_.is_json && !parameter_.is_streaming && !text.empty() &&
                       (parameter_.nesting.quote != 0 || !parameter_.nesting.closers.empty());
  if (is_open) {
    const std::string whole = std::string(text) + rest_of_value();
    if (const auto read = read_literal(whole, syntax_->values.nested)) return take_value(*read, end, buffer_.size());
  }
  end_value(end, buffer_.size());
}

// Returns whether the end of the text closes the open call: nothing else does in the format, and in its value no bracket or
// quote is open.  Between two parameters only a stop tells that no further one was to come.
bool Machine::is_closed_by_end() const {
  const bool is_section_closed = !section_.is_open || syntax_->section_close.empty();
  if (!is_section_closed || syntax_->closes_calls() || syntax_->options.partial) return false;
  const bool is_between = phase_ == Phase::kParameter || (phase_ == Phase::kKey && skip_space(pos_) == buffer_.size());
  if (is_between) return ending_.has_stop;
  const bool is_in_value =
      phase_ == Phase::kValue && parameter_.closer_set.empty() && syntax_->format->calls.parameters.close.empty();
  return is_in_value && rest_of_value().empty();
}

// Passes over a parameter that cannot be read.  Where a marker opens each parameter, the next one is read again.
bool Machine::skip_parameter(const char* why) {
  call_.problems.push_back({chat::CallProblem::Kind::kUnreadable, "", why});
  if (!syntax_->parameter_open.is_distinct()) {
    (void)finish_parameters();
    return break_call(chat::CallStatus::kMalformed, why);
  }
  complain(raw(pos_), why);
  phase_ = Phase::kSkip;
  return true;
}

bool Machine::skipped_parameter() {
  MarkerSet::Found found;
  const MarkerSet& set = thoughts_.have_call ? syntax_->sets.reasoning_skip : syntax_->sets.parameter;
  if (!scan(set, EventKind::kMarker, found)) return false;
  if (found.id == kReasoningClose) return thought_ends(found);
  pos_ = head_;
  phase_ = Phase::kParameter;
  return true;
}

}  // namespace rondo::parse
