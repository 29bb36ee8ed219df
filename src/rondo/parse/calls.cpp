// Tool calls: sections, names, JSON envelopes, JSON arguments.
#include <algorithm>

#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

using format::CallPiece;
using format::is_blank;
using format::is_space;

constexpr std::size_t kMostBrackets = 64;           // closed once too often, with the white space between them
constexpr std::size_t kLongestAttempt = 1U << 20U;  // bytes held back for a JSON call whose name comes last

bool is_name_byte(char byte) {
  return static_cast<unsigned char>(byte) > 0x20 &&
         std::string_view("<>{}[]()\"'`,=|").find(byte) == std::string_view::npos;
}

}  // namespace

bool Machine::start_body() {
  piece_ = 0;
  name_.clear();
  has_name_ = committed_ = arguments_started_ = arguments_are_string_ = false;
  id_.reset();
  object_depth_ = 0;
  capture_ = Capture::kNone;
  early_arguments_.reset();
  is_fenced_ = false;
  scanner_ = JsonScanner();
  phase_ = syntax_->format->calls.envelope == format::Envelope::kTags ? Phase::kPieces : Phase::kJson;
  return true;
}

bool Machine::pieces() {
  const format::Calls& calls = syntax_->format->calls;
  if (piece_ >= calls.pieces.size()) {
    phase_ = Phase::kAfterCall;
    return true;
  }
  bool wait = false;
  if (piece_ == 0 && (repeated_open(wait) || json_instead(wait))) return !wait;
  const CallPiece& piece = calls.pieces[piece_];
  switch (piece.kind) {
    case CallPiece::Kind::kLiteral: return piece_literal(syntax_->piece_markers[piece_]);
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
  const Match match = literal.match(std::string_view(buffer_).substr(at), is_end_, starts());
  if (match.kind == MatchKind::kPartial) return false;
  if (match.kind == MatchKind::kNone) {
    if (const std::size_t next = syntax_->behind_optional(piece_); next != 0 && !syntax_->piece_markers[next].empty()) {
      const Match other = syntax_->piece_markers[next].match(std::string_view(buffer_).substr(at), is_end_, starts());
      if (other.kind == MatchKind::kPartial) return false;
      if (other.kind == MatchKind::kFull) {
        piece_ = next;
        return true;
      }
    }
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
  const std::vector<CallPiece>& all = syntax_->format->calls.pieces;
  const bool json_next =
      syntax_->format->calls.arguments != format::ArgumentStyle::kParameters &&
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
      const MarkerSet::Found found = syntax_->slot_sets[piece_].at(buffer_, next, is_end_, starts());
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
    const bool is_tool = std::any_of(syntax_->tools.begin(), syntax_->tools.end(),
                                     [&rest](const chat::ToolDefinition& tool) { return tool.name == rest; });
    if (is_tool) return rest;
    if (name.find('.', from) == std::string::npos)
      return syntax_->tools.empty() || from == 0 ? rest : name.substr(name.find('.') + 1);
  }
}

bool Machine::start_arguments() {
  const bool is_proven =
      std::any_of(syntax_->piece_markers.begin(), syntax_->piece_markers.begin() + static_cast<std::ptrdiff_t>(piece_),
                  [](const Marker& marker) { return !marker.empty(); });
  if (attempt_ && !is_proven && !syntax_->parameter_open.empty() &&
      !(syntax_->options.tools && syntax_->is_known_tool(name_))) {
    // Nothing but a word behind the opener so far: what follows must be the format's.
    const std::size_t at = skip_space(pos_);
    if (at == buffer_.size() && !is_end_) return false;
    const MarkerSet::Found found =
        at < buffer_.size() ? syntax_->parameter_set.at(buffer_, at, is_end_, starts()) : MarkerSet::Found{};
    if (found.kind == MatchKind::kPartial) return false;
    if (found.kind == MatchKind::kNone) return fail_attempt(pos_, "the tool call does not go on as its format says");
  }
  if (!commit(pos_)) return true;
  if (syntax_->format->calls.arguments == format::ArgumentStyle::kParameters) {
    parameter_count_ = 0;
    phase_ = Phase::kParameter;
  } else {
    scanner_ = JsonScanner();
    phase_ = Phase::kJsonArguments;
  }
  return true;
}

// The name is known: the call is reported, with the bytes up to `upto`.  False if it turned out to be text.
bool Machine::commit(std::size_t upto) {
  if (!may_commit()) {
    (void)fail_attempt(pos_, "text in the shape of a tool call names no tool");
    return false;
  }
  chat::ToolCall made;
  made.id = id_;
  made.name = name_;
  made.raw_begin = made.raw_end = attempt_begin_;
  if (!syntax_->is_known_tool(name_)) {
    made.status = chat::CallStatus::kUnknownTool;
    complain(attempt_begin_, "there is no tool `" + name_ + "`");
  }
  if (!syntax_->options.parallel_calls && !message_.tool_calls.empty())
    complain(attempt_begin_, "a second tool call where one is allowed");
  if (!syntax_->options.only_tool.empty() && name_ != syntax_->options.only_tool)
    complain(attempt_begin_,
             "the tool `" + name_ + "` is called where `" + syntax_->options.only_tool + "` was asked for");
  message_.tool_calls.push_back(std::move(made));
  attempt_ = false;
  committed_ = true;
  Event event{EventKind::kCallStart, raw(head_), raw(upto), name_, message_.tool_calls.size() - 1, id_, false};
  head_ = std::max(head_, upto);
  push(std::move(event));
  return true;
}

std::string Machine::decoded_string(std::size_t begin, std::size_t end) const {
  const std::string_view text = std::string_view(buffer_).substr(begin, end - begin);
  if (const auto parsed = json::parse(text); parsed.ok()) {
    return parsed.value().is_string() ? parsed.value().as_string() : std::string();
  }
  const auto loose = read_literal(text, NestedSyntax{"", "", true});
  return loose && loose->is_string() ? loose->as_string() : std::string();
}

bool Machine::json_envelope() {
  bool wait_for_open = false;
  if (!scanner_.started() && repeated_open(wait_for_open)) return !wait_for_open;
  while (pos_ < buffer_.size()) {
    if (!scanner_.started() && is_space(buffer_[pos_])) {
      ++pos_;
      continue;
    }
    if (!scanner_.started() && attempt_) {
      const Match fence = fence_open(pos_);
      if (fence.kind == MatchKind::kPartial) break;
      pos_ += fence.size;
      if (fence.kind == MatchKind::kFull) continue;
    }
    bool wait = false;
    if (is_string_forgotten(wait)) return json_bad();
    if (wait) break;
    pos_ += scanner_.plain_prefix(std::string_view(buffer_).substr(pos_));
    if (pos_ == buffer_.size()) break;
    bool failed = false;
    if (!json_step(buffer_[pos_], failed)) return true;
    if (failed) {
      if (json_bad()) return true;
      break;
    }
    ++pos_;
    if (scanner_.done()) {
      if (attempt_ && object_depth_ == 0 && opening_ == Opening::kMarker) return end_empty_section();
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

// Whether the string that is being read was never closed: a line end lies in it, and what ends a call follows.
bool Machine::is_string_forgotten(bool& wait) const {
  if (!scanner_.is_doubtful()) return false;
  const MarkerSet::Found found = syntax_->recover_set.at(buffer_, pos_, is_end_, starts());
  wait = found.kind == MatchKind::kPartial;
  return found.kind == MatchKind::kFull;
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
    if (!json_value_ends()) return false;
    --pos_;
  } else if (object_depth_ > 0 && scanner_.depth() < object_depth_) {
    ++pos_;
    if (!json_call_ends()) return false;
    --pos_;
  }
  return true;
}

bool Machine::has_role(const std::vector<std::string>& role, std::size_t frames) const {
  if (role.empty() || frames < object_depth_) return false;
  const std::size_t depth = frames - object_depth_ + 1;
  const auto key = [this](std::size_t i) -> const std::string& { return scanner_.key_at(object_depth_ + i); };
  const bool is_last =
      key(depth - 1) == role.back() || (chat::is_arguments_key(key(depth - 1)) && chat::is_arguments_key(role.back()));
  if (!is_last) return false;
  // Models also write the shape of the public APIs, where name and arguments may stand one level deeper.
  if (depth != role.size()) return depth == 1 || (depth == 2 && key(0) == chat::kCallFunctionKey);
  for (std::size_t i = 0; i + 1 < role.size(); ++i) {
    if (key(i) != role[i]) return false;
  }
  return true;
}

// Whether `key` may stand in the object of a call that no marker announces.
bool Machine::is_call_key(const std::string& key) const {
  const format::JsonRoles& roles = syntax_->format->calls.roles;
  if (roles.name_is_key || key == chat::kCallTypeKey || key == chat::kCallFunctionKey) return true;
  const auto begins = [&key](const std::vector<std::string>& role) {
    return !role.empty() && (role.front() == key || role.back() == key);
  };
  return begins(roles.name) || begins(roles.arguments) || begins(roles.id) || chat::is_arguments_key(key);
}

void Machine::json_value_begins(char byte) {
  const bool is_container = byte == '{' || byte == '[';
  const std::size_t frames = scanner_.depth() - (is_container ? 1 : 0);
  if (capture_ != Capture::kNone) return;
  if (object_depth_ == 0) {
    if (byte != '{' || (frames == 1 && !scanner_.is_array_at(1)) || frames > 1) return;
    object_depth_ = frames + 1;
    if (!attempt_) {
      emit(EventKind::kMarker, pos_);
      begin_attempt(in_section_, opening_);
    }
    name_.clear();
    id_.reset();
    has_name_ = committed_ = false;
    early_arguments_.reset();
    return;
  }
  const format::JsonRoles& roles = syntax_->format->calls.roles;
  const bool is_bare = opening_ == Opening::kBare || opening_ == Opening::kInText;
  if (is_bare && frames == object_depth_ && !has_name_ && !early_arguments_) {
    // Without a marker only the format's own keys make a call.
    if (!is_call_key(scanner_.key_at(object_depth_))) {
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
    arguments_are_string_ = byte == '"' || byte == '\'';
    scanner_.forget_loose();
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
  capture_is_scalar_ = !is_container && byte != '"' && byte != '\'';
  capture_begin_ = base_ + pos_;
}

// The captured value is [capture_begin_, pos_).
bool Machine::json_value_ends() {
  const std::size_t begin = capture_begin_ - base_;
  const Capture what = std::exchange(capture_, Capture::kNone);
  if (what == Capture::kId) {
    const bool is_string = buffer_[begin] == '"' || buffer_[begin] == '\'';
    id_ = is_string ? decoded_string(begin, pos_) : buffer_.substr(begin, pos_ - begin);
    if (committed_) {
      call().id = id_;
      emit(EventKind::kCallId, pos_, *id_);
    }
  } else if (what == Capture::kName) {
    name_ = decoded_string(begin, pos_);
    if (name_.empty()) {
      (void)fail_attempt(pos_, "the name of a tool call cannot be read");
      return false;
    }
    has_name_ = true;
    if (!early_arguments_) return true;
    const auto [from, to] = *early_arguments_;
    if (!commit(from - base_)) return false;
    emit_arguments(from - base_, to - base_, early_is_loose_);
  } else if (committed_) {
    emit_arguments(begin, pos_, scanner_.is_loose());
  } else {
    early_arguments_ = {base_ + begin, base_ + pos_};
    early_is_loose_ = scanner_.is_loose();
  }
  return true;
}

// The arguments are [begin, end), of which [head_, end) is not reported yet.
void Machine::emit_arguments(std::size_t begin, std::size_t end, bool is_loose) {
  if (arguments_are_string_) {
    emit(EventKind::kArguments, end, decoded_string(begin, end));
    is_loose = !json::parse(call().arguments).ok();
  } else {
    emit(EventKind::kArguments, end);
  }
  if (!is_loose) return;
  complain(raw(begin), "the arguments of a tool call are no valid JSON");
  set_status(chat::CallStatus::kInvalidJson);
}

void Machine::set_status(chat::CallStatus status) {
  if (call().status == chat::CallStatus::kOk || call().status == chat::CallStatus::kUnknownTool) call().status = status;
}

// The call's object ends at pos_.
bool Machine::json_call_ends() {
  object_depth_ = 0;
  if (!committed_) {
    const bool is_half = (opening_ == Opening::kBare || opening_ == Opening::kInText) &&
                         (!has_name_ || opening_ == Opening::kInText || syntax_->format->calls.roles.name_is_key);
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
  const bool is_bare = opening_ == Opening::kBare || opening_ == Opening::kInText;
  if (attempt_ && (!has_name_ || is_bare || early_arguments_))
    return fail_attempt(pos_, "the JSON of a tool call cannot be read");
  if (attempt_ || committed_) {
    if (attempt_ && !commit(pos_)) return true;
    return break_json();
  }
  phase_ = Phase::kAfterCall;  // between the elements of an array that was never closed
  return true;
}

// The byte at pos_ does not fit: what was read is invalid, or, if the turn ends here, cut off.
bool Machine::break_json() {
  const MarkerSet::Found found = syntax_->recover_set.at(buffer_, pos_, is_end_, starts());
  if (found.kind == MatchKind::kPartial) return false;
  if (found.kind != MatchKind::kFull || found.id != kStop)
    return break_call(chat::CallStatus::kInvalidJson, "the JSON of a tool call is invalid");
  open_at_end_ = true;
  return break_call(chat::CallStatus::kUnclosed, "a tool call is not closed");
}

bool Machine::json_arguments() {
  if (!arguments_started_) {
    const std::size_t at = skip_space(pos_);
    if (at == buffer_.size()) return false;
    const MarkerSet::Found found = syntax_->after_set.at(buffer_, at, is_end_, starts());
    if (found.kind == MatchKind::kPartial) return false;
    pos_ = at;
    emit(EventKind::kMarker, pos_);
    if (found.kind == MatchKind::kFull && buffer_[at] != '{') {
      emit(EventKind::kArguments, pos_, "{}");
      return arguments_done();
    }
    if (std::string_view("{[\"'").find(buffer_[at]) == std::string_view::npos) {
      if (const std::string key = only_text_parameter(); !key.empty()) {
        emit(EventKind::kArguments, head_, "{" + json::to_compact(json::Value(key)) + ":\"");
        phase_ = Phase::kRawArguments;
        return true;
      }
    }
    arguments_started_ = true;
    arguments_are_string_ = buffer_[at] == '"' || buffer_[at] == '\'';
  }
  while (pos_ < buffer_.size()) {
    bool wait = false;
    if (is_string_forgotten(wait)) return break_json();
    if (wait) break;
    pos_ += scanner_.plain_prefix(std::string_view(buffer_).substr(pos_));
    if (pos_ == buffer_.size()) break;
    const JsonScanner::Step step = scanner_.step(buffer_[pos_]);
    if (step.bad) {
      if (break_json()) return true;
      break;
    }
    if (!step.left_over) ++pos_;
    if (!scanner_.done()) continue;
    emit_arguments(head_, pos_, scanner_.is_loose());
    return arguments_done();
  }
  // Should the JSON break off here, the white space before what ends the call is the template's own.
  const std::size_t own = syntax_->recover_set.possible_lead(std::string_view(buffer_).substr(head_, pos_ - head_));
  if (!arguments_are_string_) emit(EventKind::kArguments, whole_characters(pos_ - own));
  return false;
}

// The one parameter of the tool that is called, if it has one and that is a text; else "".
std::string Machine::only_text_parameter() const {
  for (const chat::ToolDefinition& tool : syntax_->tools) {
    const json::Value* properties = tool.name == name_ ? tool.parameters.find("properties") : nullptr;
    if (properties == nullptr || !properties->is_object() || properties->as_object().size() != 1) continue;
    const json::Member& only = *properties->as_object().begin();
    const auto types = schema_types(only.value, tool.parameters);
    if (types && types->is_only(TypeSet::kString)) return only.key;
  }
  return "";
}

// Models write code where an object with the code is expected: text up to what ends the call.
bool Machine::raw_arguments() {
  const MarkerSet::Found found = syntax_->recover_set.find(buffer_, pos_, is_end_, starts());
  const std::string_view before = std::string_view(buffer_).substr(head_, found.begin - head_);
  pos_ = found.begin;
  if (found.kind == MatchKind::kFull) {
    stream_value(found.begin - found.marker->own_lead(before));
    emit(EventKind::kArguments, head_, "\"}");
    pos_ = head_;
    return arguments_done();
  }
  stream_value(is_end_ ? buffer_.size() : whole_characters(found.begin - syntax_->recover_set.possible_lead(before)));
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
  set_status(status);
  phase_ = Phase::kRecover;
  return true;
}

bool Machine::recover() {
  MarkerSet::Found found;
  const bool is_text = syntax_->format->calls.arguments != format::ArgumentStyle::kParameters;
  const bool is_marker = scan(syntax_->recover_set, is_text ? EventKind::kArguments : EventKind::kMarker, found);
  if (!is_marker) return false;
  pos_ = head_;
  phase_ = Phase::kAfterCall;
  return true;
}

bool Machine::after_call() {
  if (syntax_->call_close.empty() && !is_fenced_) {
    end_call(raw(head_));
    phase_ = Phase::kBetween;
    return true;
  }
  std::size_t at = skip_space(pos_);
  if (is_fenced_ && at < buffer_.size()) {
    const Match fence = fence_close(at);
    if (fence.kind == MatchKind::kPartial) return false;
    is_fenced_ = false;
    if (fence.kind == MatchKind::kFull) pos_ = at + fence.size;
    at = skip_space(pos_);
  }
  if (at == buffer_.size()) {
    if (!is_end_) return false;
    open_at_end_ = true;
  } else {
    // Models close a bracket too often: what is followed by the call's close belongs to the call.
    std::size_t close = at;
    const bool is_json = syntax_->format->calls.envelope != format::Envelope::kTags;
    while (is_json && close < buffer_.size() && close - at < kMostBrackets &&
           (buffer_[close] == '}' || buffer_[close] == ']'))
      close = skip_space(close + 1);
    if (close == buffer_.size() && !is_end_) return false;
    const MarkerSet::Found found =
        close < buffer_.size() ? syntax_->after_set.at(buffer_, close, is_end_, starts()) : MarkerSet::Found{};
    if (found.kind == MatchKind::kPartial) return false;
    if (found.kind == MatchKind::kFull && found.id == kCallClose) {
      if (close > at) set_status(chat::CallStatus::kMalformed);
      pos_ = close + found.size;
      emit(EventKind::kMarker, pos_);
    } else if (is_json && buffer_[at] == '{') {  // a second call in the same markers
      end_call(raw(head_));
      pos_ = at;
      begin_attempt(in_section_, opening_);
      return start_body();
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
  events_.push_back(
      {EventKind::kCallEnd, raw(head_), raw(head_), "", message_.tool_calls.size() - 1, std::nullopt, false});
}

bool Machine::between() {
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return false;
  const MarkerSet::Found found = syntax_->between_set.at(buffer_, at, is_end_, starts());
  if (found.kind == MatchKind::kPartial) return false;
  const bool can_start = found.kind == MatchKind::kNone && syntax_->call_open.empty() && in_section_;
  const bool is_on_its_own_line = !syntax_->format->calls.separator.empty() && syntax_->separator.empty() && at > pos_;
  if (can_start && (expect_call_ || is_json_at(at) || is_on_its_own_line)) {
    pos_ = at;
    begin_attempt(in_section_, Opening::kMarker);
    return start_body();
  }
  if (found.kind == MatchKind::kFull && (found.id == kSeparator || found.id == kHeader)) {
    pos_ = at + found.size;
    emit(EventKind::kMarker, pos_);
    expect_call_ = true;
    return true;
  }
  phase_ = from_reasoning_ ? Phase::kReasoning : Phase::kTop;
  reasoning_layout_ = from_reasoning_;
  blank_ = layout_ = true;
  expect_call_ = false;
  return true;
}

}  // namespace rondo::parse
