// Tagged parameters: one construct per argument, turned into JSON as it arrives.
#include <algorithm>
#include <iterator>

#include "format/escapes.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/machine.h"
#include "parse/markup.h"
#include "parse/schema_check.h"

namespace rondo::parse {
namespace {

using format::is_blank;
using format::ValueForm;
using format::ValueStyle;
using format::ValueType;

std::string in_json(std::string_view text) {
  std::string out;
  json::append_escaped(out, text, false);
  return out;
}

}  // namespace

// Looks for the next parameter.  If the text that ends the call comes instead, the arguments are complete.
bool Machine::parameter() {
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return false;
  const MarkerSet::Found found = syntax_->sets.parameter.at(buffer_, at, is_end_, starts());
  if (found.kind == MatchKind::kPartial) return false;
  pos_ = at;
  if (found.kind == MatchKind::kFull && (found.id == kParameterSeparator || found.id == kParameterOpen)) {
    pos_ += found.size;
    emit(EventKind::kMarker, pos_);
    if (found.id == kParameterOpen) begin_key(found.marker);
    return true;
  }
  emit(EventKind::kMarker, pos_);
  if (found.kind == MatchKind::kFull) {
    (void)finish_parameters();
    if (found.id != kStop || !syntax_->closes_calls()) return true;
    ending_.is_open = true;
    return break_call(chat::CallStatus::kUnclosed, "a tool call is not closed");
  }
  if (const MatchKind end = end_wrapper(); end != MatchKind::kNone) return end == MatchKind::kFull;
  const MatchKind wrapper = call_.parameters == 0 ? argument_wrapper(at) : MatchKind::kNone;
  if (wrapper != MatchKind::kNone) return wrapper == MatchKind::kFull;
  if (call_.parameters == 0 && buffer_[at] == '{') {  // models write all arguments as one object
    scanner_ = JsonScanner();
    call_.has_arguments = true;
    phase_ = Phase::kJsonArguments;
    return true;
  }
  if (syntax_->parameter_open.empty()) {
    begin_key(&syntax_->parameter_open);
    return true;
  }
  if (const MatchKind tag = respelled_parameter(at); tag != MatchKind::kNone) return tag == MatchKind::kFull;
  return skip_parameter("a parameter is expected");
}

bool Machine::finish_parameters() {
  const std::string list = call_.open_list.empty() ? "" : "]";
  emit(EventKind::kArguments, head_, call_.parameters == 0 ? "{}" : list + "}");
  call_.open_list.clear();
  call_.parameters = 0;
  return arguments_done();
}

// Finds out from the value's opener which forms the value may have.
bool Machine::value_open() {
  if (!trail_.text.empty()) return false;
  const std::vector<ValueForm>& forms = syntax_->format->calls.parameters.forms;
  if (std::ranges::all_of(forms, [](const ValueForm& form) { return is_blank(form.open); }))
    return take_value_open(pos_, nullptr);
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return is_end_ && take_value_open(pos_, nullptr);
  ValueOpener opener = whole_opener(at);
  if (opener.match.kind == MatchKind::kNone) {
    opener = damaged_opener(at);
    if (opener.match.kind == MatchKind::kFull) note_damaged_tag();
  }
  if (opener.match.kind == MatchKind::kPartial) return false;
  return take_value_open(opener.match.kind == MatchKind::kFull ? at + opener.match.size : pos_, opener.form);
}

// Matches the longest opener of a value at `at`, among those that may follow the key.
Machine::ValueOpener Machine::whole_opener(std::size_t at) const {
  const std::vector<ValueForm>& forms = syntax_->format->calls.parameters.forms;
  ValueOpener best;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (is_blank(forms[i].open) || forms[i].key_open != parameter_.key_open) continue;
    const Match match = syntax_->values.openers[i].match(std::string_view(buffer_).substr(at), is_end_, starts());
    if (match.kind == MatchKind::kPartial) return {match, nullptr};
    if (match.kind == MatchKind::kFull && match.size > best.match.size) best = {match, &forms[i]};
  }
  return best;
}

// Takes the value's opener, which ends at `end`.  `form` is the form that it belongs to; nullptr if it tells none.
bool Machine::take_value_open(std::size_t end, const ValueForm* form) {
  pos_ = end;
  emit(EventKind::kMarker, pos_);
  const std::vector<ValueForm>& forms = syntax_->format->calls.parameters.forms;
  if (form != nullptr) trail_.text = syntax_->values.openers[static_cast<std::size_t>(form - forms.data())].trail();
  select_forms(form != nullptr ? form->open : "");
  return true;
}

// Prepares the value's state: its possible forms, the types in the tool's schema, and how to find its end.  A value
// streams if it can only be a string.
void Machine::select_forms(const std::string& open) {
  const format::Parameters& parameters = syntax_->format->calls.parameters;
  Parameter fresh;
  fresh.key = std::move(parameter_.key);
  fresh.key_open = std::move(parameter_.key_open);
  fresh.is_unmarked = parameter_.is_unmarked;
  parameter_ = std::move(fresh);
  call_.takes_item = false;
  keep_forms(open);
  if (const chat::ToolDefinition* tool = syntax_->tool(call_.name)) {
    const json::Value* schema = chosen_property(tool->parameters, parameter_.key, call().arguments, parameter_.joined);
    if (schema != nullptr) parameter_.types = schema_types(*schema, tool->parameters);
    parameter_.schema = {schema, &tool->parameters};
    if (parameters.repeats_items) expect_item();
  }
  add_value_closers();
  bool raw_string = false;
  bool json_string = false;
  for (const ValueForm* form : parameter_.forms) {
    if (form->type != ValueType::kString) continue;
    json_string = json_string || form->style == ValueStyle::kJson;
    if (form->style != ValueStyle::kRaw) continue;
    raw_string = true;
    parameter_.escapes = form->escapes;
  }
  const bool only_strings =
      std::ranges::all_of(parameter_.forms, [](const ValueForm* form) { return form->type == ValueType::kString; });
  const bool is_string = parameter_.types && parameter_.types->is_only(TypeSet::kString);
  const bool is_free_text = raw_string && !has_choices(parameter_.schema);
  parameter_.nesting.is_python = !raw_string;
  parameter_.nesting.is_text = is_free_text && is_string && syntax_->values.ends_are_distinct;
  parameter_.is_streaming = is_free_text && !json_string && !call_.takes_item && !parameter_.closer_set.empty() &&
                            (only_strings || is_string);
  const bool is_nested = std::any_of(parameter_.forms.begin(), parameter_.forms.end(),
                                     [](const ValueForm* form) { return form->style == ValueStyle::kNested; });
  parameter_.markup.tagged = tagged_among(parameter_.forms);
  parameter_.markup.is_possible =
      is_nested && (!parameters.key_in_close.empty() || parameter_.markup.tagged != nullptr) &&
      !parameter_.is_streaming &&
      (!parameter_.types || parameter_.types->has(TypeSet::kObject) || parameter_.types->has(TypeSet::kArray));
  parameter_.is_json = !is_structured() && std::ranges::all_of(parameter_.forms, [](const ValueForm* form) {
    return form->style == ValueStyle::kJson || form->style == ValueStyle::kPython;
  });
  scanner_ = JsonScanner();
  parameter_.value_begin = call().arguments.size();
  parameter_.markup.seen = base_ + head_;
  if (parameter_.is_streaming) emit(EventKind::kArguments, head_, "\"");
  phase_ = Phase::kValue;
}

// Keeps the forms that the value may have: those with the opener `open`, or all if none has it.
void Machine::keep_forms(const std::string& open) {
  std::vector<const ValueForm*> of_key;
  for (const ValueForm& form : syntax_->format->calls.parameters.forms) {
    if (form.key_open == parameter_.key_open) of_key.push_back(&form);
  }
  const auto is_opened = [&open](const ValueForm* form) {
    return is_blank(open) ? is_blank(form->open) : form->open == open;
  };
  std::ranges::copy_if(of_key, std::back_inserter(parameter_.forms), is_opened);
  if (parameter_.forms.empty()) parameter_.forms = std::move(of_key);
  // A format that is written by hand may have no form for this opener.
  if (!parameter_.forms.empty()) return;
  for (const ValueForm& form : syntax_->format->calls.parameters.forms) parameter_.forms.push_back(&form);
}

// Collects what may close the value.  A closer that contains the key is made here.
void Machine::add_value_closers() {
  if (parameter_.is_unmarked) return;
  const format::Parameters& parameters = syntax_->format->calls.parameters;
  for (const ValueForm* form : parameter_.forms) {
    if (parameters.key_in_close.empty()) {
      parameter_.closer_set.add(0, &syntax_->values.closers[static_cast<std::size_t>(form - parameters.forms.data())]);
      continue;
    }
    const std::string closer = form->close + closing_tag(parameters, parameter_.key);
    parameter_.closers.push_back(std::make_unique<Marker>(syntax_->make_marker(closer)));
    parameter_.closer_set.add(0, parameter_.closers.back().get());
  }
}

bool Machine::value() {
  if (is_structured()) return value_structured();
  return parameter_.closer_set.empty() ? value_line() : value_marked();
}

// Returns what may stand directly behind the value: what closes it, or what follows a value that nothing closes.
const MarkerSet& Machine::value_ends() const {
  return parameter_.closer_set.empty() ? syntax_->sets.follower : parameter_.closer_set;
}

// Returns how many bytes of a closer that was found are the value's own: one if it is in an escape, all if it closes
// markup in the value, none if it may end the value.
std::size_t Machine::size_inside_value(const MarkerSet::Found& found) {
  if (is_in_escape(found.begin)) return 1;
  return parameter_.markup.is_possible && is_inner_close(found.begin) ? found.size : 0;
}

// Reads a value between markers.  It ends at the first closer after which comes something that the format allows there.
bool Machine::value_marked() {
  if (!begin_value()) return false;
  if (parameter_.is_json && !json_in_value()) return false;
  while (true) {
    MarkerSet::Found found = parameter_.closer_set.find(buffer_, pos_, is_end_, starts());
    const MatchKind edge = value_unclosed(found.begin);
    if (edge == MatchKind::kFull) {
      end_unclosed_value(found.begin);
      return true;
    }
    if (edge == MatchKind::kPartial) found.kind = edge;
    pos_ = found.begin;
    if (found.kind == MatchKind::kFull) {
      if (const std::size_t size = size_inside_value(found); size > 0) {
        pos_ = found.begin + size;
        continue;
      }
      bool wait = false;
      if (is_followed(found.begin + found.size, wait) || (!wait && is_whole_scalar(found.begin))) {
        end_value(found.begin - found.marker->own_lead(std::string_view(buffer_).substr(head_, found.begin - head_)),
                  found.begin + found.size);
        return true;
      }
      if (!wait) {
        ++pos_;
        continue;
      }
    }
    if (parameter_.is_streaming && !is_end_) {
      const std::string_view before = std::string_view(buffer_).substr(head_, found.begin - head_);
      const std::size_t end = whole_characters(found.begin - parameter_.closer_set.possible_lead(before));
      const std::size_t size = std::max(value_end_at_stop(end), head_) - head_;
      stream_value(head_ + format::whole_units(before.substr(0, size), parameter_.escapes));
    }
    return false;
  }
}

// Reads a value without markers.  It ends at a line end before the next parameter or the end of the call, or at a
// distinct marker inside its line.
bool Machine::value_line() {
  if (!begin_value()) return false;
  if (parameter_.is_json && !json_in_value()) return false;
  for (; pos_ < buffer_.size(); ++pos_) {
    const std::size_t next = skip_space(pos_);
    const bool is_line_end = buffer_[pos_] == '\n';
    if (next == buffer_.size() && is_line_end) {
      if (is_end_) end_value(pos_, pos_);
      return is_end_;
    }
    // The value's own lines are indented.
    if (is_line_end) {
      const std::size_t unit = format::unit_size(std::string_view(buffer_).substr(pos_), parameter_.escapes);
      pos_ += unit - 1;
      if (unit > 1) continue;
    }
    const MatchKind behind = is_line_end ? value_line_end(next) : value_end_inside_line(pos_);
    if (behind == MatchKind::kPartial) return false;
    if (behind == MatchKind::kNone) continue;
    end_value(pos_, pos_);
    return true;
  }
  return false;
}

// Matches what the format writes behind a value, at `at`, inside the value's line: a distinct marker.  At the beginning of
// an indented line of the value stands none.
MatchKind Machine::value_end_inside_line(std::size_t at) const {
  const MarkerSet::Found found = syntax_->sets.follower.at(buffer_, at, is_end_, starts());
  if (found.kind == MatchKind::kNone) return found.kind;
  if (found.kind == MatchKind::kFull && !found.marker->is_distinct()) return MatchKind::kNone;
  const std::string_view line_end = own_line_end();
  const std::string_view before = std::string_view(buffer_).substr(head_, at - head_);
  return !line_end.empty() && before.ends_with(line_end) ? MatchKind::kNone : found.kind;
}

// The same behind the value's line: any marker, or the name of the next parameter.
MatchKind Machine::value_line_end(std::size_t at) const {
  const MatchKind kind = syntax_->sets.follower.at(buffer_, at, is_end_, starts()).kind;
  return kind == MatchKind::kNone ? key_at(at) : kind;
}

// Returns where the value ends, at `end` or before it, if its call ends there: white space that closes calls is the
// template's.
std::size_t Machine::before_blank_close(std::size_t end) const {
  const std::string& close = syntax_->format->calls.call_close;
  const bool is_blank_close = parameter_.closer_set.empty() && is_blank(close);
  const std::string_view value = std::string_view(buffer_).substr(head_, end - head_);
  return is_blank_close && value.ends_with(close) ? end - close.size() : end;
}

// Returns where the value ends if the text so far ends with a stop, or with the beginning of one.  Returns `end`
// otherwise.  Inside a value, a stop is text unless the turn ends with it.
std::size_t Machine::value_end_at_stop(std::size_t end) const {
  for (std::size_t from = head_;;) {
    const MarkerSet::Found found = syntax_->sets.stop.find(buffer_, from, is_end_, starts());
    if (found.kind == MatchKind::kNone || found.begin >= end) return end;
    const std::size_t behind = found.begin + found.size;
    const bool is_last = found.kind == MatchKind::kPartial || (is_blank(std::string_view(buffer_).substr(behind)) &&
                                                               buffer_.size() - behind < kLongestScalar);
    const std::string_view before = std::string_view(buffer_).substr(head_, found.begin - head_);
    if (is_last) return found.begin - parameter_.closer_set.possible_lead(before);
    from = found.begin + 1;
  }
}

// Returns true if the closer at `at` ends a part of the value: a parameter of the same name, or an object in an object.
bool Machine::is_inner_close(std::size_t at) {
  const format::Parameters& parameters = syntax_->format->calls.parameters;
  const std::string& opener = parameter_.key_open.empty() ? parameters.open : parameter_.key_open;
  Markup& markup = parameter_.markup;
  const std::size_t from = markup.seen - base_;
  markup.seen = base_ + at;
  return markup.is_inner_close(std::string_view(buffer_).substr(from, at - from),
                               std::string(format::trimmed(opener)) + parameter_.key + parameters.key_close);
}

// Returns true if an escape begins before `at` and ends after it.
bool Machine::is_in_escape(std::size_t at) {
  if (parameter_.escapes.empty()) return false;
  std::size_t next = std::max(parameter_.next_unit, base_ + head_) - base_;
  while (next < at) next += format::unit_size(std::string_view(buffer_).substr(next), parameter_.escapes);
  parameter_.next_unit = base_ + next;
  return next > at;
}

void Machine::stream_value(std::size_t end) {
  if (end <= head_) return;
  const std::string_view written = std::string_view(buffer_).substr(head_, end - head_);
  emit(EventKind::kArguments, end, in_json(format::unescaped(written, parameter_.escapes)));
}

// Reads a value by the types in the tool's schema.  What fits no alternative is a string, if that fits one.
json::Value Machine::typed_value(std::string_view text) const {
  const auto read = [&](const std::optional<TypeSet>& types) {
    return as_choice(read_value(text, parameter_.forms, types, syntax_->values.nested), parameter_.schema);
  };
  json::Value value = read(parameter_.types);
  const bool may_be_string = parameter_.types && parameter_.types->has(TypeSet::kString);
  if (!may_be_string || value.is_string() || fits(value, parameter_.schema)) return value;
  json::Value as_text = read(TypeSet(TypeSet::kString));
  return as_text.is_string() && fits(as_text, parameter_.schema) ? as_text : value;
}

// Takes the value [head_, end).  Its closer ends at `terminator_end`.
void Machine::end_value(std::size_t end, std::size_t terminator_end) {
  end = std::max(end, head_);
  if (parameter_.is_streaming) {
    stream_value(end);
    emit(EventKind::kArguments, head_, "\"");
    const auto whole = json::parse(std::string_view(call().arguments).substr(parameter_.value_begin));
    if (whole.ok() && whole.value().is_string()) look_for_tags(whole.value().as_string());
  } else {
    std::string_view text = std::string_view(buffer_).substr(head_, end - head_);
    const bool is_bare_string = std::any_of(
        parameter_.forms.begin(), parameter_.forms.end(),
        [](const ValueForm* form) { return form->type == ValueType::kString && form->style == ValueStyle::kRaw; });
    if (parameter_.closer_set.empty() && !is_bare_string) text = format::trimmed(text);
    std::optional<json::Value> nested;
    const format::Parameters& parameters = syntax_->format->calls.parameters;
    if (parameter_.markup.is_possible) nested = parameter_.markup.read(text, parameters, parameter_.schema);
    const json::Value read = nested ? *nested : typed_value(text);
    const bool is_as_written = read.is_string() && read.as_string() == text;
    take_value(read, end, terminator_end);
    if (is_as_written) look_for_tags(read.as_string());
    return;
  }
  leave_value(terminator_end);
}

// Takes `read` as the value, which ends at `end`.
void Machine::take_value(const json::Value& read, std::size_t end, std::size_t terminator_end) {
  emit(EventKind::kArguments, end, call_.takes_item ? in_list(read) : json::to_compact(read));
  leave_value(terminator_end);
}

void Machine::leave_value(std::size_t terminator_end) {
  pos_ = std::max(terminator_end, head_);
  emit(EventKind::kMarker, pos_);
  phase_ = Phase::kParameter;
}

}  // namespace rondo::parse
