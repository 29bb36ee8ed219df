#include "render/ending.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "format/units.h"

namespace rondo::render {
namespace {

using tokenizer::TokenId;

std::string without_space(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!format::is_space(c)) out += c;
  }
  return out;
}

// The part of `closers` that is missing after calls if `text` does not end with a beginning of it, for example because
// its arguments have other types than the stand-in's.  The end of a call belongs to the format and is already written,
// so only what follows its last token is missing.  All of `closers` is missing if the text goes on after the calls with
// `content`.
std::string missing_behind_calls(const tokenizer::Tokenizer& tokenizer, std::string_view text, std::string_view closers,
                                 std::string_view content) {
  const std::vector<Marker> found = markers(tokenizer, text);
  if (found.empty()) return "";
  const std::string_view last = tokenizer.token_bytes(found.back().id);
  const std::size_t at = closers.rfind(last);
  if (at != std::string_view::npos) return text.ends_with(last) ? std::string(closers.substr(at + last.size())) : "";
  return !format::is_blank(content) && text.ends_with(content) ? std::string(closers) : "";
}

// Where the text behind the last end of calls in `text` begins; npos if none is there.  Punctuation alone, such as `>`,
// may be a part of something else unless it is whole units.
std::size_t behind_calls_end(std::string_view text, std::string_view end) {
  const bool has_words = std::ranges::any_of(end, format::is_word);
  const std::vector<std::size_t> cuts = has_words ? std::vector<std::size_t>() : format::unit_boundaries(text);
  const auto is_cut = [&cuts](std::size_t place) { return std::ranges::binary_search(cuts, place); };
  for (std::size_t behind = text.size(); behind > 0; --behind) {
    const std::size_t size = format::numbered_suffix(text.substr(0, behind), end);
    if (size > 0 && (has_words || (is_cut(behind - size) && is_cut(behind)))) return behind;
  }
  return std::string_view::npos;
}

// The part of `closing` that follows the end of the calls, if `text`, the completion with its closing text, ends with
// whole calls, or with these and a beginning of that part.  What `closing` writes before that closes the arguments of
// the stand-in, and the completion may have none.
std::optional<std::string> missing_behind_whole_calls(const tokenizer::Tokenizer& tokenizer,
                                                      const ParsedCompletion& said, std::string_view text,
                                                      std::string_view closing) {
  const std::string& end = said.calls_end;
  const std::size_t behind = behind_calls_end(closing, end);
  const bool has_calls = !said.message.tool_calls.empty() || !said.closing_text.empty();
  if (!has_calls || behind == std::string_view::npos) return std::nullopt;
  // Behind a separator, only the section is still open.
  const std::string_view closed = format::trimmed(said.closing_text);
  const bool closes_section = !closed.empty() && end.ends_with(closed) && text.ends_with(closed);
  const auto ends_calls = [&](std::string_view written) {
    return format::numbered_suffix(written, end) > 0 || (closes_section && written.size() == text.size());
  };
  std::string rest(closing.substr(behind));
  const std::size_t there = overlap(tokenizer, text, rest);
  if (there > 0 && ends_calls(text.substr(0, text.size() - there))) return rest.substr(there);
  const bool ends_with_content = !format::is_blank(said.message.content) && text.ends_with(said.message.content);
  if (ends_with_content && said.closing_text.empty()) return rest;  // behind calls that are whole
  return ends_with_content || !ends_calls(text) ? std::nullopt : std::optional(rest);
}

// The part of `closers`, the template's text between a turn's data and its stop, that is missing after `text`.  The
// cut-off beginning of a control token is text and does not count.
std::string missing_closers(const tokenizer::Tokenizer& tokenizer, std::string_view text, std::string_view closers,
                            const ParsedCompletion& said) {
  if (auto rest = missing_behind_whole_calls(tokenizer, said, text, closers)) return *std::move(rest);
  const std::size_t there = overlap(tokenizer, text, closers);
  if (without_space(closers.substr(there)).empty()) return std::string(closers.substr(there));
  const std::string plain = without_space(closers);
  const std::size_t plain_there = overlap(tokenizer, without_space(text), plain);
  if (plain_there == plain.size()) return "";
  const chat::AssistantMessage& message = said.message;
  if (!message.tool_calls.empty() && plain_there == 0)
    return missing_behind_calls(tokenizer, text, closers, message.content);
  std::size_t begin = 0;
  for (std::size_t seen = 0; seen < plain_there; ++begin) seen += without_space(closers.substr(begin, 1)).size();
  return std::string(closers.substr(begin));
}

// What missing(text) gives for `text`, or for `text` without the white space at its end if less is missing then: white
// space that the model writes behind closers changes nothing.
template <typename Missing>
std::string missing_but_space(std::string_view text, Missing missing_behind) {
  std::string missing = missing_behind(text);
  std::string_view bare = text;
  while (!bare.empty() && format::is_space(bare.back())) bare.remove_suffix(1);
  if (bare.size() == text.size() || missing.empty()) return missing;
  std::string behind = missing_behind(bare);
  if (behind.size() >= missing.size()) return missing;
  const std::string_view space = text.substr(bare.size());
  std::size_t there = std::min(space.size(), behind.size());
  while (!space.ends_with(std::string_view(behind).substr(0, there))) --there;
  return behind.substr(there);
}

// The end of the completion; no closing text is longer.
std::string last_text(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> completion) {
  constexpr std::size_t kEnough = 256;
  Result<std::string> text = tokenizer.decode(completion.last(std::min(completion.size(), kEnough)), {});
  return text.ok() ? std::move(text).value() : std::string();
}

// Whether `text` ends with the end of a block of the turn, so that nothing more has to close it.
bool ends_block(const ParsedCompletion& said, std::string_view text) {
  return std::ranges::any_of(said.block_ends, [text](const std::string& end) { return text.ends_with(end); });
}

// The part of the turn's end in history that is missing after `text`.  If no token ends the turn, the end's text may
// already be there.  After calls it may also be the end for other arguments than the stand-in's.
std::string missing_end(const tokenizer::Tokenizer& tokenizer, const TurnClose& close, const ParsedCompletion& said,
                        std::string_view text) {
  const std::string& end = close.history_close;
  if (auto rest = missing_behind_whole_calls(tokenizer, said, text, end)) return *std::move(rest);
  if (format::is_blank(end) || !markers(tokenizer, end).empty()) return end;
  if (const std::size_t there = overlap(tokenizer, text, end); there > 0) return end.substr(there);
  const bool is_whole_call = said.closing_text.empty() && !said.message.tool_calls.empty();
  const std::size_t alike = is_whole_call ? format::common_suffix(text, end) : 0;
  return format::is_blank(text.substr(text.size() - alike)) ? end : "";
}

// Where the turn's end ends in `text`, which closes a block; npos if more than white space follows it, or if it is not
// there.  A template may also write the same text twice: for the block, and for the turn.
std::size_t turn_end_in(const TurnClose& close, std::string_view text) {
  const std::string& end = close.history_close;
  const std::size_t at = text.rfind(end);
  const bool is_last = at != std::string_view::npos && format::is_blank(text.substr(at + end.size()));
  const bool is_single = close.closers.find(format::trimmed(end)) == std::string::npos;
  return is_last && is_single ? at + end.size() : std::string_view::npos;
}

// The text that closes a completion which was cut off and ends with `sampled`, as the template closes it in history.
Lead closing(const tokenizer::Tokenizer& tokenizer, const TurnClose& close, const ParsedCompletion& said,
             const std::string& sampled) {
  Lead lead;
  lead.text = said.closing_text;
  lead.text += missing_but_space(sampled + lead.text, [&](std::string_view text) {
    return missing_closers(tokenizer, text, close.closers, said);
  });
  if (!without_space(lead.text).empty())
    lead.notes.push_back("the completion was cut off; " + text::quoted(lead.text) + " closes what it left open");
  if (!said.cut_name.empty())
    lead.notes.push_back("the completion breaks off in a call of " + text::quoted(said.cut_name) +
                         ", which the message does not have: it needs no result");
  const bool is_ended = !lead.text.empty() && ends_block(said, lead.text);
  if (close.stop_opens_next || close.history_close.empty() || is_ended) return lead;
  if (const std::size_t closed = turn_end_in(close, lead.text); closed != std::string::npos) {
    lead.text.resize(closed);
    return lead;
  }
  const std::string end = missing_but_space(
      sampled + lead.text, [&](std::string_view text) { return missing_end(tokenizer, close, said, text); });
  if (end.empty()) return lead;
  lead.text += end;
  lead.notes.push_back("the completion has no stop token; " + text::quoted(end) + " was added");
  return lead;
}

// The text that the template writes between the sampled stop and the suffix, if the stop is not the last of its closing
// tokens.  `sampled`, from the first stop token on, must be the beginning of what closes the turn; nullopt if it is
// not.
std::optional<std::string> rest_of_close(const tokenizer::Tokenizer& tokenizer, const TurnClose& close,
                                         std::span<const TokenId> sampled) {
  if (close.stop_opens_next) return std::nullopt;
  const std::string whole = close.closers + close.history_close;
  const std::size_t at = whole.find(tokenizer.token_bytes(sampled.front()));
  const Result<std::string> text = tokenizer.decode(sampled, {});
  if (at == std::string::npos || !text.ok() || !std::string_view(whole).substr(at).starts_with(text.value()))
    return std::nullopt;
  return whole.substr(at + text.value().size());
}

// Whether a completion without a stop token, whose end reads `sampled`, has nevertheless closed its turn.
bool ends_closed(const tokenizer::Tokenizer& tokenizer, const TurnClose& close, const SampledTurn& turn,
                 std::string_view sampled) {
  const std::span<const TokenId> completion = turn.completion_ids;
  if (!close.stop_id && !close.stop.empty()) return sampled.ends_with(close.stop);
  if (close.stop_opens_next || close.history_close.empty() || completion.empty()) return false;
  // The model sampled the form that ends the turn in history instead of the stop.
  const TokenId last = completion.back();
  if (!tokenizer.is_added(last)) return false;
  const std::string_view text = tokenizer.token_bytes(last);
  return close.history_close == text || (turn.said.closing_text.empty() && ends_block(turn.said, text));
}

// Whether `ids` are the last ids of what the template writes to close the turn.  Some templates write several closing
// tokens.
bool ends_with_close(const tokenizer::Tokenizer& tokenizer, const TurnClose& close, std::span<const TokenId> ids) {
  const Result<std::string> text = tokenizer.decode(ids, {});
  return text.ok() && !close.stop_opens_next && (close.closers + close.history_close).ends_with(text.value());
}

}  // namespace

SampledEnd find_end(const TurnProfile& profile, std::span<const TokenId> completion_ids) {
  SampledEnd end;
  const auto first = std::ranges::find_if(completion_ids, [&](TokenId id) { return profile.is_stop(id); });
  if (first == completion_ids.end()) return end;
  end.from_first = completion_ids.subspan(static_cast<std::size_t>(first - completion_ids.begin()));
  std::size_t last = end.from_first.size();
  while (!profile.is_stop(end.from_first[last - 1])) --last;
  end.stop = end.from_first[last - 1];
  end.trailing = end.from_first.subspan(last);
  return end;
}

bool says_nothing(const SampledTurn& turn) {
  const chat::AssistantMessage& message = turn.said.message;
  return !turn.end.stop && turn.said.stops_from == 0 && message.tool_calls.empty() &&
         format::is_blank(message.content) && format::is_blank(message.reasoning.value_or(""));
}

Lead lead_of(const tokenizer::Tokenizer& tokenizer, const TurnClose& close, const SampledTurn& turn) {
  if (turn.end.stop) {
    std::optional<std::string> rest = rest_of_close(tokenizer, close, turn.end.from_first);
    return rest ? Lead{*std::move(rest), true, {}} : Lead{};
  }
  const std::string sampled = last_text(tokenizer, turn.completion_ids);
  if (ends_closed(tokenizer, close, turn, sampled)) return {};
  return closing(tokenizer, close, turn.said, sampled);
}

std::string changed_end(const tokenizer::Tokenizer& tokenizer, const TurnClose& close, const SampledEnd& end,
                        bool fits) {
  if (!end.stop) return "";
  if (end.from_first.size() > 1 && !ends_with_close(tokenizer, close, end.from_first))
    return "what was sampled behind the first stop token is no part of the turn";
  const std::string stop(tokenizer.token_bytes(*end.stop));
  const bool is_kept = close.stop_opens_next ? fits : stop == close.history_close;
  if (is_kept || close.closers.find(stop) != std::string::npos) return "";
  const std::string written =
      close.stop_opens_next || close.history_close.empty() ? "nothing" : text::quoted(close.history_close);
  return "the turn's end changes: the template writes " + written + " in the place of " + text::quoted(stop);
}

}  // namespace rondo::render
