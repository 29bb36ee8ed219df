// Headings of blocks: words in any order, up to the text that ends every heading (format::Calls::heading_close).
#include "format/units.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

constexpr std::size_t kLongestHeading = 256;

std::string heading_name(std::string_view words) {
  return std::string(words.substr(0, words.find_first_of(" \t\r\n|<")));
}

}  // namespace

// A heading at `at` that syntax_->blank_set does not know as it stands: one that names a tool, or has other words.  kPartial: more
// text is needed to tell.
MatchKind Machine::heading(std::size_t at) {
  const std::string_view text = std::string_view(buffer_).substr(at);
  const std::string_view close = syntax_->format->calls.heading_close;
  const std::string& call = syntax_->call_open.core();
  bool begins = false;
  bool may_begin = false;
  const std::string_view bare = without_prefix_word(call);
  for (const std::string_view open : {std::string_view(syntax_->heading_open), std::string_view(call), bare}) {
    if (open.empty()) continue;
    begins = begins || text.starts_with(open);
    may_begin = may_begin || (!is_end_ && text.size() < open.size() && open.starts_with(text));
  }
  if (!begins) return may_begin ? MatchKind::kPartial : MatchKind::kNone;
  const std::size_t end = text.substr(0, kLongestHeading).find(close);
  if (end == std::string_view::npos)
    return text.size() < kLongestHeading && !is_end_ ? MatchKind::kPartial : MatchKind::kNone;
  const std::string_view words = text.substr(0, end);
  const std::size_t behind = at + end + close.size();
  const auto begins_like = [&](const std::string& open) {
    const std::string_view whole = format::trimmed(open);
    return whole.size() > close.size() && words.starts_with(whole.substr(0, whole.size() - close.size()));
  };
  const bool is_reasoning = begins_like(syntax_->format->reasoning.open);
  if (options().calls) {
    if (const std::size_t found = words.find(call); found != std::string_view::npos)
      return call_heading(words.substr(found + call.size()), behind) ? MatchKind::kFull : MatchKind::kNone;
    // Whoever else a block is for, it is no answer.
    const std::size_t found = bare.empty() ? std::string_view::npos : words.find(bare);
    const std::string_view rest = found == std::string_view::npos ? "" : words.substr(found + bare.size());
    const bool is_known = options().tools && syntax_->is_known_tool(heading_name(rest));
    const bool is_other = !is_reasoning && !begins_like(syntax_->format->content.open);
    if ((is_known || is_other) && call_heading(rest, behind)) return MatchKind::kFull;
  }
  pos_ = behind;
  if (is_reasoning) {
    emit_reasoning_marker(pos_);
    phase_ = Phase::kReasoning;
    if (!message_.reasoning && !syntax_->options.inline_reasoning) message_.reasoning.emplace();
  } else {
    emit(EventKind::kMarker, pos_);
    top_.is_blank = false;
  }
  return MatchKind::kFull;
}

// `words` begin with the name of a tool; the arguments begin at `behind`.
bool Machine::call_heading(std::string_view words, std::size_t behind) {
  const std::string name = heading_name(words);
  if (name.empty()) return false;
  begin_attempt(false, Opening::kMarker);
  (void)start_body();
  call_.name = name;
  call_.has_name = true;
  const auto& pieces = syntax_->format->calls.pieces;
  while (call_.piece < pieces.size() && pieces[call_.piece].kind != format::CallPiece::Kind::kArguments) ++call_.piece;
  pos_ = behind;
  return true;
}

}  // namespace rondo::parse
