#include "parse/machine.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "chat/reasoning_fields.h"
#include "format/escapes.h"
#include "format/units.h"
#include "json/print.h"

namespace rondo::parse {

using format::is_blank;
using format::is_space;

namespace {

bool is_words(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return format::is_word(byte) || is_space(byte); });
}

// Returns whether an opener may well stand in an answer: words, numbers and the punctuation of sentences and lists, but
// no fence.
bool is_prose(std::string_view opener) {
  return opener.find("```") == std::string_view::npos && std::ranges::all_of(opener, [](char byte) {
           const bool is_sign = std::string_view(".,:;!?#*-'\"`").find(byte) != std::string_view::npos;
           return format::is_word(byte) || is_space(byte) || is_sign || byte == format::kCounter;
         });
}

// Returns whether an event of `kind` that begins at `begin` only continues what `last` reports.
bool is_continued(const Event& last, EventKind kind, std::size_t begin, std::size_t call, bool of_reasoning) {
  const bool has_text = kind == EventKind::kContent || kind == EventKind::kReasoning || kind == EventKind::kArguments;
  return (has_text || kind == EventKind::kMarker) && last.kind == kind && last.end == begin && last.call == call &&
         last.of_reasoning == of_reasoning;
}

// Returns the last event if one of `kind` that begins at `begin` only continues it, otherwise such a new one.
Event& event_at(std::vector<Event>& events, EventKind kind, std::size_t begin, std::size_t call, bool of_reasoning) {
  if (events.empty() || !is_continued(events.back(), kind, begin, call, of_reasoning)) {
    Event& event = events.emplace_back();
    event.kind = kind;
    event.begin = begin;
    event.call = call;
    event.of_reasoning = of_reasoning;
  }
  return events.back();
}

}  // namespace

// Parses the prompt's tail.  If that is not the beginning of this turn, starts over with only the reasoning that it
// opens.
std::unique_ptr<Machine> Machine::make(std::shared_ptr<const Syntax> syntax, std::string_view prompt_tail,
                                       std::string_view begun) {
  auto machine = std::make_unique<Machine>(syntax, prompt_tail);
  if (machine->prompt_.is_foreign)
    machine = std::make_unique<Machine>(std::move(syntax), machine->prompt_.open_reasoning);
  machine->go_on_behind(begun);
  return machine;
}

Machine::Machine(std::shared_ptr<const Syntax> syntax, std::string_view prompt_tail)
    : syntax_(std::move(syntax)), inline_reasoning_(syntax_->options.inline_reasoning) {
  if (!syntax_->options.special_tokens.empty()) starts_.emplace(buffer_);
  if (const std::string& field = syntax_->format->input.reasoning_field; !chat::is_reasoning_field(field))
    message_.reasoning_field = field;
  start_from_prompt(prompt_tail);
  if (phase_ != Phase::kTop) return;
  const format::Reasoning& reasoning = syntax_->format->reasoning;
  const bool starts_unmarked = reasoning.present && is_blank(reasoning.open) && prompt_.bytes == 0;
  if (starts_unmarked && !inline_reasoning_) {
    phase_ = Phase::kUndecided;
  } else {
    begin_content();
  }
}

// Expects the text that the template writes before content, if that text is only white space.
void Machine::begin_content() {
  if (!top_.is_blank || !trail_.text.empty() || !is_blank(syntax_->format->content.open)) return;
  trail_.text = syntax_->format->content.open;
  trail_.of_reasoning = false;
}

// Feeds one byte at a time, except plain text.  The machine decides on every byte before it sees the next one, so the
// events cannot depend on how the input was cut.
void Machine::feed(std::string_view text, Input input) {
  bool may_start = input != Input::kTokenText;
  while (!text.empty()) {
    const std::size_t plain = plain_prefix(text);
    if (plain > 0) {
      take_plain(text.substr(0, plain));
      text.remove_prefix(plain);
    } else {
      take(text.front(), may_start);
      text.remove_prefix(1);
      run();
    }
    if (input == Input::kToken) may_start = false;
  }
  if (!held_) drop_reported();
}

// Returns how many bytes at the front of `text` are certainly text: whole characters in which no marker begins, and no
// white space of a marker.  Returns 0 while anything is held back.
std::size_t Machine::plain_prefix(std::string_view text) const {
  if (head_ != buffer_.size() || !trail_.text.empty() || held_) return 0;
  std::size_t size = 0;
  if (phase_ == Phase::kTop && !top_.is_blank) {
    size = syntax_->sets.text.plain_prefix(text);
    size = format::plain_size(text.substr(0, size), escapes_of(EventKind::kContent));
  } else if (phase_ == Phase::kReasoning && !thoughts_.are_fresh && !thoughts_.is_layout) {
    size = syntax_->sets.reasoning.plain_prefix(text);
    size = format::plain_size(text.substr(0, size), escapes_of(EventKind::kReasoning));
  } else if (phase_ == Phase::kValue && parameter_.is_streaming) {
    size = syntax_->sets.value.plain_prefix(text.substr(0, parameter_.closer_set.plain_prefix(text)));
    size = format::plain_size(text.substr(0, size), parameter_.escapes);
  } else if (is_reading_json_arguments()) {
    size = scanner_.plain_prefix(text);
  }
  return size == 0 ? 0 : utf8::complete_prefix(text.substr(0, size));
}

// Reports plain text directly.  It need not go through the buffer, because nothing is held back.
void Machine::take_plain(std::string_view text) {
  pass(0);
  const std::size_t begin = raw(0);
  pass(text.size());
  if (phase_ == Phase::kValue) {
    std::string escaped;
    json::append_escaped(escaped, text, false);
    return report(EventKind::kArguments, begin, raw(0), escaped);
  }
  EventKind kind = EventKind::kArguments;
  if (phase_ == Phase::kTop) kind = EventKind::kContent;
  if (phase_ == Phase::kReasoning) kind = EventKind::kReasoning;
  report(kind, begin, raw(0), text);
}

// Returns whether the text that comes next is passed on unchanged as the arguments of a call.
bool Machine::is_reading_json_arguments() const {
  if (call_.is_string || has_escaped_arguments()) return false;
  if (phase_ == Phase::kJsonArguments) return call_.has_arguments;
  return phase_ == Phase::kJson && call_.is_reported && envelope_.capture == JsonCall::Capture::kArguments;
}

// Feeds an added token.  A stop ends the turn even inside a string that was never closed.
void Machine::feed_special(std::string_view bytes) {
  const bool is_inside = phase_ != Phase::kTop && phase_ != Phase::kReasoning && phase_ != Phase::kEnded;
  // The token that closes a call also ends JSON that is still open.  It never is part of a string.
  const bool is_close = !syntax_->call_close.empty() && syntax_->call_close.core().starts_with(bytes);
  const bool is_in_json = phase_ == Phase::kJsonArguments || (phase_ == Phase::kJson && call_.is_reported);
  if (is_close && is_in_json && !scanner_.done()) {
    (void)break_call(chat::CallStatus::kInvalidJson, "the arguments of a tool call are no valid JSON");
  }
  if (!is_inside || !syntax_->is_stop(bytes)) return feed(bytes, Input::kToken);
  is_end_ = true;
  ending_.has_stop = true;
  run();
  finish_open();
  release();
  is_end_ = false;
  phase_ = Phase::kEnded;
  feed(bytes, Input::kToken);
  message_.behind_stop.clear();  // that was the stop itself
}

void Machine::close() {
  if (ending_.is_closed) return;
  ending_.is_closed = true;
  // A partial text may go on, so what may still become something else is left out.  Otherwise it is decided here.
  is_end_ = !syntax_->options.partial;
  run();
  finish_open();
  if (held_ && syntax_->options.partial) {
    message_ = std::move(held_->before);  // the held call may still turn out to be text
    held_.reset();
  }
  release();
  if (syntax_->options.must_call && message_.tool_calls.empty()) complain(raw(buffer_.size()), "no tool is called");
  message_.complete = !ending_.is_open;
  forget_blank_behind_stop();
}

void Machine::forget_events() {
  // The first call keeps the events of the prompt's tail.  The first feed() reports them.
  if (reported_.are_old) reported_.events.clear();
  reported_.are_old = true;
}

void Machine::run() {
  while (step()) {}
}

bool Machine::step() {
  if (absorb_trail()) return true;
  if (phase_ == Phase::kTop) settle_format();
  switch (phase_) {
    case Phase::kUndecided: return undecided();
    case Phase::kTop: return top_.is_blank ? top_blank() : top();
    case Phase::kReasoning:
      if (thoughts_.is_layout) return reasoning_after_call();
      return thoughts_.are_fresh ? reasoning_start() : reasoning();
    case Phase::kFencedAnswer: return fenced_answer();
    case Phase::kSection: return section();
    case Phase::kJson: return json_envelope();
    case Phase::kPieces: return pieces();
    case Phase::kEarlyArguments: return early_arguments();
    case Phase::kJsonArguments: return json_arguments();
    case Phase::kRawArguments: return raw_arguments();
    case Phase::kParameter: return parameter();
    case Phase::kKey: return key();
    case Phase::kValueOpen: return value_open();
    case Phase::kValue: return value();
    case Phase::kSkip: return skipped_parameter();
    case Phase::kRecover: return recover();
    case Phase::kAfterCall: return after_call();
    case Phase::kBetween: return between();
    case Phase::kEnded: return behind_stop();
  }
  return false;
}

// Takes the white space that the template writes after the last marker, as far as it is there.
bool Machine::absorb_trail() {
  if (trail_.text.empty()) return false;
  std::size_t size = 0;
  while (size < trail_.text.size() && pos_ + size < buffer_.size() && buffer_[pos_ + size] == trail_.text[size]) ++size;
  const bool is_more_possible = size < trail_.text.size() && pos_ + size == buffer_.size();
  pos_ += size;
  trail_.text = is_more_possible && !is_end_ ? trail_.text.substr(size) : "";
  if (trail_.of_reasoning) {
    emit_reasoning_marker(pos_);
  } else {
    emit(EventKind::kMarker, pos_);
  }
  return size > 0 && trail_.text.empty();
}

// Returns the escapes in the text that is read as `kind`.  Content without its opener has none; where nothing closes
// content, that is not known.
std::span<const format::Escape> Machine::escapes_of(EventKind kind) const {
  const format::Format& format = *syntax_->format;
  if (kind == EventKind::kArguments) return format.calls.argument_escapes;
  if (kind == EventKind::kReasoning && !inline_reasoning_) return format.reasoning.escapes;
  if (kind != EventKind::kContent || format.content.escapes.empty()) return {};
  const bool is_own = top_.is_wrapped || is_blank(format.content.open) || is_blank(format.content.close);
  return is_own ? std::span<const format::Escape>(format.content.escapes) : std::span<const format::Escape>();
}

// Finds the first marker that no escape contains.
MarkerSet::Found Machine::find_marker(const MarkerSet& set, std::span<const format::Escape> escapes) const {
  MarkerSet::Found found = set.find(buffer_, pos_, is_end_, starts());
  for (std::size_t unit = head_; !escapes.empty() && found.kind != MatchKind::kNone && unit < found.begin;) {
    unit += format::unit_size(std::string_view(buffer_).substr(unit), escapes);
    if (unit > found.begin) found = set.find(buffer_, unit, is_end_, starts());
  }
  return found;
}

bool Machine::scan(const MarkerSet& set, EventKind kind, MarkerSet::Found& found) {
  const std::span<const format::Escape> escapes = escapes_of(kind);
  found = find_marker(set, escapes);
  const std::string_view before = std::string_view(buffer_).substr(head_, found.begin - head_);
  pos_ = found.begin;
  if (found.kind == MatchKind::kFull) {
    emit(kind, found.begin - found.marker->own_lead(before));
    pos_ = found.begin + found.size;
    return true;
  }
  if (found.kind == MatchKind::kNone && is_end_) {
    emit(kind, buffer_.size());
    return false;
  }
  std::size_t end = whole_characters(found.begin - set.possible_lead(before));
  if (!escapes.empty() && end > head_)
    end = head_ + format::whole_units(std::string_view(buffer_).substr(head_, end - head_), escapes);
  emit(kind, end);
  return false;
}

// Reads content up to the next marker.  White space at the end of the text may be the stop itself.
bool Machine::top() {
  if (is_end_ && !syntax_->blank_stop.empty() &&
      std::string_view(buffer_).substr(head_).ends_with(syntax_->blank_stop)) {
    emit(EventKind::kContent, buffer_.size() - syntax_->blank_stop.size());
    pos_ = buffer_.size();
    phase_ = Phase::kEnded;
    return true;
  }
  MarkerSet::Found found;
  if (!scan(syntax_->sets.text, EventKind::kContent, found)) return false;
  if (found.id == kCallOpen) {
    const MatchKind heading = heading_behind_text(pos_);
    if (heading == MatchKind::kPartial) pos_ = found.begin;
    if (heading != MatchKind::kNone) return heading == MatchKind::kFull;
  }
  if (found.id != kWrapper) return top_marker(found);
  pos_ = found.begin;
  MatchKind kind = respelled_call(found.begin);
  if (kind == MatchKind::kNone) kind = foreign(found.begin);
  if (kind == MatchKind::kNone) pos_ = found.begin + 1;
  return kind != MatchKind::kPartial;
}

// Decides what begins after white space.  The order matters: markers of the format come before calls of other formats,
// and these before calls without an opener.
bool Machine::top_blank() {
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) {
    if (!is_end_) return false;
    pos_ = at;
    const std::string& stop = syntax_->blank_stop;
    const bool is_stop = std::string_view(buffer_).substr(head_).ends_with(stop);
    if (!top_.is_layout) emit(EventKind::kContent, at - (is_stop ? stop.size() : 0));
    emit(EventKind::kMarker, at);
    return false;
  }
  using Construct = MatchKind (Machine::*)(std::size_t at);
  for (const Construct construct : {&Machine::heading, &Machine::blank_marker, &Machine::respelled_call,
                                    &Machine::wrapper_close, &Machine::bare_separator, &Machine::answer_fence,
                                    &Machine::foreign, &Machine::named_call, &Machine::bare_call}) {
    const MatchKind kind = (this->*construct)(at);
    if (kind != MatchKind::kNone) return kind == MatchKind::kFull;
  }
  if (drop_prompt_part()) return true;
  top_.is_blank = false;
  pos_ = at;
  return true;
}

// Acts on a marker of the format at `at`, after white space.
MatchKind Machine::blank_marker(std::size_t at) {
  const MarkerSet::Found found = syntax_->sets.blank.at(buffer_, at, is_end_, starts());
  if (found.kind != MatchKind::kFull) return found.kind;
  if (is_answer_text(found)) return MatchKind::kNone;
  keep_blank(found);
  pos_ = at + found.size;
  return top_marker(found) ? MatchKind::kFull : MatchKind::kPartial;
}

// Returns whether a header of plain words belongs to the answer.  It does not if the white space that the template
// writes before a header precedes it, or if it is the first text behind a prompt that has none.  Only there does the
// last tag of a header count without the others.
bool Machine::is_answer_text(const MarkerSet::Found& found) const {
  const bool is_end = found.marker == &syntax_->rare.header_end;
  if (found.id != kHeader || !(syntax_->has_plain_header || is_end)) return false;
  const bool is_first = prompt_.lacks_header && !top_.has_header && has_read_nothing();
  if (is_first || is_end) return !is_first;
  const std::string_view before = std::string_view(buffer_).substr(0, found.begin);
  const std::size_t lead = found.marker->lead().size();
  return lead == 0 || found.marker->own_lead(before) < lead;
}

// A close of what is not open is text, and an opener may begin in it.
bool Machine::stray_close(const MarkerSet::Found& found) {
  pos_ = found.begin + 1;
  top_.is_blank = false;
  return true;
}

// Takes a close of reasoning outside of reasoning.
void Machine::reasoning_ends(const MarkerSet::Found& found) {
  emit_reasoning_marker(pos_);
  trail_.of_reasoning = true;
  const auto& closes = syntax_->format->stops.history_close;  // one text may close every kind of block
  const auto is_same = [&found](const std::string& text) { return format::trimmed(text) == found.marker->core(); };
  if (!is_blank(syntax_->format->header) && std::any_of(closes.begin(), closes.end(), is_same))
    top_.is_blank = top_.is_layout = true;
  top_.is_blank = top_.is_blank || syntax_->rare.content_open_is_reserved;
}

// The close of a section directly after calls closes them even if nothing opened the section.
bool Machine::may_close_section(const MarkerSet::Found& found) const {
  return section_.is_open ||
         (top_.is_blank && top_.is_layout && !message_.tool_calls.empty() && found.marker->is_distinct());
}

// Acts on a marker outside reasoning and calls, which ends at pos_.
bool Machine::top_marker(const MarkerSet::Found& found) {
  trail_.of_reasoning = false;
  top_.has_header = found.id == kHeader;
  // The text that closes a section may also open one, as a fence does, or close reasoning or content.
  const bool closes_section = section_.is_open && !top_.is_wrapped && found.id != kStop &&
                              found.marker->core() == syntax_->section_close.core();
  switch (closes_section ? static_cast<int>(kSectionClose) : found.id) {
    case kReasoningOpen:
      if (top_.is_wrapped && !found.marker->is_reserved()) return stray_close(found);  // content is closed first
      return reasoning_opened(*found.marker);
    case kReasoningClose:
      if (!ends_content(found)) reasoning_ends(found);
      break;
    case kContentOpen:
      emit(EventKind::kMarker, pos_);
      top_.is_preamble = found.marker == &syntax_->rare.preamble_open;
      top_.is_wrapped = !is_blank(content_close());
      // A model may put calls of another format behind a control token that opens content.
      top_.is_blank = top_.is_wrapped && syntax_->rare.content_open_is_reserved && !syntax_->has_headings();
      break;
    case kContentClose:
      if (const MatchKind end = content_ends(found); end != MatchKind::kFull)
        return end == MatchKind::kNone ? stray_close(found) : wait_at(found);
      [[fallthrough]];
    case kHistoryClose:  // another block of the same turn may follow
      emit(EventKind::kMarker, pos_);
      top_.is_wrapped = false;
      top_.is_blank = top_.is_layout = true;
      break;
    case kStop:
      if (top_.is_wrapped && !found.marker->is_distinct()) return stray_close(found);  // such as a bracket in JSON
      return end_turn(found);
    case kSectionOpen:
    case kCallOpen:
    case kHalfOpen:
    case kBareOpen: return top_opener(found);
    case kSectionClose:
      if (!may_close_section(found)) return stray_close(found);
      emit(EventKind::kMarker, pos_);
      section_.is_open = false;
      top_.is_blank = top_.is_layout = true;
      break;
    default:
      if (found.id == kHeader && !top_.is_blank) top_.is_blank = top_.is_layout = true;
      emit(EventKind::kMarker, pos_);
      break;
  }
  trail_.text = found.marker->trail();
  if (found.id == kHeader && is_blank(syntax_->format->content.open)) trail_.text += syntax_->format->content.open;
  return true;
}

// Begins a call at an opener.  An opener of mere punctuation counts only at the start of the text, or if a tool's name
// follows.  If the format announces calls with a section and there is none, an opener of plain words needs a tool's
// name too.
bool Machine::top_opener(const MarkerSet::Found& found) {
  const bool is_apart = found.id == kCallOpen && !section_.is_open && syntax_->has_marked_sections;
  const bool is_weak = found.id != kBareOpen && found.id != kHalfOpen &&
                       (!found.marker->is_distinct() || (is_apart && is_words(found.marker->core())));
  const bool is_first = top_.is_blank && is_blank(message_.content) && !is_apart && !syntax_->rare.names_are_tags;
  if (is_weak && !section_.is_open && !syntax_->options.tools && !is_first) {
    top_.is_blank = false;
    return true;
  }
  if (found.id == kBareOpen) {
    // An answer in JSON contains no calls.
    const std::string_view before = format::trimmed(message_.content);
    if (!before.empty() && (before.front() == '{' || before.front() == '[')) return true;
    --pos_;  // the bracket is part of the call's own text
  }
  thoughts_.have_call = false;
  foreign_.closes.clear();
  const bool was_wrapped = std::exchange(top_.is_wrapped, top_.is_wrapped && found.id == kBareOpen);
  Opening opening = Opening::kMarker;
  if (found.id == kBareOpen) opening = Opening::kInText;
  if (found.id == kHalfOpen) opening = Opening::kHalf;
  if (is_weak) opening = syntax_->options.tools ? Opening::kHalf : Opening::kBare;
  begin_attempt(section_.is_open || found.id == kSectionOpen, opening);
  attempt_.was_wrapped = was_wrapped;
  attempt_.is_prose = !section_.was_open && opening == Opening::kMarker && is_prose(found.marker->core());
  if (found.id != kSectionOpen) return start_body();
  phase_ = Phase::kSection;
  return true;
}

// Decides about everything that is still open, because no more text comes.
void Machine::finish_open() {
  // What looked like a call is content, and nothing of it is open.  A stop may stand in it.
  while (is_rather_text() && !syntax_->options.partial) {
    (void)fail_attempt(buffer_.size(), "text in the shape of a tool call names no tool");
    run();
  }
  if (attempt_.is_open) return finish_attempt();
  if (call_.is_reported) return finish_call();
  const bool is_reasoning_open = phase_ == Phase::kReasoning && !thoughts_.is_layout;
  const bool may_stay_open = syntax_->format->calls.may_stay_open && !message_.tool_calls.empty();
  const bool is_section_open = section_.is_open && !syntax_->section_close.empty() && !may_stay_open;
  ending_.is_open = ending_.is_open || is_reasoning_open || top_.is_wrapped || is_section_open;
  if (is_reasoning_open) complain(raw(pos_), "the reasoning is not closed");
  if (is_section_open) complain(raw(pos_), "the tool calls are not closed");
  if (!syntax_->options.partial) emit(EventKind::kMarker, buffer_.size());
}

// Ends a call that the end of the text cuts off.
void Machine::finish_call() {
  const bool is_closed = is_closed_by_end();
  ending_.is_open = ending_.is_open || !is_closed;
  const bool is_whole = is_closed || phase_ == Phase::kAfterCall || phase_ == Phase::kPieces ||
                        ((phase_ == Phase::kRawArguments || phase_ == Phase::kParameter) && !syntax_->closes_calls());
  finish_arguments();
  if (phase_ != Phase::kRecover && !is_whole) {
    call().status = chat::CallStatus::kUnclosed;
    complain(raw(pos_), "a tool call is not closed");
  }
  emit(EventKind::kMarker, buffer_.size());
  end_call(raw(buffer_.size()));
}

// Completes arguments in tags, or of bare text, that the end of the text cuts off.  JSON stays as it is; of JSON in a
// string, what the string has so far.
void Machine::finish_arguments() {
  switch (phase_) {
    case Phase::kJson:
    case Phase::kJsonArguments:
      if (const auto begin = open_string_arguments()) emit_begun_string(*begin);
      pos_ = buffer_.size();
      break;
    case Phase::kRawArguments:
      if (!syntax_->options.partial) emit(EventKind::kArguments, head_, "\"}");
      break;
    case Phase::kParameter:
    case Phase::kKey:
    case Phase::kValueOpen:
    case Phase::kValue:
    case Phase::kSkip:
      if (syntax_->options.partial) break;
      if (phase_ == Phase::kValue) end_cut_value(before_blank_close(value_end_at_stop(buffer_.size())));
      finish_parameters();
      break;
    default: break;
  }
}

void Machine::emit(EventKind kind, std::size_t end) {
  if (end <= head_) return;
  const std::string_view written = std::string_view(buffer_).substr(head_, end - head_);
  switch (kind) {
    case EventKind::kArguments:
    case EventKind::kContent:
    case EventKind::kReasoning: {
      const std::span<const format::Escape> escapes = escapes_of(kind);
      return escapes.empty() ? emit(kind, end, written) : emit(kind, end, format::unescaped(written, escapes));
    }
    default: return emit(kind, end, "");
  }
}

void Machine::emit(EventKind kind, std::size_t end, std::string_view text) {
  const std::size_t begin = raw(head_);
  head_ = std::max(head_, end);
  pos_ = std::max(pos_, head_);
  report(kind, begin, raw(end), text);
}

// Appends an event.  Merges it with the last one if it only continues that.
void Machine::append(std::vector<Event>& events, Event&& event) {
  Event& to = event_at(events, event.kind, event.begin, event.call, event.of_reasoning);
  to.end = event.end;
  to.text += event.text;
  to.id = std::move(event.id);
}

// Reports the prompt's opener of reasoning that is kept in the content.  It is reported with the first reasoning after
// it, which begins at `at`.  If content or a call comes first, it is dropped.
void Machine::say_inline_open(std::size_t at) {
  if (prompt_.inline_open.empty()) return;
  report(EventKind::kContent, at, at, std::exchange(prompt_.inline_open, {}));
}

void Machine::report(EventKind kind, std::size_t begin, std::size_t end, std::string_view text) {
  if (kind == EventKind::kReasoning && inline_reasoning_) {
    say_inline_open(begin);
    kind = EventKind::kContent;
  } else if (kind == EventKind::kContent) {
    prompt_.inline_open.clear();
  }
  if (kind == EventKind::kContent) message_.content += text;
  if (kind == EventKind::kReasoning) *message_.reasoning += text;
  if (kind == EventKind::kArguments) call().arguments += text;
  Event& event = event_at(new_events(), kind, begin, last_call(), false);
  event.end = end;
  event.text += text;
}

void Machine::complain(std::size_t at, std::string what) {
  if (mistake_ || syntax_->options.partial) return;
  mistake_.emplace();
  mistake_->code = ErrorCode::kParse;
  mistake_->message = std::move(what);
  mistake_->offset = at;
}

Place Machine::place() const {
  switch (phase_) {
    case Phase::kUndecided:
    case Phase::kTop: return Place::kContent;
    case Phase::kReasoning: return Place::kReasoning;
    case Phase::kFencedAnswer: return Place::kContent;
    case Phase::kEnded: return Place::kEnded;
    case Phase::kBetween: return section_.is_open ? Place::kCall : Place::kContent;
    default: return Place::kCall;
  }
}

}  // namespace rondo::parse
