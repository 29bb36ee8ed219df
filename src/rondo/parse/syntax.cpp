#include "parse/syntax.h"

#include <algorithm>
#include <array>
#include <utility>

#include "format/units.h"
#include "parse/nameless.h"

namespace rondo::parse {

using format::is_blank;
using format::is_space;
using format::is_word;

namespace {

// Returns whether a header is only words and a colon, such as `Answer:`.  An answer may well begin with such words.
bool is_plain_words(std::string_view header) {
  const std::string_view core = format::trimmed(header);
  const auto is_ascii = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
  const auto is_plain = [&is_ascii](char byte) {
    return is_word(byte) || is_space(byte) || byte == ':' || !is_ascii(byte);
  };
  const bool ends_with_colon = core.ends_with(':') || core.ends_with("\xEF\xBC\x9A");  // also the full-width colon
  return std::ranges::all_of(core, is_plain) && (ends_with_colon || std::ranges::all_of(core, is_ascii));
}

// Returns where the last unit of a marker begins.  `cuts`: its unit boundaries.
std::size_t last_unit(std::string_view core, const std::vector<std::size_t>& cuts) {
  const auto last =
      std::find_if(cuts.rbegin(), cuts.rend(), [core](std::size_t cut) { return !is_blank(core.substr(cut)); });
  return last != cuts.rend() ? *last : 0;
}

}  // namespace

Syntax::Syntax(std::shared_ptr<const format::Format> of, Options with)
    : format(std::move(of)), options(std::move(with)) {
  if (options.tools) tools = chat::tool_definitions(*options.tools);
  compile();
}

Syntax::Syntax(const Syntax& own, format::Calls calls) : options(own.options), tools(own.tools), is_foreign_(true) {
  auto other = std::make_shared<format::Format>(*own.format);
  other->calls = std::move(calls);
  format = std::move(other);
  compile();
}

const Marker* Syntax::add_marker(std::string_view text) {
  markers_.push_back(std::make_unique<Marker>(make_marker(text)));
  return markers_.back().get();
}

// A stop that ordinary text may contain ends a turn only on the line of its own, or at the end of a line, where the
// template gives it that.  One stop may be known with and without the line end behind it.
const Marker* Syntax::add_stop(std::string_view text) {
  for (const std::vector<std::string>* known : {&format->stops.content, &format->stops.tool}) {
    for (const std::string& other : *known)
      if (other.size() > text.size() && other.starts_with(text) && other[text.size()] == '\n') text = other;
  }
  (void)add_marker(text);
  if (format::is_plain(text)) markers_.back()->keep_to_line();
  return markers_.back().get();
}

// Registers each marker in the sets of the places where the parser looks for it.
void Syntax::compile() {
  if (format->reasoning.present) compile_reasoning();
  compile_content();
  compile_stops();
  if (format->calls.present && options.calls) compile_calls();
  if (options.tools && options.calls && !is_foreign_) {
    sets.text.add_control_tokens(kWrapper);
    sets.text.add(kWrapper, add_marker("<"));  // a tag
  }
  if (!format->calls.heading_close.empty()) compile_headings();
  sets.reasoning_section = sets.reasoning;
  sets.reasoning_section.add(kSectionClose, &section_close);
  sets.value = sets.stop;
  sets.edges.for_each([this](int id, const Marker& marker) { sets.value.add(id, &marker); });
}

// Registers the markers around reasoning.
void Syntax::compile_reasoning() {
  const format::Format& f = *format;
  const Marker* open = add_marker(f.reasoning.open);
  const Marker* close = add_marker(f.reasoning.close);
  if (!open->empty() && !open->is_distinct() && !close->is_distinct() && close->trail().starts_with('\n')) {
    markers_.back()->keep_to_line();
    rare.light_close = close;
  }
  sets.blank.add(kReasoningOpen, open);
  // A control token that only reasoning begins with opens reasoning also before other words.  Models may write it
  // twice.
  const std::string begun = open->core().substr(0, open->core().find_first_of(">])") + 1);
  const auto begins_so = [&](const std::string& text) { return format::trimmed(text).starts_with(begun); };
  const bool is_shared = begins_so(f.content.open) || begins_so(f.calls.section_open) || begins_so(f.calls.call_open) ||
                         begins_so(f.reasoning.absent);
  if (begun.size() < open->core().size() && Marker(begun).is_reserved() && !is_shared) {
    for (MarkerSet* set : {&sets.blank, &sets.text}) set->add(kReasoningOpen, add_marker(begun));
    sets.blank.add(kReasoningOpen, add_marker(begun + f.reasoning.open));
  }
  const Marker* absent = add_marker(f.reasoning.absent);
  // An answer may begin with punctuation.  What stands in place of reasoning then counts together with what follows it.
  for (const Marker* marker : {close, absent}) {
    if (!marker->empty() && marker->is_distinct()) sets.blank.add(kReasoningClose, marker);
  }
  if (!absent->empty() && !absent->is_distinct()) compile_absent_reasoning(*absent);
  sets.reasoning_open.add(kReasoningOpen, open);
  for (MarkerSet* set : {&sets.reasoning, &sets.reasoning_layout, &sets.reasoning_recover, &sets.reasoning_skip})
    set->add(kReasoningClose, close);
  // A reserved marker cannot be ordinary text, so it opens reasoning after content too.
  if (open->is_reserved() || (f.reasoning.behind_content && open->is_distinct())) sets.text.add(kReasoningOpen, open);
  const bool is_content_close = close->core() == format::trimmed(f.content.close);  // then kContentClose counts
  if (close->is_reserved() && !is_stop(close->core()) && !is_content_close) sets.text.add(kReasoningClose, close);
}

// Registers what stands in place of reasoning together with what follows it.
void Syntax::compile_absent_reasoning(const Marker& absent) {
  const format::Format& f = *format;
  const auto add_behind = [&](Id id, const std::string& next) {
    const Marker* both = is_blank(next) ? &absent : add_marker(f.reasoning.absent + next);
    if (both->is_distinct()) sets.blank.add(id, both);
  };
  add_behind(kContentOpen, f.content.open);
  if (!f.calls.present || !options.calls) return;
  add_behind(kSectionOpen, f.calls.section_open);
  add_behind(kCallOpen, f.calls.call_open);
}

// Registers the markers around content, and the header of a turn.
void Syntax::compile_content() {
  const format::Format& f = *format;
  const bool has_heading_close = !f.calls.heading_close.empty();
  const Marker* content_open = add_marker(f.content.open);
  sets.blank.add(kContentOpen, content_open);
  if (options.tools) sets.blank.add(kContentOpen, add_marker(f.content.open_with_tools));
  rare.content_open_is_reserved = content_open->is_reserved();
  if (rare.content_open_is_reserved) {
    if (f.reasoning.present)
      sets.reasoning.add(kContentOpen, content_open);  // the answer begins, whatever was left open
    if (has_heading_close) sets.text.add(kContentOpen, content_open);
  }
  const Marker* header = add_marker(f.header);
  sets.blank.add(kHeader, header);
  has_plain_header = is_plain_words(f.header);
  if (has_plain_header) markers_.back()->keep_line_end();
  const std::size_t last = last_unit(header->core(), format::unit_boundaries(header->core(), f.atoms));
  rare.header_end = make_marker(last > 0 ? f.header.substr(f.header.find(header->core()) + last) : "");
  if (rare.header_end.is_reserved()) sets.blank.add(kHeader, &rare.header_end);
  // A block that was not closed ends where the next block begins.
  if (has_heading_close && header->is_reserved()) {
    for (MarkerSet* set : {&sets.text, &sets.reasoning}) set->add(kHeader, header);
  }
  // ... and so does reasoning where each call has a header of its own.
  const bool heads_calls = f.calls.present && !header->empty() && header->is_reserved() &&
                           content_open->is_reserved() && f.calls.separator.find(header->core()) != std::string::npos;
  if (heads_calls && !has_heading_close) sets.reasoning.add(kHeader, header);
  // If the header stands between two calls, content also ends at the separator.
  const bool is_between_calls = f.calls.present && is_blank(f.calls.section_open) && !header->empty() &&
                                (header->is_reserved() || is_blank(f.calls.call_open)) &&
                                f.calls.separator.find(header->core()) != std::string::npos;
  if (is_between_calls) sets.text.add(kHeader, add_marker(f.calls.separator));
  const Marker* content_close = add_marker(f.content.close);
  sets.blank.add(kContentClose, content_close);
  sets.text.add(kContentClose, content_close);
  rare.preamble_open = make_marker(f.content.preamble_open);
  rare.preamble_close = make_marker(f.content.preamble_close);
  rare.shares_content_open = !rare.preamble_open.empty() && rare.preamble_open.core() == content_open->core();
  sets.blank.add(kContentOpen, &rare.preamble_open);
  sets.text.add(kContentClose, &rare.preamble_close);
  if (const Marker* absent = add_marker(f.content.absent); absent->is_distinct()) sets.blank.add(kHistoryClose, absent);
}

// Returns whether a stop is also what closes a call, and no more than a bracket: in `set`, where calls are read, it then
// ends no turn.
bool Syntax::closes_call(const Marker& stop, const MarkerSet* set) const {
  const bool is_of_calls = set == &sets.after || set == &sets.parameter || set == &sets.follower ||
                           set == &sets.recover || set == &sets.reasoning_recover || set == &sets.reasoning_skip;
  return is_of_calls && !stop.is_distinct() && stop.core() == format::trimmed(format->calls.call_close);
}

// Registers what ends the turn.
void Syntax::compile_stops() {
  const format::Format& f = *format;
  for (const auto* stops : {&f.stops.content, &f.stops.tool, &f.stops.history_close}) {
    for (const std::string& stop : *stops) {
      const Marker* marker = add_stop(stop);
      if (marker->empty() && stops == &f.stops.content) blank_stop = stop;
      for (MarkerSet* set :
           {&sets.blank, &sets.text, &sets.reasoning, &sets.reasoning_layout, &sets.section, &sets.after, &sets.between,
            &sets.parameter, &sets.follower, &sets.recover, &sets.reasoning_recover, &sets.reasoning_skip}) {
        if (closes_call(*marker, set)) continue;
        const bool goes_on =
            stops == &f.stops.history_close && !is_blank(f.header) && (set == &sets.blank || set == &sets.text);
        set->add(goes_on ? kHistoryClose : kStop, marker);
      }
    }
  }
  for (const auto* stops : {&f.stops.content, &f.stops.tool}) {
    for (const std::string& stop : *stops) sets.stop.add(kStop, add_stop(stop));
  }
  if (!blank_stop.empty()) sets.text.add_lead(blank_stop);
}

// Adds the texts that may close a call: the whole close, and its parts before and after each unit boundary.
void Syntax::add_closers(MarkerSet& set) {
  const std::string core = call_close.core();
  const std::vector<std::size_t> cuts = format::unit_boundaries(core, format->atoms);
  set.add(kCallClose, &call_close);
  set.add(kCallClose, &rare.plain_close);
  for (const std::size_t cut : cuts) {
    if (cut == 0 || cut == core.size()) continue;
    set.add(kCallClose, add_marker(call_close.lead() + core.substr(0, cut)));
    set.add(kCallClose, add_marker(call_close.lead() + core.substr(cut)));
  }
  set.add(kSectionClose, &section_close);
}

// Models write the last tag of a call's close twice.  `next_call` is what stands between two calls.
void Syntax::compile_repeated_close(const Marker& next_call) {
  const std::string_view core = call_close.core();
  if (core.empty()) return;
  const Marker* again = add_marker(core.substr(last_unit(core, format::unit_boundaries(core, format->atoms))));
  if (again->is_distinct() && again->match(next_call.core(), false).kind == MatchKind::kNone)
    sets.between.add(kCallClose, again);
}

// Where values stand between two tags of one kind, models write numbers without them.
void Syntax::compile_unmarked_values() {
  const format::Parameters& parameters = format->calls.parameters;
  const std::string_view around = parameters.close;
  const std::string_view key_close = parameters.key_close;
  const bool is_tag = make_marker(around).is_distinct() && around.find_first_of(" \n") == std::string_view::npos;
  if (parameters.separator.empty() || !is_tag || key_close == around || !key_close.ends_with(around)) return;
  rare.unmarked_key_close = make_marker(key_close.substr(0, key_close.size() - around.size()));
}

// Registers what a value of a parameter shows if its closing tag is missing.
void Syntax::compile_edges() {
  if (format->calls.arguments != format::ArgumentStyle::kParameters) return;
  MarkerSet all;
  add_closers(all);
  all.add(kCallOpen, &call_open);
  all.for_each([this](int id, const Marker& marker) {
    if (marker.is_distinct()) sets.edges.add(id, &marker);
  });
}

// Adds the opener of parameters, and the openers that types of values have of their own.
void Syntax::add_parameter_openers(MarkerSet& set) {
  set.add(kParameterOpen, &parameter_open);
  for (auto opener = values.key_openers.begin(); opener != values.key_openers.end(); ++opener) {
    const bool is_known = std::any_of(values.key_openers.begin(), opener,
                                      [&](const Marker& other) { return other.core() == opener->core(); });
    if (!opener->empty() && !is_known) set.add(kParameterOpen, &*opener);
  }
}

// Registers the markers of calls, and what may come between calls and after them.
void Syntax::compile_calls() {
  const format::Calls& calls = format->calls;
  call_open = make_marker(calls.call_open);
  call_close = make_marker(calls.call_close);
  section_close = make_marker(calls.section_close);
  separator = make_marker(calls.separator);
  rare.call_tag = opening_tag(calls);
  if (rare.call_tag) rare.behind_call_tag = make_marker(rare.call_tag->rest);
  if (const auto tag = closing_tag_of_call(calls, behind_arguments())) rare.plain_close = make_marker(tag->bare());
  rare.bare_close = make_marker(calls.bare_close);
  if (calls.envelope == format::Envelope::kTags) rare.nameless_call = make_marker(empty_call(calls));
  if (!is_blank(calls.parameters.open)) rare.nameless_parameter = make_marker(empty_parameter(calls.parameters));
  parameter_open = make_marker(calls.parameters.open);
  for (const format::ValueForm& form : calls.parameters.forms) values.key_openers.push_back(make_marker(form.key_open));
  parameter_separator = make_marker(calls.parameters.separator);
  const Marker* section_open = add_marker(calls.section_open);
  has_marked_sections = !section_open->empty() && section_open->is_distinct();
  rare.names_are_tags = section_open->empty() && call_open.core() == "<" && !calls.pieces.empty() &&
                        calls.pieces.front().kind == format::CallPiece::Kind::kName &&
                        calls.arguments == format::ArgumentStyle::kParameters;
  for (MarkerSet* set : {&sets.blank, &sets.text}) {
    set->add(kSectionOpen, section_open);
    set->add(kCallOpen, &call_open);
    set->add(kSectionClose, &section_close);
  }
  compile_openers(*section_open);
  sets.section.add(kCallOpen, &call_open);
  sets.section.add(kSectionClose, &section_close);
  add_closers(sets.after);
  sets.after.add(kSeparator, &separator);
  sets.after.add(kCallOpen, &call_open);
  sets.between.add(kSeparator, &separator);
  sets.between.add(kCallOpen, &call_open);
  sets.between.add(kSectionOpen, section_open);
  sets.between.add(kSectionClose, &section_close);
  compile_begun_close();
  sets.between.add(kHeader, add_marker(format->header));
  for (MarkerSet* set : {&sets.recover, &sets.reasoning_recover}) {
    if (behind_arguments() == calls.pieces.size() || call_close.is_distinct()) add_closers(*set);
    set->add(kSectionClose, &section_close);
    set->add(kCallOpen, &call_open);
  }
  for (MarkerSet* set : {&sets.parameter, &sets.follower, &sets.reasoning_skip}) {
    add_parameter_openers(*set);
    set->add(kParameterSeparator, &parameter_separator);
    add_closers(*set);
    set->add(kCallOpen, &call_open);
    set->add(kSeparator, &separator);
  }
  compile_edges();
  sets.key.add(0, add_marker(calls.parameters.key_close));
  compile_unmarked_values();
  for (const format::CallPiece& piece : calls.pieces)
    piece_markers.push_back(make_marker(piece.kind == format::CallPiece::Kind::kLiteral ? piece.text : ""));
  if (const std::size_t behind = behind_arguments(); behind < piece_markers.size()) {
    for (MarkerSet* set :
         {&sets.parameter, &sets.follower, &sets.recover, &sets.reasoning_recover, &sets.reasoning_skip})
      set->add(kCallClose, &piece_markers[behind]);
  }
  compile_slots();
  compile_values();
}

// The section's close may have begun only: a beginning of it closes the section too.
void Syntax::compile_begun_close() {
  const format::Calls& calls = format->calls;
  const Marker next_call = make_marker(calls.separator + calls.call_open);
  for (const std::size_t cut : format::unit_boundaries(section_close.core(), format->atoms)) {
    const std::string begun = section_close.core().substr(0, cut);
    // A beginning that may also be the next call does not close the section.
    if (begun.empty() || begun == section_close.core()) continue;
    const Marker* part = add_marker(begun);
    if (part->match(next_call.core(), true).kind == MatchKind::kFull) continue;
    for (MarkerSet* set : {&sets.between, &sets.blank}) set->add(kSectionClose, part);
  }
  compile_repeated_close(next_call);
}

// Collects the markers that end a name, id or index.
void Syntax::compile_slots() {
  const format::Calls& calls = format->calls;
  slot_sets.resize(calls.pieces.size());
  const auto behind_name = static_cast<std::size_t>(calls.behind_name() - calls.pieces.begin());
  for (std::size_t i = 0; i < calls.pieces.size(); ++i) {
    MarkerSet& set = slot_sets[i];
    const bool is_name = calls.pieces[i].kind == format::CallPiece::Kind::kName;
    if (is_name || behind_name == i + 1) set.add(kCallClose, &rare.bare_close);
    std::size_t next = i + 1;
    while (next < calls.pieces.size() && calls.pieces[next].kind == format::CallPiece::Kind::kLiteral &&
           piece_markers[next].empty())
      ++next;
    if (next < calls.pieces.size() && calls.pieces[next].kind == format::CallPiece::Kind::kLiteral) {
      set.add(kSeparator, &piece_markers[next]);
      if (const std::size_t other = behind_optional(next); other != 0) set.add(kSeparator, &piece_markers[other]);
    } else {
      compile_last_slot(i, next);
    }
  }
}

// The same for the slot `slot`, behind which the format writes no text.  `next` is the piece behind it.
void Syntax::compile_last_slot(std::size_t slot, std::size_t next) {
  const format::Calls& calls = format->calls;
  MarkerSet& set = slot_sets[slot];
  add_closers(set);
  add_parameter_openers(set);
  // What follows arguments follows the name of a call that has none.
  if (next + 1 < calls.pieces.size() && calls.pieces[next + 1].kind == format::CallPiece::Kind::kLiteral)
    set.add(kSeparator, &piece_markers[next + 1]);
  // The close behind an id may be missing.
  const bool is_last = next == calls.pieces.size() && (is_blank(calls.call_close) || slot >= behind_arguments());
  if (!is_name_enough(slot) && !is_last) return;
  set.add(kSeparator, &separator);
  set.add(kCallOpen, &call_open);
  for (const auto* stops : {&format->stops.content, &format->stops.tool}) {
    for (const std::string& stop : *stops) set.add(kStop, add_stop(stop));
  }
}

// Returns whether the format writes no text of its own behind piece `piece` of a call.
bool Syntax::is_last_text(std::size_t piece) const {
  const std::vector<format::CallPiece>& all = format->calls.pieces;
  return std::all_of(all.begin() + static_cast<std::ptrdiff_t>(piece) + 1, all.end(),
                     [](const format::CallPiece& next) {
                       return next.kind == format::CallPiece::Kind::kArguments || is_blank(next.text);
                     });
}

// Returns whether the call may end directly after the name in piece `piece`: the format writes parameters after it, and
// nothing closes the call.
bool Syntax::is_name_enough(std::size_t piece) const {
  const format::Calls& calls = format->calls;
  return calls.arguments == format::ArgumentStyle::kParameters && is_blank(calls.call_close) && is_last_text(piece);
}

bool Syntax::is_json_next(std::size_t piece) const {
  return format->calls.arguments != format::ArgumentStyle::kParameters && is_last_text(piece);
}

// Returns whether nobody writes by chance, inside a string that is written raw, what may follow it.  What begins a line is
// such a text: brackets that a string leaves open are more frequent than it is inside of some.
bool Syntax::has_distinct_ends() const {
  const auto& forms = format->calls.parameters.forms;
  const auto form = std::ranges::find_if(forms, [](const format::ValueForm& one) {
    return one.type == format::ValueType::kString && one.style == format::ValueStyle::kRaw;
  });
  if (form == forms.end()) return false;
  return std::ranges::all_of(std::array{&parameter_open, &parameter_separator, &call_close}, [&](const Marker* end) {
    const auto is_escaped = [end](const format::Escape& escape) { return end->core().starts_with(escape.text); };
    const bool begins_line = end->lead().find('\n') != std::string::npos;
    return end->empty() || end->is_distinct() || begins_line || std::ranges::any_of(form->escapes, is_escaped);
  });
}

void Syntax::compile_values() {
  const format::Calls& calls = format->calls;
  for (const format::ValueForm& form : calls.parameters.forms) {
    values.openers.push_back(make_marker(form.open));
    values.closers.push_back(make_marker(form.close + calls.parameters.close));
    if (form.type == format::ValueType::kString && !form.open.empty() && !is_blank(form.close)) {
      if (values.nested.string_open.empty()) values.nested = {form.open, form.close, values.nested.python};
    }
    values.nested.python = values.nested.python || form.style == format::ValueStyle::kPython;
  }
  values.ends_are_distinct = has_distinct_ends();
}

// Registers openers that are found in reasoning that is not closed, and openers that models write in part.
void Syntax::compile_openers(const Marker& section_open) {
  for (const Marker* opener : {&section_open, static_cast<const Marker*>(&call_open)}) {
    const Id id = opener == &section_open ? kSectionOpen : kCallOpen;
    if (opener->empty() || !opener->is_distinct() || !(options.tools || opener->is_reserved())) continue;
    // Where words close reasoning, calls close it too, and the white space in front of these words stands before calls.
    const Marker close(format->reasoning.close);
    if (opener->lead().empty() && format::is_plain(close.core()) && format::is_plain(opener->core()))
      opener = add_marker(close.lead() + opener->core() + opener->trail());
    for (MarkerSet* set : {&sets.reasoning, &sets.reasoning_layout}) set->add(id, opener);
  }
  sets.reasoning_layout.add(kSectionClose, &section_close);
  if (const std::size_t tag = call_open.core().find_last_of(">]"); tag != std::string::npos)
    rare.inner_open = make_marker(std::string_view(call_open.core()).substr(tag + 1));
  compile_second_name();
  if (!options.tools) return;
  if (const std::string plain = plain_opener(format->calls.section_open); !plain.empty()) {
    for (MarkerSet* set : {&sets.blank, &sets.text, &sets.between}) set->add(kSectionOpen, add_marker(plain));
  }
  compile_half_openers();
  compile_bare_openers();
}

// Finds the tag before the second of two names of a call.
void Syntax::compile_second_name() {
  const std::vector<format::CallPiece>& pieces = format->calls.pieces;
  const auto is_name = [](const format::CallPiece& piece) { return piece.kind == format::CallPiece::Kind::kName; };
  const auto first = std::ranges::find_if(pieces, is_name);
  const auto second = first != pieces.end() ? std::find_if(first + 1, pieces.end(), is_name) : first;
  if (second == pieces.end()) return;
  const std::string_view before = std::prev(second)->text;
  const std::size_t tag = before.rfind('<');
  if (tag == std::string_view::npos) return;
  Marker open = make_marker(before.substr(tag));
  if (!open.is_distinct()) return;
  rare.second_name_open = std::move(open);
  rare.second_name = static_cast<std::size_t>(second - pieces.begin());
}

// Registers `part`, a part of a call's opener, unless it is mere punctuation.
void Syntax::add_half_opener(std::string_view part, std::initializer_list<MarkerSet*> places) {
  const Marker* half = add_marker(part);
  if (!half->is_distinct()) return;
  for (MarkerSet* set : places) set->add(kHalfOpen, half);
}

// Registers the parts of a call's opener that models write alone.
void Syntax::compile_half_openers() {
  const std::string_view core = call_open.core();
  const std::vector<std::size_t> cuts = format::unit_boundaries(core);
  if (const std::size_t last = last_unit(core, cuts); last > 0)
    add_half_opener(core.substr(last), {&sets.blank, &sets.text, &sets.between});
  // A word between two tags makes the opener one unit, but models still leave out the first tag.
  const std::size_t tag = core.find('>');
  if (tag != std::string_view::npos && tag + 1 < core.size() && is_word(core[tag + 1]) && core.ends_with('>'))
    add_half_opener(core.substr(tag + 1), {&sets.blank, &sets.text, &sets.section, &sets.between});
  // The first part of an opener may stand before a call of another kind, so it counts as a wrapper.
  if (cuts.size() > 2 && format->calls.envelope == format::Envelope::kTags) {
    const Marker* first = add_marker(core.substr(0, cuts[1]));
    if (first->is_distinct()) sets.text.add(kWrapper, first);
  }
  // The tag before a word, and the word: `<|call>`, `<|call>:` and `call:` of `<|call>call:`.
  const std::string_view inner = rare.inner_open.core();
  if (!inner.empty() && is_word(inner.front()) && format->calls.envelope == format::Envelope::kTags) {
    const std::string tag_open(core.substr(0, core.size() - inner.size()));
    const std::size_t word = static_cast<std::size_t>(std::ranges::find_if_not(inner, is_word) - inner.begin());
    for (const std::string& part : {tag_open, tag_open + std::string(inner.substr(word))})
      add_half_opener(part, {&sets.blank, &sets.text, &sets.section, &sets.between});
    add_half_opener(inner, {&sets.blank, &sets.section, &sets.between});
  }
  // Names in tags have other quotes, or none.
  if (has_name_in_tag() && (core.ends_with("=\"") || core.ends_with("='"))) {
    const std::string bare(core.substr(0, core.size() - 1));
    for (const char* quote : {"", "\"", "'"}) {
      if (bare + quote != core) add_half_opener(bare + quote, {&sets.blank, &sets.text, &sets.section, &sets.between});
    }
  }
  add_half_opener(without_prefix_word(core), {&sets.blank, &sets.text, &sets.section, &sets.after, &sets.between});
}

// Registers the brackets that begin a call where a format writes JSON without markers.  The white space that the
// template writes before a call is not the content's.
void Syntax::compile_bare_openers() {
  const format::Calls& calls = format->calls;
  if (!is_blank(calls.section_open) || !call_open.empty() || calls.envelope == format::Envelope::kTags) return;
  sets.text.add(kBareOpen, add_marker(calls.call_open + "{"));
  sets.text.add(kWrapper, add_marker(kFence));  // a fence around such a call belongs to it
  if (calls.envelope == format::Envelope::kJsonArray) sets.text.add(kBareOpen, add_marker(calls.section_open + "["));
}

bool Syntax::is_stop(std::string_view text) const {
  for (const auto* stops : {&format->stops.content, &format->stops.tool}) {
    for (const std::string& stop : *stops) {
      if (format::trimmed(stop) == text) return true;
    }
  }
  return false;
}

bool Syntax::ends_turn(std::string_view text, std::string_view stop) const {
  const auto is_it = [&](std::string_view known) {
    const std::string_view core = format::trimmed(known);
    if (!core.ends_with(stop)) return false;
    return format::trimmed(text).ends_with(format::trimmed(core.substr(0, core.size() - stop.size())));
  };
  return !stop.empty() && (is_it(format->content.close) || std::ranges::any_of(format->stops.content, is_it) ||
                           std::ranges::any_of(format->stops.tool, is_it));
}

std::size_t Syntax::behind_arguments() const {
  const std::vector<format::CallPiece>& all = format->calls.pieces;
  const auto slot = std::ranges::find_if(all, [](const format::CallPiece& piece) {
    return piece.kind == format::CallPiece::Kind::kArguments || piece.kind == format::CallPiece::Kind::kObject;
  });
  return slot == all.end() ? all.size() : static_cast<std::size_t>(slot - all.begin()) + 1;
}

std::size_t Syntax::behind_optional(std::size_t literal) const {
  const std::vector<format::CallPiece>& all = format->calls.pieces;
  if (literal + 2 >= all.size() || all[literal + 2].kind != format::CallPiece::Kind::kLiteral) return 0;
  const format::CallPiece::Kind kind = all[literal + 1].kind;
  return kind == format::CallPiece::Kind::kId || kind == format::CallPiece::Kind::kIndex ? literal + 2 : 0;
}

bool Syntax::closes_calls() const {
  const std::size_t behind = behind_arguments();
  return !call_close.empty() ||
         (behind < piece_markers.size() && !piece_markers[behind].empty() && behind_optional(behind) == 0);
}

bool Syntax::has_marked_names() const {
  const format::Calls& calls = format->calls;
  return calls.present && options.calls && options.tools && calls.envelope == format::Envelope::kTags &&
         calls.pieces.size() > 1 && calls.pieces[0].kind == format::CallPiece::Kind::kName && !piece_markers[1].empty();
}

bool Syntax::has_name_in_tag() const {
  const std::size_t tag = call_open.core().find_last_of("<>");
  return tag != std::string::npos && call_open.core()[tag] == '<';
}

bool Syntax::has_headings() const {
  if (!format->calls.present) return false;
  const std::string& call = call_open.core();
  return !format->calls.heading_close.empty() ||
         (!call.empty() && format::trimmed(format->content.open).starts_with(call));
}

// Finds the common beginning of the headings of reasoning and content.
void Syntax::compile_headings() {
  const std::string_view a = format::trimmed(format->reasoning.open);
  const std::string_view b = format::trimmed(format->content.open);
  std::size_t same = 0;
  while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
  heading_open = a.substr(0, same);
}

const chat::ToolDefinition* Syntax::tool(std::string_view name) const {
  const auto found = std::ranges::find(tools, name, &chat::ToolDefinition::name);
  return found != tools.end() ? &*found : nullptr;
}

std::string Syntax::meant_tool(const std::string& written) const {
  const std::string once = written.substr(0, written.size() / 2);
  const bool is_doubled = options.tools && tool(written) == nullptr && written == once + "." + once;
  return is_doubled && tool(once) != nullptr ? once : written;
}

}  // namespace rondo::parse
