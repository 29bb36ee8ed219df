// Tags that models put around the arguments of a call, where the format has none: `<arguments>...</arguments>`.
#include "chat/conversation.h"
#include "format/units.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

constexpr std::size_t kLongestWrapper = 64;

// Matches a tag of one word, without attributes, at the start of `text`.
Match tag_of_word(std::string_view text, bool is_end) {
  if (!text.starts_with('<')) return {};
  std::size_t size = 1;
  while (size < text.size() && size <= kLongestWrapper && format::is_word(text[size])) ++size;
  if (size == text.size()) return {is_end ? MatchKind::kNone : MatchKind::kPartial, 0};
  return size > 1 && text[size] == '>' ? Match{MatchKind::kFull, size + 1} : Match{};
}

}  // namespace

// Takes a tag that is not the format's own at `at`, where the arguments begin, if they begin behind it.
MatchKind Machine::argument_wrapper(std::size_t at) {
  if (!call_.wrapper_close.empty()) return MatchKind::kNone;
  const std::string_view text = std::string_view(buffer_).substr(at);
  const Match tag = tag_of_word(text, is_end_);
  if (tag.kind != MatchKind::kFull) return tag.kind;
  const std::size_t next = skip_space(at + tag.size);
  if (next == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const std::string word(text.substr(1, tag.size - 2));
  const std::string close = "</" + word + ">";
  MatchKind behind = MatchKind::kNone;
  // Otherwise the tag is rather a parameter in another syntax.
  if (chat::is_arguments_key(word) && !has_parameter(word))
    behind = buffer_[next] == '{' ? MatchKind::kFull : literal_match(next, close);
  if (behind == MatchKind::kNone && syntax_->format->calls.arguments == format::ArgumentStyle::kParameters)
    behind = parameter_opens_at(next);
  if (behind != MatchKind::kFull) return behind;
  pos_ = at + tag.size;
  emit(EventKind::kMarker, pos_);
  call_.wrapper_close = close;
  return MatchKind::kFull;
}

// Matches the text that opens a parameter at `at`.
MatchKind Machine::parameter_opens_at(std::size_t at) const {
  const MarkerSet::Found found = syntax_->sets.parameter.at(buffer_, at, is_end_, starts());
  return found.kind == MatchKind::kFull && found.id != kParameterOpen ? MatchKind::kNone : found.kind;
}

MatchKind Machine::literal_match(std::size_t at, std::string_view literal) const {
  const std::string_view text = std::string_view(buffer_).substr(at, literal.size());
  if (text == literal) return MatchKind::kFull;
  return !is_end_ && literal.starts_with(text) ? MatchKind::kPartial : MatchKind::kNone;
}

// Matches the closing tag of argument_wrapper() at `at`.
MatchKind Machine::wrapper_end_at(std::size_t at) const {
  return call_.wrapper_close.empty() ? MatchKind::kNone : literal_match(at, call_.wrapper_close);
}

// Takes that tag.  kPartial means that more text is needed.
MatchKind Machine::end_wrapper() {
  if (call_.wrapper_close.empty()) return MatchKind::kNone;
  const std::size_t at = skip_space(pos_);
  if (at == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const MatchKind kind = wrapper_end_at(at);
  if (kind != MatchKind::kFull) return kind;
  pos_ = at + call_.wrapper_close.size();
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
