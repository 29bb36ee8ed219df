// Calls that are JSON objects: where their name, id and arguments stand.
#include <algorithm>
#include <utility>

#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

using format::is_space;

constexpr std::size_t kLongestAttempt = 1U << 20U;  // bytes held back for a call whose name comes last

}  // namespace

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
      if (attempt_ && opening_ == Opening::kMarker) return end_empty_section();
      if (attempt_) return fail_attempt(pos_, "JSON in the place of a tool call holds none");
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
    strays_.clear();
    return;
  }
  const format::JsonRoles& roles = syntax_->format->calls.roles;
  if (is_bare() && frames == object_depth_ && !has_name_ && !early_arguments_) {
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
    if (needs_evidence() && !arguments_are_string_ && byte != '{') {
      (void)fail_attempt(pos_, "text in the shape of a tool call has no arguments");
      return;
    }
    const bool is_held = needs_evidence() && arguments_are_string_;  // until it is known what the string holds
    if (has_name_ && !committed_ && !is_held && !commit(pos_)) return;
    if (committed_) emit(EventKind::kMarker, pos_);
  } else if (has_role(roles.name, frames) && !has_name_) {
    capture_ = Capture::kName;
  } else if (has_role(roles.id, frames)) {
    capture_ = Capture::kId;
  } else if (frames == object_depth_ && is_stray_key(scanner_.key_at(object_depth_))) {
    capture_ = Capture::kStray;
    stray_key_ = scanner_.key_at(object_depth_);
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
  } else if (what == Capture::kStray) {
    keep_stray(begin, pos_);
  } else if (what == Capture::kName) {
    name_ = decoded_string(begin, pos_);
    if (name_.empty()) {
      (void)fail_attempt(pos_, "the name of a tool call cannot be read");
      return false;
    }
    has_name_ = true;
    if (early_arguments_) return commit_early();
  } else if (committed_) {
    emit_arguments(begin, pos_, scanner_.is_loose());
  } else {
    early_arguments_ = {base_ + begin, base_ + pos_};
    early_is_loose_ = scanner_.is_loose();
    if (has_name_) return commit_early();
  }
  return true;
}

// Reports a call whose arguments were complete before it was known to be one.  False if it turned out to be text.
bool Machine::commit_early() {
  const std::size_t begin = early_arguments_->first - base_;
  const std::size_t end = early_arguments_->second - base_;
  if (needs_evidence() && arguments_are_string_) {
    const auto held = json::parse(decoded_string(begin, end));
    if (!held.ok() || !held.value().is_object()) return !fail_attempt(pos_, "a tool call has no arguments");
  }
  if (!commit(begin)) return false;
  emit_arguments(begin, end, early_is_loose_);
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

// The call's object ends at pos_.
bool Machine::json_call_ends() {
  object_depth_ = 0;
  if (!committed_) {
    const bool has_evidence = !is_bare() || (opening_ == Opening::kBare && syntax_->options.tools &&
                                             !syntax_->format->calls.roles.name_is_key);
    if (!has_name_ || !has_evidence) {
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

// Whether a member of a call's object is none that calls have.
bool Machine::is_stray_key(const std::string& key) const {
  const format::JsonRoles& roles = syntax_->format->calls.roles;
  const auto leads_to = [&key](const std::vector<std::string>& role) { return role.size() > 1 && role.front() == key; };
  if (roles.name_is_key || leads_to(roles.name) || leads_to(roles.arguments) || leads_to(roles.id)) return false;
  const bool is_usual = key == chat::kCallTypeKey || key == chat::kCallFunctionKey || key == chat::kCallIdKey ||
                        key == chat::kCallIndexKey;
  return !is_usual || has_parameter(key);
}

// The value under a stray key is [begin, end).
void Machine::keep_stray(std::size_t begin, std::size_t end) {
  const std::string_view text = std::string_view(buffer_).substr(begin, end - begin);
  auto parsed = json::parse(text);
  auto loose = parsed.ok() ? std::nullopt : read_literal(text, NestedSyntax{"", "", true});
  json::Value value = parsed.ok() ? std::move(parsed.value()) : loose ? std::move(*loose) : json::Value(text);
  strays_.push_back({std::move(stray_key_), std::move(value)});
}

// Arguments that models write beside the place for arguments, or under another name, are the call's arguments.  Where it has its
// own too, they are not mixed; the status tells of them.
void Machine::report_strays() {
  if (strays_.empty()) return;
  const bool is_renamed =
      strays_.size() == 1 && strays_.front().value.is_object() && !has_parameter(strays_.front().key);
  const bool has_own = !call().arguments.empty();
  if (!has_own) {
    json::Object made;
    for (json::Member& stray : strays_) made.set(stray.key, std::move(stray.value));
    const json::Value value = is_renamed ? made.begin()->value : json::Value(std::move(made));
    emit(EventKind::kArguments, pos_, json::to_compact(value));
  } else {
    const bool is_known = call().arguments != "{}" || syntax_->tool(name_) != nullptr;
    const auto is_parameter = [this](const json::Member& stray) { return has_parameter(stray.key); };
    if (is_known && std::ranges::none_of(strays_, is_parameter)) return;
  }
  complain(raw(pos_), "a tool call has members beside its arguments");
  set_status(chat::CallStatus::kMalformed);
}

bool Machine::json_bad() {
  if (attempt_ && (!has_name_ || is_bare() || early_arguments_))
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

}  // namespace rondo::parse
