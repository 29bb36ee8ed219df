// Calls that are JSON objects: finds their name, id and arguments.
#include <algorithm>
#include <utility>

#include "format/escapes.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

using format::is_space;

constexpr std::size_t kLongestStringEscape = 12;  // bytes of an escape of JSON: two of UTF-16

// Returns the string that `text` spells, quotes included; "" if `text` is not a string.
std::string decoded_string(std::string_view text) {
  if (const auto parsed = json::parse(text); parsed.ok()) {
    return parsed.value().is_string() ? parsed.value().as_string() : std::string();
  }
  const auto loose = read_literal(text, NestedSyntax{"", "", true});
  return loose && loose->is_string() ? loose->as_string() : std::string();
}

// Returns whether `value` is the schema of a tool's parameters.
bool is_schema(const json::Value& value) {
  const json::Value* type = value.find("type");
  const json::Value* properties = value.find("properties");
  const bool is_object = type != nullptr && type->is_string() && type->as_string() == "object";
  return is_object && (properties != nullptr ? properties->is_object() : value.as_object().size() == 1);
}

// Returns whether the template itself writes `value` as the constant.
bool is_constant(const format::JsonConstant& constant, const json::Value& value) {
  if (constant.value.empty()) return !value.is_object() && !value.is_array();
  const auto own = json::parse(constant.value);
  return own.ok() && own.value() == value;
}

}  // namespace

// Feeds the JSON of a call to the scanner.  The name decides whether the text is a call.  Until then it is held back.
bool Machine::json_envelope() {
  bool wait = false;
  if (begins_otherwise(wait)) return !wait;
  const bool is_begun = scanner_.started() || skip_json_lead();
  while (is_begun && pos_ < buffer_.size()) {
    if (is_string_forgotten(wait)) return json_bad();
    if (wait) break;
    const bool is_escaped = envelope_.capture == JsonCall::Capture::kArguments && has_escaped_arguments();
    const std::optional<JsonUnit> unit = next_json_unit(is_escaped);
    if (!unit) break;
    bool failed = false;
    if (!json_step(*unit, failed)) return true;
    if (failed) {
      if (json_bad()) return true;
      break;
    }
    pos_ += unit->size;
    if (scanner_.done()) return json_envelope_ends();
  }
  if (attempt_.is_open && pos_ - head_ > kLongestAttempt) return fail_attempt(pos_, "a tool call holds no name");
  if (call_.is_reported && envelope_.capture == JsonCall::Capture::kArguments && !call_.is_string)
    emit(EventKind::kArguments, whole_characters(pos_));
  return false;
}

// Returns whether something else than the JSON of a call follows its opener: the opener again, or a tool's name.  Also
// returns true if more text is needed to tell (then `wait` is set).
bool Machine::begins_otherwise(bool& wait) {
  return !scanner_.started() && (repeated_open(wait) || named_instead(wait));
}

// Skips what may stand before the JSON of a call: white space and the opening of a fence.  Returns false if more text
// is needed.
bool Machine::skip_json_lead() {
  while (true) {
    pos_ = skip_space(pos_);
    if (pos_ == buffer_.size()) return false;
    if (!attempt_.is_open) return true;
    const Match fence = fence_open(pos_);
    if (fence.kind != MatchKind::kFull) return fence.kind == MatchKind::kNone;
    pos_ += fence.size;
  }
}

// Acts on the end of the outermost value, at pos_.
bool Machine::json_envelope_ends() {
  if (attempt_.is_open && end_nameless_json()) return true;
  if (attempt_.is_open && !(attempt_.opening == Opening::kMarker && ends_in_empty_list()))
    return fail_attempt(pos_, "JSON in the place of a tool call holds none");
  attempt_.is_open = false;
  emit(EventKind::kMarker, pos_);
  ++call_.piece;
  phase_ = syntax_->format->calls.pieces.empty() ? Phase::kAfterCall : Phase::kPieces;
  return true;
}

// Goes on with the object of a call in JSON where it comes next although its id, beside it, is missing.
void Machine::skip_to_object() {
  const format::Calls& calls = syntax_->format->calls;
  const std::size_t at = skip_space(pos_);
  if (!calls.has_id_beside() || call_.piece >= calls.object_piece() || at == buffer_.size()) return;
  const bool is_list = buffer_[at] == '[' && calls.pieces[call_.piece].kind != format::CallPiece::Kind::kLiteral;
  if (buffer_[at] == '{' || is_list) call_.piece = calls.object_piece();
}

// Returns whether the value that ends at pos_ is an empty list.  A list without calls is markup, and no text is lost.
bool Machine::ends_in_empty_list() const {
  if (buffer_[pos_ - 1] != ']') return false;
  std::size_t at = pos_ - 1;
  while (at > 0 && is_space(buffer_[at - 1])) --at;
  return at > 0 && buffer_[at - 1] == '[';
}

// Returns whether the closing quote of the open string was forgotten: the string contains a line end, and the end of a
// call follows.  Sets `wait` if more text is needed.
bool Machine::is_string_forgotten(bool& wait) const {
  if (!scanner_.is_doubtful()) return false;
  const MarkerSet::Found found = syntax_->sets.recover.at(buffer_, pos_, is_end_, starts());
  wait = found.kind == MatchKind::kPartial;
  return found.kind == MatchKind::kFull;
}

// Returns whether a call of a list has ended and no other has begun.
bool Machine::is_between_listed_calls() const {
  return !attempt_.is_open && !call_.is_reported && scanner_.depth() == 1 && scanner_.is_array_at(1);
}

// Takes one character of a JSON envelope.  Returns false if the phase changed instead.  Sets `failed` if the character
// is not allowed there.
bool Machine::json_step(JsonUnit unit, bool& failed) {
  JsonScanner::Step step = scanner_.step(unit.byte);
  if (step.bad && unit.byte == '{' && is_between_listed_calls()) {  // models forget the comma
    (void)scanner_.step(',');
    step = scanner_.step(unit.byte);
  }
  if (step.bad && unit.byte == '}' && is_between_listed_calls()) return true;  // or write a bracket too many
  failed = step.bad;
  if (step.bad || !release_arguments()) return step.bad;
  if (step.ended_before && envelope_.capture != JsonCall::Capture::kNone && envelope_.captures_scalar &&
      !json_value_ends())
    return false;
  if (step.begins_value) json_value_begins(unit.byte);
  if (phase_ != Phase::kJson || !scanner_.started()) return false;
  if (!step.ends_value) return true;
  if (envelope_.capture != JsonCall::Capture::kNone && scanner_.depth() == envelope_.capture_depth) {
    pos_ += unit.size;  // the value includes this character
    if (!json_value_ends()) return false;
    pos_ -= unit.size;
  } else if (envelope_.depth > 0 && scanner_.depth() < envelope_.depth) {
    ++pos_;
    if (!json_call_ends()) return false;
    --pos_;
  }
  return true;
}

// Returns whether the current value, inside `frames` frames, is where the format puts `role`.
bool Machine::has_role(const std::vector<std::string>& role, std::size_t frames) const {
  if (role.empty() || frames < envelope_.depth) return false;
  const std::size_t depth = frames - envelope_.depth + 1;
  const auto key = [this](std::size_t i) -> const std::string& { return scanner_.key_at(envelope_.depth + i); };
  const bool is_last =
      key(depth - 1) == role.back() || (chat::is_arguments_key(key(depth - 1)) && chat::is_arguments_key(role.back()));
  if (!is_last) return false;
  // Models also write the shape of the public APIs, in which the name and the arguments may be one level deeper.
  if (depth != role.size()) return depth == 1 || (depth == 2 && key(0) == chat::kCallFunctionKey);
  for (std::size_t i = 0; i + 1 < role.size(); ++i) {
    if (key(i) != role[i]) return false;
  }
  return true;
}

// Returns whether `key` is allowed in a call that no marker announces.
bool Machine::is_call_key(const std::string& key) const {
  const format::JsonRoles& roles = syntax_->format->calls.roles;
  if (roles.name_is_key || key == chat::kCallTypeKey || key == chat::kCallFunctionKey) return true;
  const auto begins = [&key](const std::vector<std::string>& role) {
    return !role.empty() && (role.front() == key || role.back() == key);
  };
  const bool is_own = begins(roles.name) || begins(roles.arguments) || begins(roles.id) || begins(roles.reasoning);
  return is_own || chat::is_arguments_key(key) ||
         std::ranges::any_of(roles.constants, [&](const auto& constant) { return begins(constant.path); });
}

// Returns whether the member that begins is none of a call's.  Without a marker, only the format's own keys make a call.
bool Machine::is_foreign_member(bool is_member) const {
  return is_member && is_bare() && !call_.has_name && !envelope_.early_arguments &&
         !is_call_key(scanner_.key_at(envelope_.depth));
}

// Begins to remember a value `frames` deep that is not the arguments.  Returns false if its text is not needed.
bool Machine::begin_captured(std::size_t frames) {
  envelope_.capture = capture_at(frames);
  if (envelope_.capture == JsonCall::Capture::kStray) {
    envelope_.stray_key = scanner_.key_at(frames);
    envelope_.constant = constant_at(frames);
  }
  return envelope_.capture != JsonCall::Capture::kNone;
}

// Decides what the value that begins with `byte` is in the call, and remembers where it begins if its text is needed.
void Machine::json_value_begins(char byte) {
  const bool is_container = byte == '{' || byte == '[';
  const std::size_t frames = scanner_.depth() - (is_container ? 1 : 0);
  if (envelope_.capture != JsonCall::Capture::kNone) return;
  if (envelope_.depth == 0) {
    if (byte == '{' && (frames == 0 || (frames == 1 && scanner_.is_array_at(1)))) json_call_begins();
    return;
  }
  const bool is_member = frames == envelope_.depth;
  if (is_foreign_member(is_member)) {
    (void)fail_attempt(pos_, "text in the shape of a tool call is none");
    return;
  }
  const format::JsonRoles& roles = syntax_->format->calls.roles;
  const std::string& key = scanner_.key_at(frames);
  envelope_.may_define = envelope_.may_define || key == "description" || key == "parameters";
  const bool is_keyed_call = roles.name_is_key && is_member && !has_role(roles.id, frames);
  if (is_keyed_call && usual_instead(byte)) return;
  if (is_keyed_call) next_member();
  if (is_keyed_call || (!roles.name_is_key && has_role(roles.arguments, frames) && !has_whole_arguments())) {
    if (!json_arguments_begin(byte)) return;
  } else if (!begin_captured(frames)) {
    return;
  }
  envelope_.capture_depth = frames;
  envelope_.captures_scalar = !is_container && byte != '"' && byte != '\'';
  envelope_.capture_begin = base_ + pos_;
}

// Returns whether the call's arguments have come.  Other arguments, as in an object that has them both in `function` and
// beside it, are members beside them.
bool Machine::has_whole_arguments() const { return call_.is_reported && !call().arguments.empty(); }

// The object of a call begins at pos_.
void Machine::json_call_begins() {
  envelope_.depth = scanner_.depth();
  std::optional<std::string> id_before = attempt_.is_open ? std::move(call_.id) : std::nullopt;
  if (!attempt_.is_open) {
    emit(EventKind::kMarker, pos_);
    begin_attempt(section_.is_open, attempt_.opening);
  }
  forget_call();
  call_.id = std::move(id_before);
}

// A member begins whose key is the name of a call.  The member before was a call of its own, which ends.
void Machine::next_member() {
  if (call_.is_reported) {
    end_call(raw(head_));
    begin_attempt(section_.is_open, attempt_.opening);
    forget_call();
  }
  call_.name = format::unescaped(scanner_.key_at(envelope_.depth), syntax_->format->calls.name_escapes);
  call_.has_name = true;
}

// Prepares for the parts of a new call.
void Machine::forget_call() {
  call_.name.clear();
  call_.id.reset();
  call_.has_name = call_.is_reported = false;
  envelope_.early_arguments.reset();
  envelope_.may_define = false;
  envelope_.thought.clear();
  envelope_.strays.clear();
}

// The call's arguments begin with `byte`, at pos_.  Reports the call if its name is known.  Returns false if the text
// turned out to be no call.
bool Machine::json_arguments_begin(char byte) {
  envelope_.capture = JsonCall::Capture::kArguments;
  call_.is_string = byte == '"' || byte == '\'';
  scanner_.forget_loose();
  if (needs_evidence() && !call_.is_string && byte != '{')
    return !fail_attempt(pos_, "text in the shape of a tool call has no arguments");
  // Until a string is known to hold an object, and what may be a definition is known to be none.
  const bool is_held = (needs_evidence() && call_.is_string) || is_held_schema();
  if (call_.has_name && !call_.is_reported && !is_held && !commit(pos_)) return false;
  if (call_.is_reported) emit(EventKind::kMarker, pos_);
  return true;
}

// Arguments that may be the schema of a definition are held back until their first key shows that they are not.
// Returns false if the attempt failed.
bool Machine::release_arguments() {
  const std::size_t depth = envelope_.capture_depth + 1;
  const bool is_held = envelope_.capture == JsonCall::Capture::kArguments && !call_.is_reported && is_held_schema();
  if (!is_held || scanner_.depth() != depth || scanner_.is_array_at(depth)) return true;
  const auto begins_so = [&key = scanner_.key_at(depth)](std::string_view word) { return word.starts_with(key); };
  if (begins_so("type") || begins_so("properties")) return true;
  envelope_.may_define = false;
  return commit(envelope_.capture_begin - base_);
}

// Returns what the value that begins inside `frames` frames is in the call, if it is not the arguments.
JsonCall::Capture Machine::capture_at(std::size_t frames) const {
  const format::JsonRoles& roles = syntax_->format->calls.roles;
  if (has_role(roles.name, frames) && !call_.has_name) return JsonCall::Capture::kName;
  if (has_role(roles.id, frames)) return JsonCall::Capture::kId;
  if (has_role(roles.reasoning, frames)) return JsonCall::Capture::kReasoning;
  const bool is_stray = frames == envelope_.depth ? is_stray_key(scanner_.key_at(frames)) : is_beside_arguments(frames);
  return is_stray ? JsonCall::Capture::kStray : JsonCall::Capture::kNone;
}

// Returns the constant of the format that has the place of the current value; nullptr if there is none.
const format::JsonConstant* Machine::constant_at(std::size_t frames) const {
  for (const format::JsonConstant& constant : syntax_->format->calls.roles.constants) {
    if (constant.path.size() != frames - envelope_.depth + 1) continue;
    std::size_t same = 0;
    while (same < constant.path.size() && scanner_.key_at(envelope_.depth + same) == constant.path[same]) ++same;
    if (same == constant.path.size()) return &constant;
  }
  return nullptr;
}

// Returns whether the current value, deeper inside the call, is a member of the object in which its arguments belong.
bool Machine::is_beside_arguments(std::size_t frames) const {
  const format::JsonRoles& roles = syntax_->format->calls.roles;
  const std::size_t depth = frames - std::min(frames, envelope_.depth) + 1;
  if (depth < 2 || roles.name_is_key || chat::is_usual_call_key(scanner_.key_at(frames))) return false;
  const auto key = [this](std::size_t i) -> const std::string& { return scanner_.key_at(envelope_.depth + i); };
  if (depth == 2 && key(0) == chat::kCallFunctionKey) return true;
  if (depth != roles.arguments.size()) return false;
  std::size_t same = 0;
  while (same + 1 < depth && key(same) == roles.arguments[same]) ++same;
  return same + 1 == depth;
}

// Takes the captured value, [envelope_.capture_begin, pos_).  Returns false if the attempt failed.
bool Machine::json_value_ends() {
  const std::size_t begin = envelope_.capture_begin - base_;
  JsonCall::Capture what = std::exchange(envelope_.capture, JsonCall::Capture::kNone);
  if (what == JsonCall::Capture::kStray && is_usual_name(begin)) what = JsonCall::Capture::kName;
  if (what == JsonCall::Capture::kId) {
    const bool is_string = buffer_[begin] == '"' || buffer_[begin] == '\'';
    const std::string text = buffer_.substr(begin, pos_ - begin);
    call_.id = is_string ? decoded_string(text) : text;
    if (call_.is_reported) {
      call().id = call_.id;
      emit(EventKind::kCallId, pos_, *call_.id);
    }
  } else if (what == JsonCall::Capture::kReasoning) {
    envelope_.thought = decoded_string(std::string_view(buffer_).substr(begin, pos_ - begin));
    if (call_.is_reported) report_thought();
  } else if (what == JsonCall::Capture::kStray) {
    keep_stray(begin, pos_);
  } else if (what == JsonCall::Capture::kName) {
    call_.name = format::unescaped(decoded_string(std::string_view(buffer_).substr(begin, pos_ - begin)),
                                   syntax_->format->calls.name_escapes);
    if (call_.name.empty()) {
      (void)fail_attempt(pos_, "the name of a tool call cannot be read");
      return false;
    }
    call_.has_name = true;
    if (envelope_.early_arguments) return commit_early();
  } else if (call_.is_reported) {
    emit_arguments(begin, pos_, scanner_.is_loose());
  } else {
    envelope_.early_arguments = {base_ + begin, base_ + pos_};
    envelope_.early_is_loose = scanner_.is_loose();
    if (call_.has_name) return commit_early();
  }
  return true;
}

// Reports the reasoning that the call's object has.  Each call of a turn may repeat it.
void Machine::report_thought() {
  const std::string thought = std::exchange(envelope_.thought, {});
  if (thought.empty() || (message_.reasoning && message_.reasoning->ends_with(thought))) return;
  if (!message_.reasoning && !inline_reasoning_) message_.reasoning.emplace();
  report(EventKind::kReasoning, raw(head_), raw(head_), thought);
}

// Reports a call whose arguments were complete before the text was known to be a call.  Returns false if it turned out
// to be text.
bool Machine::commit_early() {
  const std::size_t begin = envelope_.early_arguments->first - base_;
  const std::size_t end = envelope_.early_arguments->second - base_;
  if (needs_evidence() && call_.is_string) {
    const auto held = json::parse(decoded_string(arguments_text(begin, end)));
    if (!held.ok() || !held.value().is_object()) return !fail_attempt(pos_, "a tool call has no arguments");
  }
  if (is_held_schema()) {
    const auto held = json::parse(std::string_view(buffer_).substr(begin, end - begin));
    if (held.ok() && is_schema(held.value())) return !fail_attempt(pos_, "the definition of a tool is no call");
  }
  if (!commit(begin)) return false;
  emit_arguments(begin, end, envelope_.early_is_loose);
  return true;
}

// Reports the arguments [begin, end).  The part [head_, end) is not reported yet.
void Machine::emit_arguments(std::size_t begin, std::size_t end, bool is_loose) {
  if (call_.is_string) {
    emit(EventKind::kArguments, end, decoded_string(arguments_text(begin, end)));
    is_loose = !json::parse(call().arguments).ok();
  } else {
    emit(EventKind::kArguments, end);
  }
  if (!is_loose) return;
  complain(raw(begin), "the arguments of a tool call are no valid JSON");
  set_status(chat::CallStatus::kInvalidJson);
}

// Returns where a string begins that holds the arguments of a reported call and has not ended; nullopt if none does.
std::optional<std::size_t> Machine::open_string_arguments() const {
  if (!call_.is_reported || !call_.is_string || scanner_.done()) return std::nullopt;
  if (phase_ == Phase::kJsonArguments) return call_.has_arguments ? std::optional(head_) : std::nullopt;
  const bool is_inside = phase_ == Phase::kJson && envelope_.capture == JsonCall::Capture::kArguments;
  return is_inside ? std::optional(envelope_.capture_begin - base_) : std::nullopt;
}

// Reports what the string that begins at `begin` has up to the end of the text.  An escape that is cut off is left out.
void Machine::emit_begun_string(std::size_t begin) {
  std::string text = arguments_text(begin, buffer_.size());
  if (text.empty()) return;
  for (std::size_t cut = 0; cut <= std::min(kLongestStringEscape, text.size() - 1); ++cut) {
    std::string read = decoded_string(text.substr(0, text.size() - cut) + text.front());
    if (read.empty()) continue;
    return emit(EventKind::kArguments, buffer_.size(), std::move(read));
  }
}

// The call's object ends at pos_.  Returns false if it is not a call.
bool Machine::json_call_ends() {
  envelope_.depth = 0;
  if (!call_.is_reported) {
    const bool has_schema =
        std::ranges::any_of(envelope_.strays, [](const json::Member& stray) { return is_schema(stray.value); });
    if (is_held_schema() && (has_schema || envelope_.strays.empty()))
      return !fail_attempt(pos_, "the definition of a tool is no call");
    const bool has_evidence = !is_bare() || (attempt_.opening == Opening::kBare && syntax_->options.tools &&
                                             !syntax_->format->calls.roles.name_is_key);
    if (!call_.has_name && is_empty_json()) return true;
    if (!call_.has_name || !has_evidence) {
      (void)fail_attempt(pos_, "a tool call has no name");
      return false;
    }
    if (!commit(pos_)) return false;
  }
  emit(EventKind::kMarker, pos_);
  report_strays();
  if (call().arguments.empty()) emit(EventKind::kArguments, pos_, "{}");
  if (!scanner_.done()) end_call(raw(pos_));
  return true;
}

// Returns whether calls do not have a member `key`, so it may be a misplaced argument.
bool Machine::is_stray_key(const std::string& key) const {
  const format::JsonRoles& roles = syntax_->format->calls.roles;
  const auto leads_to = [&key](const std::vector<std::string>& role) { return role.size() > 1 && role.front() == key; };
  if (roles.name_is_key || leads_to(roles.name) || leads_to(roles.arguments) || leads_to(roles.id)) return false;
  return !chat::is_usual_call_key(key) || has_parameter(key);
}

// Returns whether the value of a stray key, from `begin` to pos_, is the name of a tool where the public APIs have it:
// models write their shape into the format's markers.
bool Machine::is_usual_name(std::size_t begin) const {
  if (!options().tools || !attempt_.is_open || call_.has_name || envelope_.stray_key != "name") return false;
  return buffer_[begin] == '"' &&
         syntax_->is_known_tool(decoded_string(std::string_view(buffer_).substr(begin, pos_ - begin)));
}

// Returns whether the value of a stray key is the call's own arguments once more.
bool Machine::repeats_own(const json::Value& value) const {
  if (!chat::is_arguments_key(envelope_.stray_key) || !has_whole_arguments()) return false;
  const auto own = json::parse(call().arguments);
  return own.ok() && own.value() == value;
}

// Keeps [begin, end), the value of a stray key.
void Machine::keep_stray(std::size_t begin, std::size_t end) {
  const std::string_view text = std::string_view(buffer_).substr(begin, end - begin);
  auto parsed = json::parse(text);
  auto loose = parsed.ok() ? std::nullopt : read_literal(text, NestedSyntax{"", "", true});
  const format::JsonConstant* constant = std::exchange(envelope_.constant, nullptr);
  json::Value value = parsed.ok() ? std::move(parsed.value()) : loose ? std::move(*loose) : json::Value(text);
  if (constant != nullptr && is_constant(*constant, value)) return;
  if (repeats_own(value)) return;
  envelope_.strays.push_back({std::move(envelope_.stray_key), std::move(value)});
}

// Models write arguments beside the place for arguments, or under another name.  If the call has no arguments of its
// own, these become its arguments.  If it has, the two are not mixed, but the status tells that something was left out.
void Machine::report_strays() {
  if (envelope_.strays.empty()) return;
  const bool is_renamed = envelope_.strays.size() == 1 && envelope_.strays.front().value.is_object() &&
                          !has_parameter(envelope_.strays.front().key);
  const bool has_own = !call().arguments.empty();
  if (!has_own) {
    json::Object made;
    for (json::Member& stray : envelope_.strays) made.set(stray.key, std::move(stray.value));
    const json::Value value = is_renamed ? made.begin()->value : json::Value(std::move(made));
    emit(EventKind::kArguments, pos_, json::to_compact(value));
  }
  complain(raw(pos_), "a tool call has members beside its arguments");
  set_status(chat::CallStatus::kMalformed);
}

// The byte at pos_ is not allowed.  Without a name yet the attempt fails.  Otherwise the arguments are broken.
bool Machine::json_bad() {
  if (attempt_.is_open && (!call_.has_name || is_bare() || envelope_.early_arguments))
    return fail_attempt(pos_, "the JSON of a tool call cannot be read");
  if (attempt_.is_open || call_.is_reported) {
    if (attempt_.is_open && !commit(pos_)) return true;
    return break_json();
  }
  phase_ = Phase::kAfterCall;  // between the elements of an array that was never closed
  return true;
}

// Returns where the closing brackets at `at` end, with the white space after them, or where `close` or what follows calls
// begins, which may itself begin with a bracket.  Models write too many brackets; they belong to the call if the close
// follows them.
std::size_t Machine::behind_brackets(std::size_t at, const Marker& close) const {
  constexpr std::size_t kMostBrackets = 64;  // bytes, with the white space between them
  const auto begins_close = [&](std::size_t from) {
    const std::string_view text = std::string_view(buffer_).substr(from);
    if (!close.empty()) return close.match(text, is_end_, starts()).kind != MatchKind::kNone;
    return syntax_->sets.between.at(buffer_, from, is_end_, starts()).kind != MatchKind::kNone;
  };
  std::size_t end = at;
  while (end < buffer_.size() && end - at < kMostBrackets && (buffer_[end] == '}' || buffer_[end] == ']') &&
         !begins_close(end))
    end = skip_space(end + 1);
  return end;
}

// Takes the brackets at `at` that a model wrote too many between two calls that nothing closes.
MatchKind Machine::brackets_between(std::size_t at) {
  const bool is_json = syntax_->format->calls.arguments != format::ArgumentStyle::kParameters;
  const std::size_t end = is_json && syntax_->call_close.empty() ? behind_brackets(at, syntax_->call_close) : at;
  if (end == at) return MatchKind::kNone;
  if (end == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const MatchKind next = syntax_->sets.between.at(buffer_, end, is_end_, starts()).kind;
  if (next != MatchKind::kFull) return next;
  pos_ = end;
  emit(EventKind::kMarker, pos_);
  return next;
}

// Returns where the next object of a list without brackets begins, if one does at `at`, with or without a comma; 0 if none
// does, the size of the buffer if more text is needed to tell.
std::size_t Machine::next_object_at(std::size_t at) const {
  const std::size_t next = buffer_[at] == ',' ? skip_space(at + 1) : at;
  if (next == buffer_.size()) return is_end_ ? 0 : next;
  return buffer_[next] == '{' ? next : 0;
}

// Breaks the call at pos_, where a byte is not allowed.  If the turn ends there, the call is cut off; otherwise its
// JSON is invalid.  Returns false if more text is needed.
bool Machine::break_json() {
  const MarkerSet::Found found = syntax_->sets.recover.at(buffer_, pos_, is_end_, starts());
  if (found.kind == MatchKind::kPartial) return false;
  if (found.kind != MatchKind::kFull || found.id != kStop)
    return break_call(chat::CallStatus::kInvalidJson, "the JSON of a tool call is invalid");
  ending_.is_open = true;
  return break_call(chat::CallStatus::kUnclosed, "a tool call is not closed");
}

}  // namespace rondo::parse
