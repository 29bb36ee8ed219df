// Tool calls: names, arguments, and the ends of calls.
#include <algorithm>

#include "format/escapes.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

using format::CallPiece;
using format::is_space;

bool is_name_byte(char byte) {
  return static_cast<unsigned char>(byte) > 0x20 &&
         std::string_view("<>{}[]()\"'`,=|").find(byte) == std::string_view::npos;
}

}  // namespace

bool Machine::start_body() {
  call_ = {};
  envelope_ = {};
  scanner_ = {};
  phase_ = syntax_->format->calls.pieces.empty() ? Phase::kJson : Phase::kPieces;
  return true;
}

bool Machine::pieces() {
  const format::Calls& calls = syntax_->format->calls;
  if (end_wrapper() == MatchKind::kPartial) return false;
  if (call_.piece >= calls.pieces.size()) {
    phase_ = Phase::kAfterCall;
    return true;
  }
  bool wait = false;
  skip_to_object();
  if (call_.piece == 0 && (repeated_open(wait) || nameless_call(pos_, wait) || json_instead(wait))) return !wait;
  const CallPiece& piece = calls.pieces[call_.piece];
  switch (piece.kind) {
    case CallPiece::Kind::kLiteral: return piece_literal(syntax_->piece_markers[call_.piece]);
    case CallPiece::Kind::kArguments: {
      const MatchKind bare = bare_call_ends(skip_space(pos_));
      return bare == MatchKind::kNone ? start_arguments() : bare == MatchKind::kFull;
    }
    case CallPiece::Kind::kObject: phase_ = Phase::kJson; return true;
    default: return piece_slot(piece.kind);
  }
}

// Returns whether the text ends inside a marker that begins at `at`.  What has begun there is open then.
bool Machine::is_cut_off_in(const MarkerSet& set, std::size_t at) const {
  at = skip_space(at);
  return at < buffer_.size() && set.at(buffer_, at, false, starts()).kind == MatchKind::kPartial;
}

// No name, id or index can be read up to `end`.
bool Machine::unreadable_slot(std::size_t end) {
  if (const MatchKind tag = respelled_tag(); tag != MatchKind::kNone) return tag == MatchKind::kFull;
  if (attempt_.is_open && is_cut_off_in(syntax_->slot_sets[call_.piece], end)) return false;
  return attempt_.is_open ? fail_attempt(end, "the name of a tool call cannot be read")
                          : break_call(chat::CallStatus::kMalformed, "a tool call is malformed");
}

// Reads a name, id or index.
bool Machine::piece_slot(CallPiece::Kind kind) {
  const bool is_name = kind == CallPiece::Kind::kName || kind == CallPiece::Kind::kNameInId;
  std::size_t quote = 0;
  const std::size_t start = skip_space(pos_);
  const Match slot = slot_in_quotes(start, is_name, quote);
  const std::size_t begin = start + quote;
  if (slot.kind == MatchKind::kPartial) return false;
  const std::size_t end = begin + slot.size;
  if (slot.kind == MatchKind::kNone) return unreadable_slot(end);
  std::string text = buffer_.substr(begin, slot.size);
  const bool is_cut_off = end >= buffer_.size();
  const auto is_whole_call = [&] {
    return is_name && syntax_->options.tools && syntax_->is_known_tool(text) && syntax_->is_name_enough(call_.piece);
  };
  if (is_cut_off && attempt_.is_open && !is_whole_call()) return false;
  if (is_name && !call_.has_name) {
    if (lacks_name(kind, text)) return nameless_slot(text, end);
    if (is_mere_word(kind, begin, end)) return fail_attempt(end, "text in the shape of a tool call names no tool");
  }
  pos_ = end + quote;
  ++call_.piece;
  if (is_name && !call_.has_name) {
    take_name(kind, std::move(text));
    if (quote > 0) note_quoted_name();
  } else if (kind == CallPiece::Kind::kName && attempt_.is_open && is_nearer_name(text)) {
    take_name(kind, std::move(text));
  } else if (kind == CallPiece::Kind::kId && !text.empty()) {
    call_.id = std::move(text);
    if (call_.is_reported) {
      call().id = call_.id;
      emit(EventKind::kCallId, pos_, *call_.id);
    }
  }
  return true;
}

// Matches a name, id or index at `begin`.  Inside an escape nothing ends it.  kNone means that the byte at `size`
// cannot be part of it.
Match Machine::slot_at(std::size_t begin, bool is_name) const {
  const std::span<const format::Escape> escapes =
      is_name ? std::span(syntax_->format->calls.name_escapes) : std::span<const format::Escape>();
  for (std::size_t end = begin; end < buffer_.size(); ++end) {
    if (!escapes.empty()) {
      const std::string_view rest = std::string_view(buffer_).substr(end);
      if (!is_end_ && format::whole_units(rest, escapes) == 0) return {MatchKind::kPartial, 0};
      const std::size_t unit = format::unit_size(rest, escapes);
      if (unit > 1) {
        end += unit - 1;
        continue;
      }
    }
    const MatchKind close = slot_close_at(begin, end, is_name);
    if (close != MatchKind::kNone) return {close, end - begin};
    if (!is_name_byte(buffer_[end]) || end - begin > kLongestName) return {MatchKind::kNone, end - begin};
  }
  return {is_end_ ? MatchKind::kFull : MatchKind::kPartial, buffer_.size() - begin};
}

// Returns whether a name, id or index from `begin` ends at `end`: before white space, the text that the format writes
// after it, or the arguments.
MatchKind Machine::slot_close_at(std::size_t begin, std::size_t end, bool is_name) const {
  const std::size_t next = skip_space(end);
  if (next == buffer_.size() && !is_end_) return MatchKind::kPartial;
  if (next < buffer_.size()) {
    const MatchKind kind = syntax_->slot_sets[call_.piece].at(buffer_, next, is_end_, starts()).kind;
    if (kind != MatchKind::kNone) return kind;
  }
  if (next < buffer_.size() && end > begin) {
    const MatchKind kind = name_tag_end(next, call_.piece + 1).match.kind;
    if (kind != MatchKind::kNone) return kind;
  }
  if (is_space(buffer_[end])) return MatchKind::kFull;
  if (buffer_[end] != '{') return MatchKind::kNone;
  // An object directly after a tool's name is the arguments, even in a format that writes parameters one by one.
  const bool is_behind_tool = is_name && syntax_->options.tools && end > begin &&
                              syntax_->is_known_tool(std::string_view(buffer_).substr(begin, end - begin));
  return is_behind_tool || syntax_->is_json_next(call_.piece) ? MatchKind::kFull : MatchKind::kNone;
}

// Returns the name of the tool that `text` means: a name, or an id that contains it.
std::string Machine::meant_name(CallPiece::Kind kind, const std::string& text) const {
  const std::string meant = format::unescaped(text, syntax_->format->calls.name_escapes);
  return kind == CallPiece::Kind::kNameInId ? name_in_id(meant) : syntax_->meant_tool(meant);
}

// Takes the name of the call from `text`, which may be an id that contains it.
void Machine::take_name(CallPiece::Kind kind, std::string text) {
  call_.name = meant_name(kind, text);
  if (kind == CallPiece::Kind::kNameInId) call_.id = std::move(text);
  call_.has_name = true;
  if (envelope_.early_arguments) (void)commit_early();
}

namespace {

// Returns where the counter of an id begins, together with the mark before it, as in `NAME:0` and `NAME#0`.
std::size_t counter_begin(std::string_view id) {
  const std::size_t mark = id.find_last_not_of("0123456789");
  const bool is_mark = mark != std::string_view::npos && mark + 1 < id.size() && !format::is_word(id[mark]);
  return is_mark && id[mark] != '.' ? mark : std::min(id.rfind(':'), id.size());
}

}  // namespace

// Returns the name in an id such as `functions.NAME:0`: without its counter, and without the text that the template
// writes in front of the name or, if that is missing, the word before the first dot or colon, unless a tool is called so.
// What is behind a colon is no counter if it is the name of a tool.  Returns "" if there is no name.
std::string Machine::name_in_id(const std::string& id) const {
  static constexpr std::string_view kBefore = ".:";
  std::string whole = id.substr(0, counter_begin(id));
  if (syntax_->tool(whole) != nullptr) return whole;
  const auto& pieces = syntax_->format->calls.pieces;
  const auto piece = std::ranges::find(pieces, CallPiece::Kind::kNameInId, &CallPiece::kind);
  const std::string own = piece == pieces.end() ? "" : piece->front;
  const auto behind_front = [&own](const std::string& text) {
    return text.substr(!own.empty() && text.starts_with(own) ? own.size() : text.find_first_of(kBefore) + 1);
  };
  const std::string name = behind_front(whole);
  if (syntax_->tool(name) == nullptr && syntax_->tool(behind_front(id)) != nullptr) return behind_front(id);
  return name.find_first_not_of(kBefore) == std::string::npos ? "" : name;
}

bool Machine::start_arguments() {
  const bool is_json = syntax_->format->calls.arguments != format::ArgumentStyle::kParameters;
  if (is_json && !call_.has_name) {
    phase_ = Phase::kEarlyArguments;
    return true;
  }
  const bool is_proven = std::any_of(syntax_->piece_markers.begin(),
                                     syntax_->piece_markers.begin() + static_cast<std::ptrdiff_t>(call_.piece),
                                     [](const Marker& marker) { return !marker.empty(); });
  if (attempt_.is_open && !is_proven && !syntax_->parameter_open.empty() &&
      !(syntax_->options.tools && syntax_->is_known_tool(call_.name))) {
    // Only a word has followed the opener so far, so what comes next must be the format's own text.
    const std::size_t at = skip_space(pos_);
    if (at == buffer_.size() && !is_end_) return false;
    const MarkerSet::Found found =
        at < buffer_.size() ? syntax_->sets.parameter.at(buffer_, at, is_end_, starts()) : MarkerSet::Found{};
    if (found.kind == MatchKind::kPartial) return false;
    if (found.kind == MatchKind::kNone) return fail_attempt(pos_, "the tool call does not go on as its format says");
  }
  if (const MatchKind proof = proof_of_arguments(); proof != MatchKind::kFull)
    return proof == MatchKind::kNone && fail_attempt(pos_, "a tool call has no arguments");
  if (!commit(pos_)) return true;
  if (!is_json) {
    call_.parameters = 0;
    phase_ = Phase::kParameter;
  } else {
    scanner_ = JsonScanner();
    phase_ = Phase::kJsonArguments;
  }
  return true;
}

// Reads arguments that come before the name.  They are held back until the name is known.
bool Machine::early_arguments() {
  if (!scanner_.started()) pos_ = skip_space(pos_);
  if (pos_ == buffer_.size()) return false;
  if (!scanner_.started()) envelope_.capture_begin = base_ + pos_;
  while (pos_ < buffer_.size()) {
    const std::optional<JsonUnit> unit = json_unit(pos_);
    if (!unit) return false;
    if (!scanner_.started()) call_.is_string = unit->byte == '"';
    if (scanner_.step(unit->byte).bad || pos_ - head_ > kLongestAttempt)
      return fail_attempt(pos_, "the arguments of a tool call cannot be read");
    pos_ += unit->size;
    if (!scanner_.done()) continue;
    envelope_.early_arguments = {envelope_.capture_begin, base_ + pos_};
    envelope_.early_is_loose = scanner_.is_loose();
    return arguments_done();
  }
  return false;
}

// Reports the call, now that its name is known, together with the bytes up to `upto`.  Returns false if the call turned
// out to be text.
bool Machine::commit(std::size_t upto) {
  if (!may_commit(call_.name)) {
    (void)fail_attempt(pos_, "text in the shape of a tool call names no tool");
    return false;
  }
  report_thought();
  chat::ToolCall made;
  made.id = call_.id;
  made.name = call_.name;
  made.raw_begin = made.raw_end = attempt_.begin;
  if (!syntax_->is_known_tool(call_.name)) {
    made.status = chat::CallStatus::kUnknownTool;
    complain(attempt_.begin, "there is no tool `" + call_.name + "`");
  }
  if (!syntax_->options.parallel_calls && !message_.tool_calls.empty())
    complain(attempt_.begin, "a second tool call where one is allowed");
  if (!syntax_->options.only_tool.empty() && call_.name != syntax_->options.only_tool)
    complain(attempt_.begin,
             "the tool `" + call_.name + "` is called where `" + syntax_->options.only_tool + "` was asked for");
  message_.tool_calls.push_back(std::move(made));
  attempt_.is_open = false;
  call_.is_reported = true;
  Event event{EventKind::kCallStart,          raw(head_), raw(upto), call_.name,
              message_.tool_calls.size() - 1, call_.id,   false};
  head_ = std::max(head_, upto);
  prompt_.inline_open.clear();
  append(new_events(), std::move(event));
  return true;
}

// Returns the JSON character at `at` and the number of bytes that stand for it; nullopt if an escape may have begun
// there.
std::optional<Machine::JsonUnit> Machine::json_unit(std::size_t at) const {
  if (!has_escaped_arguments()) return JsonUnit{buffer_[at], 1};
  const std::span<const format::Escape> escapes = syntax_->format->calls.argument_escapes;
  const std::string_view rest = std::string_view(buffer_).substr(at);
  if (!is_end_ && format::whole_units(rest, escapes) == 0) return std::nullopt;
  const std::size_t size = format::unit_size(rest, escapes);
  return JsonUnit{size == 1 ? rest.front() : format::unescaped(rest.substr(0, size), escapes).front(), size};
}

// Skips plain text inside a JSON string.  Returns the character at pos_ then; nullopt if more text is needed.
std::optional<Machine::JsonUnit> Machine::next_json_unit(bool is_escaped) {
  if (is_escaped) return json_unit(pos_);
  pos_ += scanner_.plain_prefix(std::string_view(buffer_).substr(pos_));
  return pos_ < buffer_.size() ? std::optional(JsonUnit{buffer_[pos_], 1}) : std::nullopt;
}

// Returns [begin, end) of the buffer, a part of a call's arguments, as plain JSON without the format's escapes.
std::string Machine::arguments_text(std::size_t begin, std::size_t end) const {
  return format::unescaped(std::string_view(buffer_).substr(begin, end - begin),
                           syntax_->format->calls.argument_escapes);
}

// Finds out what the arguments are: JSON, bare text, or nothing at all.  Returns false if more text is needed.
bool Machine::begin_json_arguments() {
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return false;
  const MarkerSet::Found found = syntax_->sets.after.at(buffer_, at, is_end_, starts());
  if (found.kind == MatchKind::kPartial) return false;
  const MatchKind wrapper = found.kind == MatchKind::kNone ? argument_wrapper(at) : MatchKind::kNone;
  if (wrapper != MatchKind::kNone) return wrapper == MatchKind::kFull;
  pos_ = at;
  emit(EventKind::kMarker, pos_);
  if (const MatchKind end = end_wrapper(); end != MatchKind::kNone) {
    if (end == MatchKind::kPartial) return false;
    emit(EventKind::kArguments, pos_, "{}");
    return arguments_done();
  }
  if (found.kind == MatchKind::kFull && buffer_[at] != '{') {
    emit(EventKind::kArguments, pos_, "{}");
    return arguments_done();
  }
  const std::optional<JsonUnit> first = json_unit(at);
  if (!first) return false;
  if (std::string_view("{[\"'").find(first->byte) == std::string_view::npos) {
    if (const std::string key = only_text_parameter(); !key.empty()) {
      emit(EventKind::kArguments, head_, "{" + json::to_compact(json::Value(key)) + ":\"");
      phase_ = Phase::kRawArguments;
      return true;
    }
  }
  call_.has_arguments = true;
  call_.is_string = first->byte == '"' || first->byte == '\'';
  return true;
}

// Passes on JSON arguments as they come.  Arguments in a string are reported only when they are complete.
bool Machine::json_arguments() {
  if (!call_.has_arguments) return begin_json_arguments();
  while (pos_ < buffer_.size()) {
    bool wait = false;
    if (is_string_forgotten(wait)) return break_json();
    if (wait) break;
    const std::optional<JsonUnit> unit = next_json_unit(has_escaped_arguments());
    if (!unit) break;
    const JsonScanner::Step step = scanner_.step(unit->byte);
    if (step.bad) {
      if (break_json()) return true;
      break;
    }
    if (!step.left_over) pos_ += unit->size;
    if (!scanner_.done()) continue;
    emit_arguments(head_, pos_, scanner_.is_loose());
    return arguments_done();
  }
  // If the JSON breaks off here, the white space before the text that ends the call is the template's own.
  const std::size_t own = syntax_->sets.recover.possible_lead(std::string_view(buffer_).substr(head_, pos_ - head_));
  if (!call_.is_string) emit(EventKind::kArguments, whole_characters(pos_ - own));
  return false;
}

bool Machine::has_parameter(const std::string& key) const {
  const chat::ToolDefinition* tool = syntax_->tool(call_.name);
  return tool != nullptr && property_schema(tool->parameters, tool->parameters, key) != nullptr;
}

// Returns the parameter of the called tool if it has exactly one and that is a string; "" otherwise.
std::string Machine::only_text_parameter() const {
  const chat::ToolDefinition* tool = syntax_->tool(call_.name);
  const json::Value* properties = tool != nullptr ? tool->parameters.find("properties") : nullptr;
  if (properties == nullptr || !properties->is_object() || properties->as_object().size() != 1) return "";
  const json::Member& only = *properties->as_object().begin();
  const auto types = schema_types(only.value, tool->parameters);
  return types && types->is_only(TypeSet::kString) ? only.key : "";
}

// Reads bare text as the value of the tool's only parameter, up to the text that ends the call.  Models write code
// where an object that contains the code is expected.
bool Machine::raw_arguments() {
  const MarkerSet::Found found = syntax_->sets.recover.find(buffer_, pos_, is_end_, starts());
  const std::string_view before = std::string_view(buffer_).substr(head_, found.begin - head_);
  pos_ = found.begin;
  if (found.kind == MatchKind::kFull) {
    stream_value(found.begin - found.marker->own_lead(before));
    emit(EventKind::kArguments, head_, "\"}");
    pos_ = head_;
    return arguments_done();
  }
  stream_value(is_end_ ? buffer_.size() : whole_characters(found.begin - syntax_->sets.recover.possible_lead(before)));
  return false;
}

bool Machine::arguments_done() {
  ++call_.piece;
  phase_ = Phase::kPieces;
  return true;
}

// Gives up on the rest of the arguments.  It is passed on as it is, up to the text that ends the call.
bool Machine::break_call(chat::CallStatus status, const char* why) {
  complain(raw(pos_), why);
  set_status(status);
  phase_ = Phase::kRecover;
  return true;
}

bool Machine::recover() {
  MarkerSet::Found found;
  const bool is_text = syntax_->format->calls.arguments != format::ArgumentStyle::kParameters || call_.has_arguments;
  const MarkerSet& set = thoughts_.have_call ? syntax_->sets.reasoning_recover : syntax_->sets.recover;
  if (!scan(set, is_text ? EventKind::kArguments : EventKind::kMarker, found)) return false;
  if (found.id == kReasoningClose) return thought_ends(found);
  pos_ = head_;
  phase_ = Phase::kAfterCall;
  const std::size_t behind = syntax_->behind_arguments();
  if (behind < syntax_->piece_markers.size() && found.marker == &syntax_->piece_markers[behind]) {
    call_.piece = behind;  // an id follows
    phase_ = Phase::kPieces;
  }
  return true;
}

// Reads the text that closes a call.  A missing close is a mistake, but the call stays a call.
bool Machine::after_call() {
  if (attempt_.is_open) return nameless_object_ends();
  if (!syntax_->call_close.empty() || call_.is_fenced) {
    std::size_t at = skip_space(pos_);
    if (call_.is_fenced && at < buffer_.size()) {
      const Match fence = fence_close(at);
      if (fence.kind == MatchKind::kPartial) return false;
      call_.is_fenced = false;
      if (fence.kind == MatchKind::kFull) pos_ = at + fence.size;
      at = skip_space(pos_);
    }
    if (at == buffer_.size()) {
      if (!is_end_) return false;
      ending_.is_open = true;
    } else if (const MatchKind next = call_close(at); next != MatchKind::kNone) {
      return next == MatchKind::kFull;
    }
  }
  end_call(raw(head_));
  phase_ = Phase::kBetween;
  return true;
}

// Reads the text that closes the call at `at`, if it is there.  kFull means that another call begins instead, in the
// same markers; kPartial means that more text is needed.
MatchKind Machine::call_close(std::size_t at) {
  const bool is_json = syntax_->format->calls.envelope != format::Envelope::kTags;
  const bool is_behind_json = is_json || syntax_->format->calls.arguments != format::ArgumentStyle::kParameters;
  const std::size_t close = is_behind_json ? behind_brackets(at, syntax_->call_close) : at;
  if (close == buffer_.size() && !is_end_) return MatchKind::kPartial;
  const MarkerSet::Found found =
      close < buffer_.size() ? syntax_->sets.after.at(buffer_, close, is_end_, starts()) : MarkerSet::Found{};
  if (found.kind == MatchKind::kPartial) return MatchKind::kPartial;
  const std::size_t next_object = is_json ? next_object_at(at) : 0;
  if (next_object == buffer_.size()) return MatchKind::kPartial;
  const bool is_close = found.kind == MatchKind::kFull && found.id == kCallClose;
  const bool is_begun =
      is_close && found.marker != &syntax_->call_close && syntax_->call_close.core().starts_with(found.marker->core());
  if (is_begun || found.kind == MatchKind::kNone) {
    const MatchKind second = second_call(is_close ? close + found.size : close);
    if (second != MatchKind::kNone) return second;
  }
  if (is_close) {
    if (close > at) set_status(chat::CallStatus::kMalformed);
    pos_ = close + found.size;
    emit(EventKind::kMarker, pos_);
    if (syntax_->format->calls.content_behind) trail_.text = found.marker->trail();
    trail_.of_reasoning = false;
  } else if (next_object != 0) {
    end_call(raw(head_));
    pos_ = next_object;
    begin_attempt(section_.is_open, attempt_.opening);
    (void)start_body();
    return MatchKind::kFull;
  } else {
    if (found.kind == MatchKind::kNone) complain(raw(at), "a tool call is not closed");
    take_brackets_of_close(at);
  }
  return MatchKind::kNone;
}

// Takes the brackets at `at` with which the close of a call begins, where the rest of it is missing.  If an open section's
// close begins with them too, they are rather its own.
void Machine::take_brackets_of_close(std::size_t at) {
  const std::string& close = syntax_->call_close.core();
  const std::size_t size = close.find_first_not_of("}])");
  if (size == 0 || size == std::string::npos || buffer_.compare(at, size, close, 0, size) != 0) return;
  if (section_.is_open && syntax_->section_close.core().starts_with(close.substr(0, size))) return;
  pos_ = at + size;
  emit(EventKind::kMarker, pos_);
}

void Machine::set_status(chat::CallStatus status) {
  if (call().status == chat::CallStatus::kOk || call().status == chat::CallStatus::kUnknownTool) call().status = status;
}

void Machine::end_call(std::size_t raw_end) {
  if (!call_.is_reported) return;
  call_.is_reported = false;
  call().raw_end = raw_end;
  judge_call();
  append(new_events(),
         {EventKind::kCallEnd, raw(head_), raw(head_), "", message_.tool_calls.size() - 1, std::nullopt, false});
}

// Returns whether a call may follow another where nothing marks it, and no list tells the names of tools: inside of a
// section that has a close, if more than a name tells a call.
bool Machine::follows_in_section() const {
  const auto& markers = syntax_->piece_markers;
  return !syntax_->options.tools && !thoughts_.have_call && !syntax_->section_close.empty() &&
         std::ranges::any_of(markers, [](const Marker& marker) { return !marker.empty(); });
}

// Looks for another call after a call.  If there is none, returns to the text around the calls.
bool Machine::between() {
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return false;
  const MarkerSet::Found found = syntax_->sets.between.at(buffer_, at, is_end_, starts());
  if (found.kind == MatchKind::kPartial) return false;
  if (found.kind == MatchKind::kFull && found.id == kCallClose) {  // written twice
    pos_ = at + found.size;
    emit(EventKind::kMarker, pos_);
    return true;
  }
  const MatchKind brackets = found.kind == MatchKind::kNone ? brackets_between(at) : MatchKind::kNone;
  if (brackets != MatchKind::kNone) return brackets == MatchKind::kFull;
  const bool can_start = found.kind == MatchKind::kNone && syntax_->call_open.empty() && section_.is_open;
  const bool is_on_its_own_line = !syntax_->format->calls.separator.empty() && syntax_->separator.empty() && at > pos_;
  bool is_called = can_start && (section_.expects_call || is_json_at(at) || is_on_its_own_line);
  if (can_start && !is_called) {
    const MatchKind named = tool_at(at);
    if (named == MatchKind::kPartial) return false;
    is_called = named == MatchKind::kFull || follows_in_section();
  }
  if (is_called) {
    pos_ = at;
    begin_attempt(section_.is_open, Opening::kMarker);
    return start_body();
  }
  if (found.kind == MatchKind::kFull && (found.id == kSeparator || found.id == kHeader)) {
    pos_ = at + found.size;
    emit(EventKind::kMarker, pos_);
    section_.expects_call = true;
    return true;
  }
  if (thoughts_.have_call && section_.is_open && found.kind == MatchKind::kFull && found.id == kCallOpen) {
    // In reasoning, nothing else looks for openers of mere punctuation.
    pos_ = at + found.size;
    begin_attempt(true, Opening::kMarker);
    return start_body();
  }
  phase_ = thoughts_.have_call ? Phase::kReasoning : Phase::kTop;
  thoughts_.is_layout = thoughts_.have_call;
  top_.is_blank = top_.is_layout = true;
  section_.expects_call = false;
  return true;
}

}  // namespace rondo::parse
