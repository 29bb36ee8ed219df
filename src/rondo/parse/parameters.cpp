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
using format::is_space;
using format::ValueForm;
using format::ValueStyle;
using format::ValueType;

std::string in_json(std::string_view text) {
  std::string out;
  json::append_escaped(out, text, false);
  return out;
}

}  // namespace

bool is_key_byte(char byte, bool is_marked) {
  // Behind an opener of its own, a name ends with what the format writes.
  if (is_marked && std::string_view(" []{}(),").find(byte) != std::string_view::npos) return true;
  return static_cast<unsigned char>(byte) > 0x20 &&
         std::string_view("<>{}[](),\"'`").find(byte) == std::string_view::npos;
}

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
  if (found.kind == MatchKind::kFull) return finish_parameters();
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
  return skip_parameter("a parameter is expected");
}

// A key follows `opener`, which tells the forms of its value where types have openers of their own.
void Machine::begin_key(const Marker* opener) {
  phase_ = Phase::kKey;
  parameter_.key_open.clear();
  for (std::size_t i = 0; i < syntax_->values.key_openers.size(); ++i) {
    if (opener == &syntax_->values.key_openers[i])
      parameter_.key_open = syntax_->format->calls.parameters.forms[i].key_open;
  }
}

bool Machine::finish_parameters() {
  const std::string list = call_.open_list.empty() ? "" : "]";
  emit(EventKind::kArguments, head_, call_.parameters == 0 ? "{}" : list + "}");
  call_.open_list.clear();
  call_.parameters = 0;
  return arguments_done();
}

// Looks at `begin` for a name that the called tool has, in whatever characters, and for the text that closes it.  Where
// tags hold names, the name may be in quotes.
Machine::ListedKey Machine::listed_key(std::size_t begin) const {
  ListedKey best;
  const chat::ToolDefinition* tool = syntax_->tool(call_.name);
  const json::Value* properties = tool == nullptr ? nullptr : tool->parameters.find("properties");
  if (properties == nullptr || !properties->is_object()) return best;
  const bool is_marked = !syntax_->parameter_open.empty();
  const auto is_plain = [is_marked](char byte) { return is_key_byte(byte, is_marked); };
  const auto consider = [&](const std::string& name, std::size_t quote) {
    ListedKey found = key_written(begin, name);
    if (found.kind == MatchKind::kNone || found.end < best.end) return;
    found.quote = quote;
    best = found;
  };
  const std::string quote = is_marked ? buffer_.substr(begin, 1) : "";
  for (const json::Member& property : properties->as_object()) {
    const std::string& name = property.key;
    if (name.empty()) continue;
    // Other names are read without the list.
    if (!std::ranges::all_of(name, is_plain)) consider(name, 0);
    if (quote == "\"" || quote == "'") consider(std::string(quote).append(name).append(quote), 1);
  }
  return best;
}

// Matches `name` at `begin`, and the text that closes a key.
Machine::ListedKey Machine::key_written(std::size_t begin, std::string_view name) const {
  const std::string_view rest = std::string_view(buffer_).substr(begin);
  if (!rest.starts_with(name))
    return {!is_end_ && name.starts_with(rest) ? MatchKind::kPartial : MatchKind::kNone, begin, 0};
  const std::size_t end = begin + name.size();
  const std::size_t next = skip_space(end);
  if (next == buffer_.size()) return {is_end_ ? MatchKind::kNone : MatchKind::kPartial, end, 0};
  if (syntax_->sets.key.empty()) return {next > end ? MatchKind::kFull : MatchKind::kNone, end, 1};
  const MarkerSet::Found close = syntax_->sets.key.at(buffer_, next, is_end_, starts());
  return {close.kind, end, next - end + close.size};
}

// Takes a name that listed_key() finds.
MatchKind Machine::take_listed_key(std::size_t begin) {
  const ListedKey found = listed_key(begin);
  if (found.kind != MatchKind::kFull) return found.kind;
  const bool has_own_close = !syntax_->sets.key.empty();
  pos_ = begin + found.quote;
  if (found.quote > 0) emit(EventKind::kMarker, pos_);
  take_key(pos_, found.end - found.quote, found.quote + found.close);
  if (found.quote > 0) note_damaged_tag();
  if (!has_own_close) trail_.text = syntax_->format->calls.parameters.key_close.substr(1);
  return found.kind;
}

// Reads the name of a parameter, up to the text that closes it.
bool Machine::key() {
  const std::size_t begin = skip_space(pos_);
  if (const MatchKind wrapper = wrapping_parameter(begin); wrapper != MatchKind::kNone)
    return wrapper == MatchKind::kFull;
  if (const MatchKind listed = take_listed_key(begin); listed != MatchKind::kNone) return listed == MatchKind::kFull;
  if (const MatchKind nameless = nameless_parameter(begin); nameless != MatchKind::kNone)
    return nameless == MatchKind::kFull;
  if (const MatchKind quoted = quoted_key(begin); quoted != MatchKind::kNone) return quoted == MatchKind::kFull;
  for (std::size_t end = begin; end < buffer_.size(); ++end) {
    if (const MatchKind close = key_close(begin, end); close != MatchKind::kNone) return close == MatchKind::kFull;
    if (end > begin && is_space(buffer_[end]) && syntax_->sets.key.empty()) {  // only white space closes it
      take_key(begin, end, 1);
      trail_.text = syntax_->format->calls.parameters.key_close.substr(1);
      return true;
    }
    if (end > begin && is_space(buffer_[end])) {
      const std::size_t next = skip_space(end);  // only the key's close may follow
      if (next == buffer_.size()) return false;
      end = next - 1;
      if (syntax_->sets.key.at(buffer_, next, is_end_, starts()).kind != MatchKind::kNone) continue;
    }
    if (!is_key_byte(buffer_[end], !syntax_->parameter_open.empty()) || end - begin > kLongestKey) {
      return skip_parameter("the name of a parameter cannot be read");
    }
  }
  return false;
}

// Looks for the quote of JSON or Python, or of the format's own strings, that opens a name at `begin`.
Machine::Quotes Machine::quotes_at(std::size_t begin) const {
  const std::string_view rest = std::string_view(buffer_).substr(begin);
  const std::string_view first = rest.substr(0, 1);
  if (first == "\"" || first == "'") return {MatchKind::kFull, first, first};
  const NestedSyntax& own = syntax_->values.nested;
  if (own.string_open.size() <= 1) return {};
  if (rest.starts_with(own.string_open)) return {MatchKind::kFull, own.string_open, own.string_close};
  const bool may_come = !is_end_ && own.string_open.starts_with(rest);
  return {may_come ? MatchKind::kPartial : MatchKind::kNone, {}, {}};
}

// Takes a name in the quotes of JSON or Python, or of the format's own strings, where the format writes names bare: models
// write the arguments as an object then.
MatchKind Machine::quoted_key(std::size_t begin) {
  if (begin == buffer_.size() || !syntax_->parameter_open.empty() || syntax_->sets.key.empty()) return MatchKind::kNone;
  const Quotes quotes = quotes_at(begin);
  if (quotes.kind != MatchKind::kFull) return quotes.kind;
  const std::size_t name = begin + quotes.open.size();
  const std::size_t end = buffer_.find(quotes.close, name);
  if (end == std::string::npos)
    return is_end_ || buffer_.size() - begin > kLongestKey ? MatchKind::kNone : MatchKind::kPartial;
  const std::size_t next = skip_space(end + quotes.close.size());
  if (next == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const MarkerSet::Found close = syntax_->sets.key.at(buffer_, next, is_end_, starts());
  if (close.kind == MatchKind::kNone && quotes.open.size() == 1 && begins_object(next)) return MatchKind::kFull;
  if (close.kind != MatchKind::kFull || end == name || end - begin > kLongestKey) {
    return close.kind == MatchKind::kPartial ? close.kind : MatchKind::kNone;
  }
  pos_ = name;
  emit(EventKind::kMarker, pos_);
  take_key(name, end, next + close.size - end);
  return MatchKind::kFull;
}

// Reads the arguments as JSON if the format writes a brace before them, and `colon` follows the first name in quotes
// instead of the format's own text.
bool Machine::begins_object(std::size_t colon) {
  const bool has_brace = call_.piece > 0 && syntax_->piece_markers[call_.piece - 1].core().ends_with('{');
  if (call_.parameters > 0 || !has_brace || buffer_[colon] != ':') return false;
  pos_ = head_;
  emit(EventKind::kArguments, head_, "{");
  scanner_ = JsonScanner();
  (void)scanner_.step('{');
  call_.has_arguments = true;
  phase_ = Phase::kJsonArguments;
  return true;
}

// Matches the text that closes a key, as the format writes it or damaged, at `end`.  Takes the key [begin, end) if it
// is there.
MatchKind Machine::key_close(std::size_t begin, std::size_t end) {
  const MarkerSet::Found found = syntax_->sets.key.at(buffer_, end, is_end_, starts());
  if (found.kind == MatchKind::kPartial) return found.kind;
  if (end == begin) return MatchKind::kNone;
  if (found.kind == MatchKind::kFull) {
    take_key(begin, end, found.size);
    return found.kind;
  }
  if (!syntax_->rare.unmarked_key_close.empty()) {
    const Match bare = syntax_->rare.unmarked_key_close.match(std::string_view(buffer_).substr(end), is_end_, starts());
    if (bare.kind == MatchKind::kFull) {
      take_key(begin, end, bare.size);
      parameter_.is_unmarked = true;
    }
    if (bare.kind != MatchKind::kNone) return bare.kind;
  }
  const Match untyped = untyped_key_close(end);
  const Match damaged = untyped.kind == MatchKind::kNone ? damaged_key_close(end) : untyped;
  if (damaged.kind == MatchKind::kFull) {
    take_key(begin, end, damaged.size);
    note_damaged_tag();
    if (untyped.kind == MatchKind::kFull) (void)take_value_open(pos_, nullptr);
  }
  return damaged.kind;
}

// Takes the key [begin, end).  The text that closes it has `close_size` bytes.
void Machine::take_key(std::size_t begin, std::size_t end, std::size_t close_size) {
  parameter_.is_unmarked = false;
  parameter_.key = format::unescaped(format::trimmed(std::string_view(buffer_).substr(begin, end - begin)),
                                     syntax_->format->calls.parameters.key_escapes);
  if (call_.open_list.empty() || call_.open_list != parameter_.key) {
    const char* before = call_.parameters == 0 ? "{\"" : call_.open_list.empty() ? ",\"" : "],\"";
    emit(EventKind::kArguments, end, before + in_json(parameter_.key) + "\":");
    call_.open_list.clear();
  }
  pos_ = end + close_size;
  emit(EventKind::kMarker, pos_);
  syntax_->sets.key.for_each([this](int, const Marker& marker) { trail_.text = marker.trail(); });
  trail_.of_reasoning = false;
  ++call_.parameters;
  phase_ = Phase::kValueOpen;
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

// Matches the name of a parameter at `begin`, with the text that closes it, in a format where nothing opens parameters.
MatchKind Machine::key_at(std::size_t begin) const {
  if (const ListedKey listed = listed_key(begin); listed.kind != MatchKind::kNone) return listed.kind;
  for (std::size_t end = begin; end < buffer_.size(); ++end) {
    const MarkerSet::Found found = syntax_->sets.key.at(buffer_, end, is_end_, starts());
    if (found.kind == MatchKind::kPartial || (found.kind == MatchKind::kFull && end > begin)) return found.kind;
    if (is_space(buffer_[end])) {
      const std::size_t next = skip_space(end);
      if (next == buffer_.size()) break;
      return syntax_->sets.key.at(buffer_, next, is_end_, starts()).kind;
    }
    if (!is_key_byte(buffer_[end], false) || end - begin > kLongestKey) return MatchKind::kNone;
  }
  return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
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
    emit(EventKind::kArguments, end, call_.takes_item ? in_list(read) : json::to_compact(read));
    if (read.is_string() && read.as_string() == text) look_for_tags(read.as_string());
  }
  pos_ = std::max(terminator_end, head_);
  emit(EventKind::kMarker, pos_);
  phase_ = Phase::kParameter;
}

}  // namespace rondo::parse
