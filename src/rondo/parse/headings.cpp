// Headings of blocks: words in any order, up to the text that ends every heading (format::Calls::heading_close).
#include <algorithm>
#include <utility>
#include <vector>

#include "format/escapes.h"
#include "format/units.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

constexpr std::size_t kLongestHeading = 256;

// Completes the heading of a call whose name never came.  No tool is expected to have this name.
constexpr std::string_view kNobody = "none";

constexpr std::string_view kWordEnds = " <>|";

// Returns the first word of `text`.
//
// REQUIRES: `text` begins with that word.
std::string_view word_at(std::string_view text) { return text.substr(0, text.find_first_of(kWordEnds)); }

// Returns the texts of a format's headings, those of calls first.
std::vector<std::string_view> heading_texts(const format::Format& format) {
  std::vector<std::string_view> out;
  for (const format::CallPiece& piece : format.calls.pieces) out.emplace_back(piece.text);
  out.insert(out.end(), {format.calls.call_open, format.content.open, format.reasoning.open});
  return out;
}

// Returns the missing part of the last word in `begun`, the beginning of a heading.  If `begun` ends with a mark
// instead, returns the word that follows this mark.  Words are those of the format's headings; "" if none fits.
std::string rest_of_word(const format::Format& format, std::string_view begun) {
  const std::size_t before = begun.find_last_of(kWordEnds);
  const std::string_view last = before == std::string_view::npos ? begun : begun.substr(before + 1);
  const std::string_view mark = last.empty() ? begun.substr(begun.find_last_of(' ') + 1) : "";
  for (const std::string_view text : heading_texts(format)) {
    for (std::size_t at = 0; !mark.empty() && at < mark.size(); ++at) {
      const std::string_view end = mark.substr(at);
      if (end.front() == '<' && text.starts_with(end)) return std::string(word_at(text.substr(end.size())));
    }
    for (std::size_t at = 0; !last.empty() && at <= text.size();) {
      const std::string_view word = word_at(text.substr(at));
      if (word.size() > last.size() && word.starts_with(last)) return std::string(word.substr(last.size()));
      at += word.size() + 1;
    }
  }
  return "";
}

// Returns `words` without the white space behind control tokens, which some tokenizers write.
std::string without_gaps(std::string_view words) {
  std::string out;
  for (const char byte : words) {
    if (!format::is_space(byte) || !out.ends_with('>')) out += byte;
  }
  return out;
}

// Returns whether `words`, a heading without the `close` of headings, begin as the heading `open` of the format does.
bool begins_like(std::string_view words, std::string_view open, std::string_view close) {
  const std::string_view whole = format::trimmed(open);
  return whole.size() > close.size() &&
         without_gaps(words).starts_with(without_gaps(whole.substr(0, whole.size() - close.size())));
}

// What the format writes between the name of a call and its arguments.
std::string text_behind_name(const format::Calls& calls) {
  std::string out;
  for (const format::CallPiece& piece : calls.pieces) {
    if (piece.kind == format::CallPiece::Kind::kArguments) break;
    if (piece.kind == format::CallPiece::Kind::kName) out.clear();
    if (piece.kind == format::CallPiece::Kind::kLiteral) out += piece.text;
  }
  return out;
}

// Returns whether `name` is what the header of the model's own turns calls the model.  A block for it goes to no tool.
bool is_model(std::string_view name, const format::Format& format) {
  const std::string_view header = format::trimmed(format.header);
  const std::size_t before = header.find_last_of(kWordEnds);
  return !name.empty() && before != std::string_view::npos && header.substr(before + 1) == name;
}

// Returns the name of the tool at the start of `words`, as written.
std::string heading_name(std::string_view words, const format::Calls& calls) {
  std::string name(words.substr(0, words.find_first_of(" \t\r\n|<")));
  const std::string behind = text_behind_name(calls);
  const std::string_view mark = format::trimmed(std::string_view(behind).substr(0, behind.find(calls.heading_close)));
  return mark.empty() ? name : name.substr(0, name.find(mark));
}

}  // namespace

// A prefix of names that ends with a dot, as in ` to=functions.`, may be missing.
std::string_view without_prefix_word(std::string_view opener) {
  if (!opener.ends_with('.')) return "";
  std::string_view rest = opener.substr(0, opener.size() - 1);
  while (!rest.empty() && format::is_word(rest.back())) rest.remove_suffix(1);
  return rest.size() + 1 < opener.size() ? rest : "";
}

// Reads the heading of a block at `at`: of reasoning, an answer or a call.  Its words may differ from the format's, and
// it may name a tool.  kPartial means that more text is needed.
MatchKind Machine::heading(std::size_t at) {
  const format::Calls& calls = syntax_->format->calls;
  if (!calls.present || calls.heading_close.empty()) return MatchKind::kNone;
  const std::string_view text = std::string_view(buffer_).substr(at);
  if (const MatchKind open = heading_open(text); open != MatchKind::kFull) return open;
  const std::string_view close = calls.heading_close;
  const std::size_t end = text.substr(0, kLongestHeading).find(close);
  if (end == std::string_view::npos) return unfinished_heading(text);
  const std::string_view words = text.substr(0, end);
  // The model gave up a heading and began another one, which counts.  A tool that only the first one names is meant still.
  const std::size_t again = syntax_->heading_open.empty() ? 0 : words.rfind(syntax_->heading_open);
  if (again != std::string_view::npos && again > 0 && words.starts_with(syntax_->heading_open) &&
      (!names_recipient(words.substr(0, again)) || names_recipient(words.substr(again)))) {
    emit(EventKind::kMarker, at + again);
    return MatchKind::kFull;
  }
  const std::size_t behind = at + end + close.size();
  if (options().calls) {
    const std::string& call = syntax_->call_open.core();
    if (const std::size_t found = words.find(call); found != std::string_view::npos)
      return call_heading(words.substr(found + call.size()), behind) ? MatchKind::kFull : MatchKind::kNone;
    if (call_heading(recipient(words), behind)) return MatchKind::kFull;
  }
  pos_ = behind;
  top_.has_header = false;
  if (begins_like(words, syntax_->format->reasoning.open, close)) {
    emit_reasoning_marker(pos_);
    phase_ = Phase::kReasoning;
    if (!message_.reasoning && !inline_reasoning_) message_.reasoning.emplace();
  } else {
    emit(EventKind::kMarker, pos_);
    top_.is_blank = false;
  }
  return MatchKind::kFull;
}

// Reads the heading of a call behind text, if its opener ends at `at` and a known tool is named.  kPartial means that
// more text is needed.
MatchKind Machine::heading_behind_text(std::size_t at) {
  const format::Calls& calls = syntax_->format->calls;
  if (calls.heading_close.empty() || section_.is_open || !options().tools || !options().calls) return MatchKind::kNone;
  const MatchKind named = tool_name_at(at, [](std::size_t) { return MatchKind::kFull; });
  if (named != MatchKind::kFull) return named;
  const std::string_view text = std::string_view(buffer_).substr(at);
  const std::size_t end = text.substr(0, kLongestHeading).find(calls.heading_close);
  if (end == std::string_view::npos)
    return text.size() < kLongestHeading && !is_end_ ? MatchKind::kPartial : MatchKind::kNone;
  const std::string_view words = text.substr(0, end);
  if (!syntax_->is_known_tool(format::unescaped(heading_name(words, calls), calls.name_escapes)))
    return MatchKind::kNone;
  // No heading contains the end of a block, or the header of another one.
  const std::string_view header = format::trimmed(syntax_->format->header);
  if (!header.empty() && words.find(header) != std::string_view::npos) return MatchKind::kNone;
  if (syntax_->sets.stop.find(words, 0, true, nullptr).kind == MatchKind::kFull) return MatchKind::kNone;
  thoughts_.have_call = false;
  foreign_.closes.clear();
  const bool was_wrapped = std::exchange(top_.is_wrapped, false);
  if (!call_heading(words, at + end + calls.heading_close.size())) return MatchKind::kNone;
  attempt_.was_wrapped = was_wrapped;
  return MatchKind::kFull;
}

// Decides about `text`, which begins as a heading does and has no close.  If the turn ends there, the heading is open.
MatchKind Machine::unfinished_heading(std::string_view text) {
  const std::string& open = syntax_->heading_open;
  if (is_end_ && !open.empty() && text.starts_with(open)) ending_.is_open = true;
  return text.size() < kLongestHeading && !is_end_ ? MatchKind::kPartial : MatchKind::kNone;
}

// Matches the text that headings begin with at the start of `text`.  The heading of a call may lack the last word of
// the call's opener.
MatchKind Machine::heading_open(std::string_view text) const {
  const std::string_view call = syntax_->call_open.core();
  bool may_begin = false;
  for (const std::string_view open : {std::string_view(syntax_->heading_open), call, without_prefix_word(call)}) {
    if (open.empty()) continue;
    if (text.starts_with(open)) return MatchKind::kFull;
    may_begin = may_begin || open.starts_with(text);
  }
  return may_begin && !is_end_ ? MatchKind::kPartial : MatchKind::kNone;
}

// Returns whether the words of a heading say to whom else the block goes.
bool Machine::names_recipient(std::string_view words) const {
  const std::string_view bare = without_prefix_word(syntax_->call_open.core());
  const std::size_t found = bare.empty() ? std::string_view::npos : words.find(bare);
  if (found == std::string_view::npos) return false;
  const format::Format& format = *syntax_->format;
  return !is_model(heading_name(words.substr(found + bare.size()), format.calls), format);
}

// Returns the recipient of a block, with the words after it, if the block is a call whose opener lacks its last word;
// "" otherwise.  A block for a tool is a call.  A block for anything else is one unless it is for the model itself, or its
// heading is that of reasoning or an answer with the recipient that the format writes there.
std::string_view Machine::recipient(std::string_view words) const {
  const format::Format& format = *syntax_->format;
  const std::string_view bare = without_prefix_word(syntax_->call_open.core());
  const std::size_t found = bare.empty() ? std::string_view::npos : words.find(bare);
  if (found == std::string_view::npos) return "";
  const std::string_view rest = words.substr(found + bare.size());
  const std::string name = heading_name(rest, format.calls);
  const bool is_known = options().tools && syntax_->is_known_tool(format::unescaped(name, format.calls.name_escapes));
  if (!is_known && is_model(name, format)) return "";
  const auto is_own = [&](const std::string& open) {
    return open.find(bare) != std::string::npos && begins_like(words, open, format.calls.heading_close);
  };
  return is_known || !(is_own(format.reasoning.open) || is_own(format.content.open)) ? rest : "";
}

// Reads a call.  `words`, the rest of its heading, begin with a tool's name.  The arguments begin at `behind`.  Returns
// false if there is no name.
bool Machine::call_heading(std::string_view words, std::size_t behind) {
  const std::string name = heading_name(words, syntax_->format->calls);
  if (name.empty()) return false;
  begin_attempt(false, Opening::kMarker);
  (void)start_body();
  call_.name = syntax_->meant_tool(format::unescaped(name, syntax_->format->calls.name_escapes));
  call_.has_name = true;
  const auto& pieces = syntax_->format->calls.pieces;
  while (call_.piece < pieces.size() && pieces[call_.piece].kind != format::CallPiece::Kind::kArguments) ++call_.piece;
  pos_ = behind;
  return true;
}

// Returns the text that completes a block whose heading is cut off: the rest of the heading, then the text that closes
// the block unless that is a stop.  Returns "" if no heading has begun.
std::string Machine::heading_closing() const {
  if (!syntax_->has_headings() || !top_.is_blank) return "";
  std::string_view begun = format::trimmed(std::string_view(buffer_).substr(head_));
  const bool has_space = head_ < buffer_.size();
  if (top_.has_header) return (begun.empty() && !has_space ? heading_lead() : "") + completed_heading(begun);
  // The header of a further block may be cut off too.  At the start of a turn, the prompt has the header.
  if (begun.empty()) return "";
  std::string further = further_heading_closing(begun);
  return further.empty() ? completed_heading(begun) : further;
}

// If `begun` is the beginning of the header of a further block, or the beginning of a heading behind that header, returns
// the rest of both, and the text that closes the block; "" otherwise.
std::string Machine::further_heading_closing(std::string_view begun) const {
  const std::string_view header = format::trimmed(syntax_->format->header);
  begun = format::trimmed(begun);
  if (!syntax_->has_headings() || begun.empty() || header.empty()) return "";
  const bool is_behind_header = phase_ == Phase::kBetween && section_.expects_call;
  if (is_behind_header && !begun.starts_with(header)) return completed_heading(begun);
  if (header.starts_with(begun))
    return std::string(header.substr(begun.size())) + heading_lead() + completed_heading("");
  return begun.starts_with(header) ? completed_heading(format::trimmed(begun.substr(header.size()))) : "";
}

// Returns the white space between a header and the heading of an answer.
std::string Machine::heading_lead() const {
  const std::string& open = syntax_->format->content.open;
  return open.substr(0, open.find(format::trimmed(open)));
}

// Returns the rest of a heading that begins with `begun`, and the text that closes its block.
std::string Machine::completed_heading(std::string_view begun) const {
  const format::Format& format = *syntax_->format;
  for (const auto& [open, close] : {std::pair{&format.content.open, &format.content.close},
                                    std::pair{&format.reasoning.open, &format.reasoning.close}}) {
    const std::string_view whole = format::trimmed(*open);
    if (!whole.empty() && whole.starts_with(begun)) return std::string(whole.substr(begun.size())) + *close;
  }
  if (format.calls.heading_close.empty()) return "";
  std::string out = rest_of_word(format, begun);
  const std::string words = std::string(begun) + out;
  const std::string& call = syntax_->call_open.core();
  const std::size_t found = words.find(call);
  if (!options().calls || found == std::string::npos) return out + format.calls.heading_close;
  std::string_view behind = std::string_view(words).substr(found + call.size());
  const std::size_t name_size = heading_name(behind, format.calls).size();
  if (name_size == 0) out += kNobody;
  behind.remove_prefix(name_size);
  // The call's other words may stand before its opener.  Where nothing does, they follow the name.
  const std::string written = text_behind_name(format.calls);
  out += found == 0 && written.starts_with(behind) ? written.substr(behind.size()) : format.calls.heading_close;
  return out + "{}" + (format.stops.tool.empty() ? std::string() : format.stops.tool.front());
}

}  // namespace rondo::parse
