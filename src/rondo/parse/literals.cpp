// The texts that the format writes between a call's name, id and arguments.
#include <algorithm>

#include "parse/machine.h"
#include "parse/markup.h"

namespace rondo::parse {

using format::CallPiece;

// Reads a literal of the format.  A literal that an id or a counter follows may be missing, together with that id.
// After the arguments any literal may be missing.
bool Machine::piece_literal(const Marker& literal) {
  if (literal.empty()) {
    ++call_.piece;
    return true;
  }
  std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return false;
  const bool is_behind_json = call_.piece == syntax_->behind_arguments() && call_.has_arguments;
  if (is_behind_json && brackets_before(literal, at) == MatchKind::kPartial) return false;
  if (syntax_->rare.bare_close.core().starts_with(literal.core())) {
    if (const MatchKind bare = bare_call_ends(at); bare != MatchKind::kNone) return bare == MatchKind::kFull;
  }
  const Match match = literal.match(std::string_view(buffer_).substr(at), is_end_, starts());
  if (match.kind == MatchKind::kPartial) return false;
  if (match.kind == MatchKind::kNone) return missing_literal(at);
  pos_ = at + match.size;
  ++call_.piece;
  if (!attempt_.is_open) emit(EventKind::kMarker, pos_);
  return true;
}

// Moves `at` behind the brackets that a model wrote too many, if `literal` follows them.
MatchKind Machine::brackets_before(const Marker& literal, std::size_t& at) {
  const std::size_t behind = behind_brackets(at, literal);
  if (behind == at) return MatchKind::kNone;
  if (behind == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const Match match = literal.match(std::string_view(buffer_).substr(behind), is_end_, starts());
  if (match.kind != MatchKind::kFull) return match.kind;
  at = behind;
  set_status(chat::CallStatus::kMalformed);
  return match.kind;
}

// Goes on at `at`, where the literal of the format is not.
bool Machine::missing_literal(std::size_t at) {
  if (const MatchKind damaged = damaged_name_tag(at); damaged != MatchKind::kNone) return damaged == MatchKind::kFull;
  if (const MatchKind open = unclosed_name_tag(at); open != MatchKind::kNone) return open == MatchKind::kFull;
  if (const MatchKind bare = bare_call_ends(at); bare != MatchKind::kNone) return bare == MatchKind::kFull;
  if (const std::size_t next = syntax_->behind_optional(call_.piece);
      next != 0 && !syntax_->piece_markers[next].empty()) {
    const Match other = syntax_->piece_markers[next].match(std::string_view(buffer_).substr(at), is_end_, starts());
    if (other.kind == MatchKind::kPartial) return false;
    if (other.kind == MatchKind::kFull) {
      call_.piece = next;
      return true;
    }
  }
  if (const MatchKind tag = respelled_tag(); tag != MatchKind::kNone) return tag == MatchKind::kFull;
  if (skip_to_arguments(at)) return true;
  if (attempt_.is_open && call_.piece > 0 && is_cut_off_in(syntax_->slot_sets[call_.piece - 1], at)) return false;
  if (attempt_.is_open) return fail_attempt(at, "the tool call does not go on as its format says");
  phase_ = Phase::kAfterCall;  // a literal after the arguments may be missing
  return true;
}

// Goes on with the arguments if they are JSON and begin at `at`, behind the name of a tool.  What the format writes
// between the two may be missing then.
bool Machine::skip_to_arguments(std::size_t at) {
  const format::Calls& calls = syntax_->format->calls;
  const bool is_named = call_.has_name && options().tools && syntax_->is_known_tool(call_.name);
  if (!is_named || buffer_[at] != '{' || calls.arguments == format::ArgumentStyle::kParameters) return false;
  const auto begin = calls.pieces.begin() + static_cast<std::ptrdiff_t>(call_.piece);
  const auto arguments = std::ranges::find(begin, calls.pieces.end(), CallPiece::Kind::kArguments, &CallPiece::kind);
  if (arguments == calls.pieces.end()) return false;
  call_.piece = static_cast<std::size_t>(arguments - calls.pieces.begin());
  return true;
}

// Matches what the format writes at `at`, behind the name of a call without arguments.  kFull means that the call has
// ended.
MatchKind Machine::bare_call_ends(std::size_t at) {
  const bool may_end = call_.has_name && !call_.has_arguments && !syntax_->rare.bare_close.empty() && !needs_evidence();
  if (!may_end || at == buffer_.size()) return MatchKind::kNone;
  const Match match = syntax_->rare.bare_close.match(std::string_view(buffer_).substr(at), is_end_, starts());
  if (match.kind == MatchKind::kFull) end_without_arguments(at, at + match.size);
  return match.kind;
}

// Ends a call without arguments.  [at, end) closes it.
void Machine::end_without_arguments(std::size_t at, std::size_t end) {
  if (attempt_.is_open && !commit(pos_)) return;
  emit(EventKind::kMarker, at);
  emit(EventKind::kArguments, at, "{}");
  pos_ = end;
  emit(EventKind::kMarker, pos_);
  end_call(raw(pos_));
  phase_ = Phase::kBetween;
}

}  // namespace rondo::parse
