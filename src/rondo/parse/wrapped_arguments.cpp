// Tags that models put around the arguments of a call, where the format has none: `<arguments>...</arguments>`.
#include <algorithm>

#include "chat/conversation.h"
#include "chat/parameter_names.h"
#include "format/units.h"
#include "parse/machine.h"
#include "parse/markup.h"

namespace rondo::parse {

// Takes a tag that is not the format's own at `at`, where the arguments begin, if they begin behind it.
MatchKind Machine::argument_wrapper(std::size_t at) {
  if (!call_.wrapper_close.empty()) return MatchKind::kNone;
  const std::string_view text = std::string_view(buffer_).substr(at);
  const Match tag = tag_at(text, is_end_);
  if (tag.kind != MatchKind::kFull) return tag.kind;
  const std::string word(text.substr(1, tag.size - 2));
  if (!std::ranges::all_of(word, format::is_word)) return MatchKind::kNone;
  const std::size_t next = skip_space(at + tag.size);
  if (next == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const std::string close = "</" + word + ">";
  MatchKind behind = MatchKind::kNone;
  // Otherwise the tag is rather a parameter in another syntax.
  if (chat::is_arguments_key(word) && !has_parameter(word))
    behind = buffer_[next] == '{' ? MatchKind::kFull
                                  : literal_at(std::string_view(buffer_).substr(next), close, is_end_).kind;
  if (behind == MatchKind::kNone && syntax_->format->calls.arguments == format::ArgumentStyle::kParameters)
    behind = parameter_opens_at(next);
  if (behind != MatchKind::kFull) return behind;
  pos_ = at + tag.size;
  emit(EventKind::kMarker, pos_);
  call_.wrapper_close = close;
  return MatchKind::kFull;
}

// Takes the first parameter of a call, whose name begins at `name`, as a wrapper if it is called as arguments are, the
// tool has no such parameter, and its value is an object.
MatchKind Machine::wrapping_parameter(std::size_t name) {
  if (call_.parameters > 0 || !call_.wrapper_close.empty() || syntax_->parameter_open.empty()) return MatchKind::kNone;
  const chat::ToolDefinition* tool = syntax_->tool(call_.name);
  if (tool == nullptr) return MatchKind::kNone;
  const std::string_view rest = std::string_view(buffer_).substr(name);
  const std::size_t size = static_cast<std::size_t>(std::ranges::find_if_not(rest, format::is_word) - rest.begin());
  const std::string word(rest.substr(0, size));
  if (size == rest.size()) return MatchKind::kNone;  // a name is not read before its end has come
  if (!chat::is_arguments_key(word) || has_parameter(word) || !chat::listed_parameters(tool->parameters))
    return MatchKind::kNone;
  const auto at_end = [this](std::size_t at) { return at == buffer_.size() && !is_end_; };
  std::size_t next = skip_space(name + size);
  if (at_end(next)) return MatchKind::kPartial;
  const MarkerSet::Found key = syntax_->sets.key.at(buffer_, next, is_end_, starts());
  if (key.kind != MatchKind::kFull) return key.kind;
  next = skip_space(next + key.size);
  if (at_end(next)) return MatchKind::kPartial;
  const ValueOpener opener = whole_opener(next);
  if (opener.match.kind == MatchKind::kPartial) return opener.match.kind;
  next = skip_space(next + opener.match.size);
  if (at_end(next)) return MatchKind::kPartial;
  if (next == buffer_.size() || buffer_[next] != '{') return MatchKind::kNone;
  const format::Parameters& parameters = syntax_->format->calls.parameters;
  const format::ValueForm& form = opener.form == nullptr ? parameters.forms.front() : *opener.form;
  const std::string close = parameters.key_in_close.empty() ? parameters.close : closing_tag(parameters, word);
  const std::string closer(format::trimmed(form.close + close));
  if (closer.empty()) return MatchKind::kNone;
  pos_ = next;
  emit(EventKind::kMarker, pos_);
  call_.wrapper_close = closer;
  phase_ = Phase::kParameter;
  return MatchKind::kFull;
}

// Matches the text that opens a parameter at `at`.
MatchKind Machine::parameter_opens_at(std::size_t at) const {
  const MarkerSet::Found found = syntax_->sets.parameter.at(buffer_, at, is_end_, starts());
  return found.kind == MatchKind::kFull && found.id != kParameterOpen ? MatchKind::kNone : found.kind;
}

// Matches the closing tag of argument_wrapper() at `at`.
MatchKind Machine::wrapper_end_at(std::size_t at) const {
  if (call_.wrapper_close.empty()) return MatchKind::kNone;
  return literal_at(std::string_view(buffer_).substr(at), call_.wrapper_close, is_end_).kind;
}

// Takes that tag.  kPartial means that more text is needed.
MatchKind Machine::end_wrapper() {
  if (call_.wrapper_close.empty()) return MatchKind::kNone;
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const MatchKind kind = wrapper_end_at(at);
  if (kind != MatchKind::kFull) return kind;
  const std::size_t end = at + call_.wrapper_close.size();
  if (call_.has_arguments && call_.parameters == 0) {  // it was around an object
    const std::size_t next = skip_space(end);
    if (next == buffer_.size() && !is_end_) return MatchKind::kPartial;
    const MatchKind more = next < buffer_.size() ? parameter_opens_at(next) : MatchKind::kNone;
    if (more == MatchKind::kPartial) return more;
    if (more == MatchKind::kFull)
      call_.problems.push_back({chat::CallProblem::Kind::kUnreadable, "", "a parameter follows all arguments"});
  }
  pos_ = end;
  emit(EventKind::kMarker, pos_);
  call_.wrapper_close.clear();
  return kind;
}

// Returns the rest of that tag if `begun`, the end of the text, is its beginning; nullopt otherwise.
std::optional<std::string> Machine::wrapper_closing(std::string_view begun) const {
  begun = format::trimmed(begun);
  if (begun.empty() || !std::string_view(call_.wrapper_close).starts_with(begun)) return std::nullopt;
  return call_.wrapper_close.substr(begun.size());
}

}  // namespace rondo::parse
