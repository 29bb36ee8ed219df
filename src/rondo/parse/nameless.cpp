// Calls and parameters without a name, in which nothing else stands: what closes them, and how they are read.  They are
// markup.
#include "parse/nameless.h"

#include <algorithm>

#include "format/units.h"
#include "parse/machine.h"
#include "parse/markup.h"

namespace rondo::parse {

using format::ValueForm;
using format::ValueStyle;
using format::ValueType;

std::string rest_of_call(const format::Calls& calls, std::size_t piece, std::string_view name, std::string_view id) {
  std::string out;
  const bool is_json = calls.arguments != format::ArgumentStyle::kParameters;
  for (; piece < calls.pieces.size(); ++piece) {
    switch (calls.pieces[piece].kind) {
      case format::CallPiece::Kind::kLiteral: out += calls.pieces[piece].text; break;
      case format::CallPiece::Kind::kName: out += name; break;
      case format::CallPiece::Kind::kId: out += id; break;
      case format::CallPiece::Kind::kArguments: out += is_json ? "{}" : ""; break;
      case format::CallPiece::Kind::kObject: out += "{}"; break;
      default: break;
    }
  }
  return out + calls.call_close;
}

std::string empty_call(const format::Calls& calls) {
  return calls.pieces.empty() ? "{}" + calls.call_close : rest_of_call(calls, 0);
}

std::string empty_value(const format::Parameters& parameters, std::string_view begun, std::string_view key_open) {
  const std::vector<ValueForm>& forms = parameters.forms;
  const auto is_begun = [&](const ValueForm& form) {
    return form.open.starts_with(begun) && form.key_open == key_open;
  };
  auto form = std::ranges::find_if(
      forms, [&](const ValueForm& other) { return other.type == ValueType::kString && is_begun(other); });
  if (form == forms.end() && !(begun.empty() && key_open.empty())) form = std::ranges::find_if(forms, is_begun);
  if (form == forms.end()) return "";
  std::string value;
  const bool is_text = form->type == ValueType::kString;
  if (form->style == ValueStyle::kJson) value = is_text ? R"("")" : "null";
  if (form->style == ValueStyle::kPython) value = is_text ? R"("")" : "None";
  if (form->style == ValueStyle::kConstant) value = form->constant;
  return form->open + value + form->close;
}

std::string empty_parameter(const format::Parameters& parameters, std::string_view key_open) {
  return parameters.key_close + empty_value(parameters, "", key_open) + closing_tag(parameters, "");
}

bool Machine::lacks_name(format::CallPiece::Kind kind, const std::string& text) const {
  return kind == format::CallPiece::Kind::kNameInId ? name_in_id(text).empty() : text.empty();
}

// Returns whether the attempt may be a call without a name.  In reasoning, and behind an opener of mere words, it is text.
bool Machine::may_be_nameless() const {
  return attempt_.is_open && attempt_.opening == Opening::kMarker && !attempt_.is_prose && !thoughts_.have_call;
}

// Reads the rest of a call without a name, from `from` on, if nothing stands in it.  Returns true if it did, or if more
// text is needed to tell (then `wait` is set).
bool Machine::nameless_call(std::size_t from, bool& wait) {
  const Marker& rest = syntax_->rare.nameless_call;
  const std::size_t at = skip_space(from);
  if (at == buffer_.size() || !may_be_nameless() || !rest.is_distinct()) return false;
  const Match match = rest.match(std::string_view(buffer_).substr(at), false, starts());
  wait = match.kind == MatchKind::kPartial && !is_end_;
  if (match.kind == MatchKind::kFull) end_nameless_call(at + match.size);
  return wait || match.kind == MatchKind::kFull;
}

// `text`, which ends at `end`, has no name: the word before the name may stand there alone.
bool Machine::nameless_slot(const std::string& text, std::size_t end) {
  bool wait = false;
  const bool is_front = text.size() > 1 && text.find_first_of(".:") + 1 == text.size();
  return is_front && nameless_call(end, wait) ? !wait : fail_attempt(end, "a tool call has no name");
}

// Returns whether [begin, end) is a word of a sentence that names the format's markers, where the call's name stands or
// an id that contains it: it is no tool, and blanks stand around it that the format does not write.  A name without any
// letter is none either.
bool Machine::is_mere_word(format::CallPiece::Kind kind, std::size_t begin, std::size_t end) const {
  const std::string_view name = std::string_view(buffer_).substr(begin, end - begin);
  if (!attempt_.is_open || (syntax_->options.tools && syntax_->is_known_tool(meant_name(kind, std::string(name)))))
    return false;
  const auto is_letter = [](char byte) { return format::is_word(byte) || static_cast<unsigned char>(byte) >= 0x80; };
  if (std::ranges::none_of(name, is_letter)) return true;
  const format::Calls& calls = syntax_->format->calls;
  std::string before = calls.section_open + calls.call_open;
  for (std::size_t i = 0; i < call_.piece; ++i) before += calls.pieces[i].text;
  const bool has_blank = before.empty() || format::is_space(before.back());
  return !has_blank && syntax_->options.tools && begin > pos_ && buffer_[begin - 1] == ' ' && end < buffer_.size() &&
         buffer_[end] == ' ';
}

void Machine::end_nameless_call(std::size_t end) {
  complain(attempt_.begin, "a tool call has no name");
  pos_ = end;
  emit(EventKind::kMarker, pos_);
  attempt_.is_open = false;
  phase_ = Phase::kBetween;
}

// Returns whether the attempt, whose JSON ends at pos_, is an object without members, or a list of such objects where the
// format has lists.
bool Machine::is_empty_json() const {
  if (!may_be_nameless()) return false;
  constexpr std::string_view kBrackets = "[]{}, \t\r\n";
  const std::string_view written = std::string_view(buffer_).substr(head_, pos_ - head_);
  const std::size_t last = written.find_last_not_of(kBrackets);
  const std::string_view json = last == std::string_view::npos ? written : written.substr(last + 1);
  const bool is_list = syntax_->format->calls.envelope == format::Envelope::kJsonArray;
  if (std::ranges::count(json, '[') > (is_list ? 1 : 0) || json.find('{') == std::string_view::npos) return false;
  if (last == std::string_view::npos) return true;
  const auto ends_opener = [&](std::string_view opener) {
    opener = format::trimmed(opener.substr(0, opener.find_last_not_of(kBrackets) + 1));
    return !opener.empty() && written.substr(0, last + 1).ends_with(opener);
  };
  const format::Calls& calls = syntax_->format->calls;
  const std::size_t object = calls.object_piece();
  if (calls.has_id_beside() && object > 0 && ends_opener(calls.pieces[object - 1].text)) return true;
  return ends_opener(syntax_->call_open.core()) || ends_opener(syntax_->format->calls.section_open);
}

// The attempt's JSON ends at pos_ and names no tool.  If it is empty, it is markup: where calls are objects with a close,
// only if that comes.  Returns false if it is not empty.
bool Machine::end_nameless_json() {
  if (!is_empty_json()) return false;
  phase_ = Phase::kAfterCall;
  const bool is_list = syntax_->format->calls.envelope == format::Envelope::kJsonArray;
  if (!is_list && syntax_->call_close.is_distinct()) return true;
  end_nameless_call(pos_);
  phase_ = Phase::kAfterCall;
  return true;
}

// Reads what stands behind an empty object, where the call's close is expected.
bool Machine::nameless_object_ends() {
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return false;
  const Match match = syntax_->call_close.match(std::string_view(buffer_).substr(at), false, starts());
  if (match.kind == MatchKind::kPartial && !is_end_) return false;
  if (match.kind != MatchKind::kFull) return fail_attempt(at, "a tool call has no name");
  end_nameless_call(at + match.size);
  return true;
}

// Passes over a parameter without a name at `at`, behind its opener, if its value is empty too.  Behind mere punctuation the
// next parameter or the end of the call must follow.
MatchKind Machine::nameless_parameter(std::size_t at) {
  const std::string& opener = parameter_.key_open;
  const Marker rest = opener.empty() ? syntax_->rare.nameless_parameter
                                     : syntax_->make_marker(empty_parameter(syntax_->format->calls.parameters, opener));
  if (at == buffer_.size() || rest.empty()) return MatchKind::kNone;
  const Match match = rest.match(std::string_view(buffer_).substr(at), false, starts());
  if (match.kind == MatchKind::kPartial) return is_end_ ? MatchKind::kNone : match.kind;
  if (match.kind == MatchKind::kNone) return match.kind;
  if (!rest.is_distinct()) {
    const std::size_t next = skip_space(at + match.size);
    if (next == buffer_.size() && !is_end_) return MatchKind::kPartial;
    const MarkerSet::Found behind =
        next < buffer_.size() ? syntax_->sets.parameter.at(buffer_, next, is_end_, starts()) : MarkerSet::Found{};
    if (behind.kind != MatchKind::kFull) return behind.kind;
  }
  complain(raw(at), "a parameter has no name");
  pos_ = at + match.size;
  emit(EventKind::kMarker, pos_);
  phase_ = Phase::kParameter;
  return match.kind;
}

}  // namespace rondo::parse
