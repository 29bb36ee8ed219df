// Tool calls: sections, names, JSON envelopes, JSON arguments.
#include <algorithm>

#include "format/units.h"
#include "json/parse.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

using format::CallPiece;
using format::is_blank;
using format::is_space;

constexpr std::size_t kLongestName = 256;           // OpenAI allows 64
constexpr std::size_t kLongestAttempt = 1U << 20U;  // bytes held back for a JSON call whose name comes last

bool is_name_byte(char byte) {
  return static_cast<unsigned char>(byte) > 0x20 &&
         std::string_view("<>{}[]()\"'`,=|").find(byte) == std::string_view::npos;
}

}  // namespace

void Machine::begin_attempt(bool in_section) {
  in_section_ = in_section;
  attempt_ = true;
  attempt_begin_ = raw(head_);
  bare_ = false;
  expect_call_ = false;
}

// What was read becomes text; reading goes on at `resume`.
bool Machine::fail_attempt(std::size_t resume, const char* why) {
  complain(attempt_begin_, why);
  attempt_ = false;
  const bool had_calls = !message_.tool_calls.empty() && in_section_;
  if (!had_calls) in_section_ = false;
  emit(EventKind::kContent, std::max(resume, head_));
  phase_ = Phase::kTop;
  blank_ = false;
  return true;
}

bool Machine::start_body() {
  piece_ = 0;
  name_.clear();
  has_name_ = committed_ = arguments_started_ = arguments_are_string_ = false;
  id_.reset();
  object_depth_ = 0;
  capture_ = Capture::kNone;
  early_arguments_.reset();
  scanner_ = JsonScanner();
  phase_ = format_->calls.envelope == format::Envelope::kTags ? Phase::kPieces : Phase::kJson;
  return true;
}

bool Machine::section() {
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return false;
  const MarkerSet::Found found = section_set_.at(buffer_, at, is_end_);
  if (found.kind == MatchKind::kPartial) return false;
  if (found.kind == MatchKind::kFull && found.id == kCallOpen) {
    pos_ = at + found.size;
    return start_body();
  }
  const bool is_json = format_->calls.envelope != format::Envelope::kTags && (buffer_[at] == '{' || buffer_[at] == '[');
  if (found.kind == MatchKind::kNone && (call_open_.empty() || is_json)) {
    pos_ = at;
    return start_body();
  }
  return fail_attempt(at, "the tool calls hold no call");
}

bool Machine::pieces() {
  const format::Calls& calls = format_->calls;
  if (piece_ >= calls.pieces.size()) {
    phase_ = Phase::kAfterCall;
    return true;
  }
  const CallPiece& piece = calls.pieces[piece_];
  switch (piece.kind) {
    case CallPiece::Kind::kLiteral: return piece_literal(piece_markers_[piece_]);
    case CallPiece::Kind::kArguments: return start_arguments();
    default: return piece_slot(piece.kind);
  }
}

bool Machine::piece_literal(const Marker& literal) {
  if (literal.empty()) {
    ++piece_;
    return true;
  }
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return false;
  const Match match = literal.match(std::string_view(buffer_).substr(at), is_end_);
  if (match.kind == MatchKind::kPartial) return false;
  if (match.kind == MatchKind::kNone) {
    if (attempt_) return fail_attempt(at, "the tool call does not go on as its format says");
    phase_ = Phase::kAfterCall;  // what stands behind the arguments may be missing
    return true;
  }
  pos_ = at + match.size;
  ++piece_;
  if (!attempt_) emit(EventKind::kMarker, pos_);
  return true;
}

// A name, id or index: up to white space or to what the format writes behind it.
bool Machine::piece_slot(CallPiece::Kind kind) {
  const std::vector<CallPiece>& all = format_->calls.pieces;
  const bool json_next =
      format_->calls.arguments != format::ArgumentStyle::kParameters &&
      std::all_of(all.begin() + static_cast<std::ptrdiff_t>(piece_) + 1, all.end(), [](const CallPiece& piece) {
        return piece.kind == CallPiece::Kind::kArguments || is_blank(piece.text);
      });
  const std::size_t begin = skip_space(pos_);
  std::size_t end = begin;
  bool is_found = false;
  for (; end < buffer_.size() && !is_found; end += is_found ? 0 : 1) {
    const char byte = buffer_[end];
    const std::size_t next = skip_space(end);
    if (next < buffer_.size()) {
      const MarkerSet::Found found = slot_sets_[piece_].at(buffer_, next, is_end_);
      if (found.kind == MatchKind::kPartial) return false;
      is_found = found.kind == MatchKind::kFull;
    } else if (!is_end_) {
      return false;
    }
    is_found = is_found || (json_next && byte == '{') || is_space(byte);
    if (!is_found && (!is_name_byte(byte) || end - begin > kLongestName)) {
      return attempt_ ? fail_attempt(end, "the name of a tool call cannot be read")
                      : break_call(chat::CallStatus::kMalformed, "a tool call is malformed");
    }
  }
  if (!is_found && !(is_end_ && !attempt_)) return false;
  std::string text = buffer_.substr(begin, end - begin);
  const bool is_name = kind == CallPiece::Kind::kName || kind == CallPiece::Kind::kNameInId;
  if (text.empty() && is_name && !has_name_) return fail_attempt(end, "a tool call has no name");
  pos_ = end;
  ++piece_;
  if (is_name && !has_name_) {
    name_ = kind == CallPiece::Kind::kNameInId ? name_in_id(text) : text;
    if (kind == CallPiece::Kind::kNameInId) id_ = std::move(text);
    has_name_ = true;
  } else if (kind == CallPiece::Kind::kId && !text.empty()) {
    id_ = std::move(text);
    if (committed_) {
      call().id = id_;
      emit(EventKind::kCallId, pos_, *id_);
    }
  }
  return true;
}

// `functions.NAME:0`: the known tool that the id names, else what stands between the last dot and the counter.
std::string Machine::name_in_id(const std::string& id) const {
  std::string name = id.substr(0, id.rfind(':') == std::string::npos ? id.size() : id.rfind(':'));
  for (std::size_t from = 0;; from = name.find('.', from) + 1) {
    std::string rest = name.substr(from);
    const bool is_tool = std::any_of(tools_.begin(), tools_.end(),
                                     [&rest](const chat::ToolDefinition& tool) { return tool.name == rest; });
    if (is_tool) return rest;
    if (name.find('.', from) == std::string::npos)
      return tools_.empty() || from == 0 ? rest : name.substr(name.find('.') + 1);
  }
}

bool Machine::start_arguments() {
  if (!commit(pos_)) return true;
  if (format_->calls.arguments == format::ArgumentStyle::kParameters) {
    parameter_count_ = 0;
    phase_ = Phase::kParameter;
  } else {
    scanner_ = JsonScanner();
    phase_ = Phase::kJsonArguments;
  }
  return true;
}

bool Machine::is_known_tool(const std::string& name) const {
  return !options_.tools || std::any_of(tools_.begin(), tools_.end(),
                                        [&name](const chat::ToolDefinition& tool) { return tool.name == name; });
}

// The name is known: the call is reported, with the bytes up to `upto`.  False if it turned out to be text.
bool Machine::commit(std::size_t upto) {
  if (bare_ && !is_known_tool(name_)) {
    (void)fail_attempt(pos_, "text in the shape of a tool call names no tool");
    return false;
  }
  chat::ToolCall made;
  made.id = id_;
  made.name = name_;
  made.raw_begin = made.raw_end = attempt_begin_;
  if (!is_known_tool(name_)) {
    made.status = chat::CallStatus::kUnknownTool;
    complain(attempt_begin_, "there is no tool `" + name_ + "`");
  }
  message_.tool_calls.push_back(std::move(made));
  attempt_ = false;
  committed_ = true;
  Event event{EventKind::kCallStart, raw(head_), raw(upto), name_, message_.tool_calls.size() - 1, id_};
  head_ = std::max(head_, upto);
  push(std::move(event));
  return true;
}

std::string Machine::decoded_string(std::size_t begin, std::size_t end) const {
  const auto parsed = json::parse(std::string_view(buffer_).substr(begin, end - begin));
  return parsed.ok() && parsed.value().is_string() ? parsed.value().as_string() : std::string();
}

bool Machine::json_envelope() {
  while (pos_ < buffer_.size()) {
    if (!scanner_.started() && is_space(buffer_[pos_])) {
      ++pos_;
      continue;
    }
    bool failed = false;
    if (!json_step(buffer_[pos_], failed)) return true;
    if (failed) return json_bad();
    ++pos_;
    if (scanner_.done()) {
      emit(EventKind::kMarker, pos_);
      phase_ = Phase::kAfterCall;
      return true;
    }
  }
  if (attempt_ && pos_ - head_ > kLongestAttempt) return fail_attempt(pos_, "a tool call holds no name");
  if (committed_ && capture_ == Capture::kArguments && !arguments_are_string_)
    emit(EventKind::kArguments, whole_characters(pos_));
  return false;
}

// Takes one byte of a JSON envelope.  False if the phase changed instead; `failed` if the byte cannot stand there.
bool Machine::json_step(char byte, bool& failed) {
  const JsonScanner::Step step = scanner_.step(byte);
  failed = step.bad;
  if (step.bad) return true;
  if (step.ended_before && capture_ != Capture::kNone && capture_is_scalar_ && !json_value_ends()) return false;
  if (step.begins_value) json_value_begins(byte);
  if (phase_ != Phase::kJson) return false;
  if (!step.ends_value) return true;
  if (capture_ != Capture::kNone && scanner_.depth() == capture_depth_) {
    ++pos_;  // the value includes this byte
    const bool goes_on = json_value_ends();
    --pos_;
    if (!goes_on) return false;
  } else if (object_depth_ > 0 && scanner_.depth() < object_depth_) {
    ++pos_;
    const bool goes_on = json_call_ends();
    --pos_;
    return goes_on;
  }
  return true;
}

bool Machine::has_role(const std::vector<std::string>& role, std::size_t frames) const {
  if (role.empty() || frames < object_depth_ || frames - object_depth_ + 1 != role.size()) return false;
  for (std::size_t i = 0; i < role.size(); ++i) {
    if (scanner_.key_at(object_depth_ + i) != role[i]) return false;
  }
  return true;
}

void Machine::json_value_begins(char byte) {
  const bool is_container = byte == '{' || byte == '[';
  const std::size_t frames = scanner_.depth() - (is_container ? 1 : 0);
  if (capture_ != Capture::kNone) return;
  if (object_depth_ == 0) {
    if (byte != '{' || (frames == 1 && !scanner_.is_array_at(1)) || frames > 1) return;
    object_depth_ = frames + 1;
    if (!attempt_) begin_attempt(in_section_);
    name_.clear();
    id_.reset();
    has_name_ = committed_ = false;
    early_arguments_.reset();
    return;
  }
  const format::JsonRoles& roles = format_->calls.roles;
  if (bare_ && frames == object_depth_ && !has_name_ && !early_arguments_) {
    // Without a marker only the format's own keys make a call.
    const std::string& key = scanner_.key_at(object_depth_);
    const auto begins = [&key](const std::vector<std::string>& role) { return !role.empty() && role.front() == key; };
    if (!roles.name_is_key && !begins(roles.name) && !begins(roles.arguments) && !begins(roles.id)) {
      (void)fail_attempt(pos_, "text in the shape of a tool call is none");
      return;
    }
  }
  const bool is_keyed_call = roles.name_is_key && frames == object_depth_ && !committed_;
  if (is_keyed_call) {
    name_ = scanner_.key_at(object_depth_);
    has_name_ = true;
  }
  if (is_keyed_call || (!roles.name_is_key && has_role(roles.arguments, frames))) {
    capture_ = Capture::kArguments;
    arguments_are_string_ = byte == '"';
    if (has_name_ && !committed_ && !commit(pos_)) return;
    if (committed_) emit(EventKind::kMarker, pos_);
  } else if (has_role(roles.name, frames) && !has_name_) {
    capture_ = Capture::kName;
  } else if (has_role(roles.id, frames)) {
    capture_ = Capture::kId;
  } else {
    return;
  }
  capture_depth_ = frames;
  capture_is_scalar_ = !is_container && byte != '"';
  capture_begin_ = base_ + pos_;
}

// The captured value is [capture_begin_, pos_).
bool Machine::json_value_ends() {
  const std::size_t begin = capture_begin_ - base_;
  const Capture what = std::exchange(capture_, Capture::kNone);
  if (what == Capture::kId) {
    id_ = buffer_[begin] == '"' ? decoded_string(begin, pos_) : buffer_.substr(begin, pos_ - begin);
    if (committed_) {
      call().id = id_;
      emit(EventKind::kCallId, pos_, *id_);
    }
  } else if (what == Capture::kName) {
    name_ = buffer_[begin] == '"' ? decoded_string(begin, pos_) : "";
    if (name_.empty()) {
      (void)fail_attempt(pos_, "the name of a tool call cannot be read");
      return false;
    }
    has_name_ = true;
    if (!early_arguments_) return true;
    const auto [from, to] = *early_arguments_;
    if (!commit(from - base_)) return false;
    emit(EventKind::kArguments, to - base_,
         arguments_are_string_ ? decoded_string(from - base_, to - base_) : buffer_.substr(from - base_, to - from));
  } else if (committed_) {
    emit(EventKind::kArguments, pos_,
         arguments_are_string_ ? decoded_string(begin, pos_) : buffer_.substr(head_, pos_ - head_));
  } else {
    early_arguments_ = {base_ + begin, base_ + pos_};
  }
  return true;
}

// The call's object ends at pos_.
bool Machine::json_call_ends() {
  object_depth_ = 0;
  if (!committed_) {
    const bool is_half = bare_ && (!has_name_ || format_->calls.roles.name_is_key);
    if (!has_name_ || is_half) {
      (void)fail_attempt(pos_, "a tool call has no name");
      return false;
    }
    if (!commit(pos_)) return false;
  }
  emit(EventKind::kMarker, pos_);
  if (call().arguments.empty()) emit(EventKind::kArguments, pos_, "{}");
  if (!scanner_.done()) end_call(raw(pos_));
  return true;
}

bool Machine::json_bad() {
  if (attempt_ && has_name_ && !bare_ && !early_arguments_) {
    if (!commit(pos_)) return true;
    return break_call(chat::CallStatus::kInvalidJson, "the JSON of a tool call is invalid");
  }
  if (attempt_) return fail_attempt(pos_, "the JSON of a tool call cannot be read");
  if (committed_) return break_call(chat::CallStatus::kInvalidJson, "the JSON of a tool call is invalid");
  phase_ = Phase::kAfterCall;  // between the elements of an array that was never closed
  return true;
}

bool Machine::json_arguments() {
  if (!arguments_started_) {
    const std::size_t at = skip_space(pos_);
    if (at == buffer_.size()) return false;
    const MarkerSet::Found found = after_set_.at(buffer_, at, is_end_);
    if (found.kind == MatchKind::kPartial) return false;
    pos_ = at;
    emit(EventKind::kMarker, pos_);
    if (found.kind == MatchKind::kFull && buffer_[at] != '{') {
      emit(EventKind::kArguments, pos_, "{}");
      return arguments_done();
    }
    arguments_started_ = true;
    arguments_are_string_ = buffer_[at] == '"';
  }
  while (pos_ < buffer_.size()) {
    const JsonScanner::Step step = scanner_.step(buffer_[pos_]);
    if (step.bad) return break_call(chat::CallStatus::kInvalidJson, "the arguments of a tool call are no valid JSON");
    if (!step.left_over) ++pos_;
    if (!scanner_.done()) continue;
    emit(EventKind::kArguments, pos_,
         arguments_are_string_ ? decoded_string(head_, pos_) : buffer_.substr(head_, pos_ - head_));
    return arguments_done();
  }
  if (!arguments_are_string_) emit(EventKind::kArguments, whole_characters(pos_));
  return false;
}

bool Machine::arguments_done() {
  ++piece_;
  phase_ = Phase::kPieces;
  return true;
}

// The rest of the call's arguments cannot be read: they are passed on as they are, up to what ends the call.
bool Machine::break_call(chat::CallStatus status, const char* why) {
  complain(raw(pos_), why);
  if (call().status == chat::CallStatus::kOk || call().status == chat::CallStatus::kUnknownTool) call().status = status;
  phase_ = Phase::kRecover;
  return true;
}

bool Machine::recover() {
  MarkerSet::Found found;
  const bool is_text = format_->calls.arguments != format::ArgumentStyle::kParameters;
  const bool is_marker = scan(recover_set_, is_text ? EventKind::kArguments : EventKind::kMarker, found);
  if (!is_marker) return false;
  pos_ = head_;
  phase_ = Phase::kAfterCall;
  return true;
}

bool Machine::after_call() {
  if (call_close_.empty()) {
    end_call(raw(head_));
    phase_ = Phase::kBetween;
    return true;
  }
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) {
    if (!is_end_) return false;
    open_at_end_ = true;
  } else {
    const MarkerSet::Found found = after_set_.at(buffer_, at, is_end_);
    if (found.kind == MatchKind::kPartial) return false;
    if (found.kind == MatchKind::kFull && found.id == kCallClose) {
      pos_ = at + found.size;
      emit(EventKind::kMarker, pos_);
    } else if (found.kind == MatchKind::kNone) {
      complain(raw(at), "a tool call is not closed");
    }
  }
  end_call(raw(head_));
  phase_ = Phase::kBetween;
  return true;
}

void Machine::end_call(std::size_t raw_end) {
  if (!committed_) return;
  committed_ = false;
  call().raw_end = raw_end;
  events_.push_back({EventKind::kCallEnd, raw(head_), raw(head_), "", message_.tool_calls.size() - 1, std::nullopt});
}

bool Machine::between() {
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return false;
  const MarkerSet::Found found = between_set_.at(buffer_, at, is_end_);
  if (found.kind == MatchKind::kPartial) return false;
  const bool can_start = found.kind == MatchKind::kNone && call_open_.empty() && in_section_;
  const bool is_json = format_->calls.envelope != format::Envelope::kTags && (buffer_[at] == '{' || buffer_[at] == '[');
  const bool is_on_its_own_line = !format_->calls.separator.empty() && separator_.empty() && at > pos_;
  if (can_start && (expect_call_ || is_json || is_on_its_own_line)) {
    pos_ = at;
    begin_attempt(in_section_);
    return start_body();
  }
  if (found.kind == MatchKind::kFull && (found.id == kSeparator || found.id == kHeader)) {
    pos_ = at + found.size;
    emit(EventKind::kMarker, pos_);
    expect_call_ = true;
    return true;
  }
  phase_ = Phase::kTop;
  blank_ = layout_ = true;
  expect_call_ = false;
  return true;
}

}  // namespace rondo::parse
