#include "render/bridge.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "format/units.h"
#include "render/join.h"
#include "render/lossy.h"
#include "render/stand_in.h"
#include "render/suffix.h"

namespace rondo::render {
namespace {

using tokenizer::ByteRange;
using tokenizer::Piece;
using tokenizer::TokenId;

// The last of the old ids, without the last `behind` of them.
std::vector<TokenId> last_ids(const BridgeRequest& request, std::size_t behind) {
  constexpr std::size_t kEnough = 32;
  std::vector<TokenId> last;
  const auto take = [&](std::span<const TokenId> ids) {
    for (std::size_t i = ids.size(); i > 0 && last.size() < kEnough; --i) last.push_back(ids[i - 1]);
  };
  take(request.completion_ids.first(request.completion_ids.size() - behind));
  take(request.prompt_ids);
  std::ranges::reverse(last);
  return last;
}

// The pieces of `lead`, text of the template, and of `suffix.full` from byte `begin` on, as they follow `before`.
std::vector<Piece> suffix_pieces(const TurnContext& context, std::string_view lead, const SuffixRender& suffix,
                                 std::size_t begin, std::span<const TokenId> before, ContentSpecials specials) {
  std::string text(lead);
  text += std::string_view(suffix.full.text.bytes()).substr(begin);
  if (specials == ContentSpecials::kParse) return encode_behind(context.tokenizer, before, text, nullptr);
  std::vector<ByteRange> allowed = {{0, lead.size()}};
  for (const ByteRange& range : trusted_ranges(context.chat_template, suffix.full)) {
    if (range.end <= begin) continue;
    const std::size_t first = std::max(range.begin, begin) - begin + lead.size();
    if (first == allowed.back().end) {
      allowed.back().end = range.end - begin + lead.size();
    } else {
      allowed.push_back({first, range.end - begin + lead.size()});
    }
  }
  if (allowed.front().end == 0) allowed.erase(allowed.begin());
  return encode_behind(context.tokenizer, before, text, &allowed);
}

// How the sampled completion ends, in terms of stop tokens.
struct SampledEnd {
  bool closed = false;
  std::optional<TokenId> stop;          // the last stop token in it
  std::span<const TokenId> trailing;    // what was sampled behind that
  std::span<const TokenId> from_first;  // from the first stop token on
  bool goes_on = false;                 // the first stop token is not the last id
};

SampledEnd sampled_end(const TurnProfile& profile, const BridgeRequest& request) {
  SampledEnd end;
  const auto completion =
      request.completion_ids.subspan(std::min(request.completion->stops_from, request.completion_ids.size()));
  const auto first = std::ranges::find_if(completion, [&](TokenId id) { return profile.is_stop(id); });
  if (first == completion.end()) return end;
  end.closed = true;
  end.from_first = completion.subspan(static_cast<std::size_t>(first - completion.begin()));
  end.goes_on = end.from_first.size() > 1;
  std::size_t last = end.from_first.size();
  while (!profile.is_stop(end.from_first[last - 1])) --last;
  end.stop = end.from_first[last - 1];
  end.trailing = end.from_first.subspan(last);
  return end;
}

bool opens_a_turn(const TurnContext& context, std::span<const TokenId> ids) {
  return std::any_of(ids.begin(), ids.end(), [&](TokenId id) { return context.tokenizer.is_added(id); });
}

// Number of leading `pieces` that were already sampled behind the stop token.
std::size_t already_sampled(std::span<const TokenId> trailing, const std::vector<Piece>& pieces) {
  if (trailing.empty() || trailing.size() > pieces.size()) return 0;
  const bool same = std::equal(trailing.begin(), trailing.end(), pieces.begin(),
                               [](TokenId id, const Piece& piece) { return id == piece.id; });
  return same ? trailing.size() : 0;
}

std::string without_space(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!format::is_space(c)) out += c;
  }
  return out;
}

// What of `closers` is missing behind calls where `text` ends with no beginning of it, as behind arguments of other types
// than the stand-in's: the end of a call is the format's business, and written already.  What follows its last token is
// missing; all of `closers` where the text goes on behind the calls with `content`.
std::string missing_behind_calls(const tokenizer::Tokenizer& tokenizer, std::string_view text, std::string_view closers,
                                 std::string_view content) {
  const std::vector<Marker> found = markers(tokenizer, text);
  if (found.empty()) return "";
  const std::string_view last = tokenizer.token_bytes(found.back().id);
  const std::size_t at = closers.rfind(last);
  if (at != std::string_view::npos) return text.ends_with(last) ? std::string(closers.substr(at + last.size())) : "";
  return !format::is_blank(content) && text.ends_with(content) ? std::string(closers) : "";
}

// What of `closers`, the template's text between the data of a turn and its stop, is missing behind `text`.  The beginning
// of a control token that was cut off is text, and does not count.
std::string missing_closers(const tokenizer::Tokenizer& tokenizer, std::string_view text, std::string_view closers,
                            const chat::AssistantMessage& said) {
  const std::size_t there = overlap(tokenizer, text, closers);
  if (without_space(closers.substr(there)).empty()) return std::string(closers.substr(there));
  const std::string plain = without_space(closers);
  const std::size_t plain_there = overlap(tokenizer, without_space(text), plain);
  if (plain_there == plain.size()) return "";
  if (!said.tool_calls.empty() && plain_there == 0) return missing_behind_calls(tokenizer, text, closers, said.content);
  std::size_t begin = 0;
  for (std::size_t seen = 0; seen < plain_there; ++begin) seen += without_space(closers.substr(begin, 1)).size();
  return std::string(closers.substr(begin));
}

// The end of the completion; no closing text is longer.
std::string last_text(const TurnContext& context, std::span<const TokenId> completion) {
  constexpr std::size_t kEnough = 256;
  Result<std::string> text = context.tokenizer.decode(completion.last(std::min(completion.size(), kEnough)), {});
  return text.ok() ? std::move(text).value() : std::string();
}

// What closes a completion that was cut off, as the template closes it in history.
std::string closing(const TurnContext& context, const BridgeRequest& request, const TurnClose& close, Appended& out) {
  const ParsedCompletion& completion = *request.completion;
  const std::string sampled = last_text(context, request.completion_ids);
  std::string text = completion.closing_text;
  text += missing_closers(context.tokenizer, sampled + text, close.closers, completion.message);
  if (!without_space(text).empty())
    out.notes.push_back("the completion was cut off; " + text::quoted(text) + " closes what it left open");
  if (!close.stop_opens_next && !close.history_close.empty()) {
    text += close.history_close;
    out.notes.push_back("the completion has no stop token; " + text::quoted(close.history_close) + " was added");
  }
  return text;
}

// What the template writes behind the sampled stop and still before the suffix, where the stop is not the last of its
// closing tokens: `sampled`, from the first stop token on, is the beginning of what closes the turn.  nullopt if it is not.
std::optional<std::string> rest_of_close(const TurnContext& context, const TurnClose& close,
                                         std::span<const TokenId> sampled) {
  if (close.stop_opens_next || sampled.empty()) return std::nullopt;
  const std::string whole = close.closers + close.history_close;
  const std::size_t at = whole.find(context.tokenizer.token_bytes(sampled.front()));
  const Result<std::string> text = context.tokenizer.decode(sampled, {});
  if (at == std::string::npos || !text.ok() || !std::string_view(whole).substr(at).starts_with(text.value()))
    return std::nullopt;
  return whole.substr(at + text.value().size());
}

bool ends_closed(const TurnContext& context, const TurnClose& close, const BridgeRequest& request) {
  if (!close.stop_id && !close.stop.empty()) return last_text(context, request.completion_ids).ends_with(close.stop);
  if (close.stop_opens_next || close.history_close.empty() || request.completion_ids.empty()) return false;
  // The form that ends the turn in history was sampled in the place of the stop.
  const TokenId last = request.completion_ids.back();
  return context.tokenizer.is_added(last) && close.history_close == context.tokenizer.token_bytes(last);
}

// Whether `ids` are the last of what the template writes to close the turn; some templates write several closing tokens.
bool ends_with_close(const TurnContext& context, const TurnClose& close, std::span<const TokenId> ids) {
  const Result<std::string> text = context.tokenizer.decode(ids, {});
  return text.ok() && !close.stop_opens_next && (close.closers + close.history_close).ends_with(text.value());
}

// The sampled end of the turn, where history has another: a stop that is written otherwise once messages follow, a
// next-role marker that does not fit them, text behind the stop.
void report_end(const TurnContext& context, const SuffixRender& suffix, const SampledEnd& end, bool fits,
                bool is_continued, Appended& out) {
  if (!end.stop || is_continued) return;
  const TurnClose& close = suffix.close;
  const auto add = [&](std::string what) {
    LossyFinding finding;
    finding.message = suffix.index;
    finding.what = std::move(what);
    out.lossy.push_back(std::move(finding));
  };
  const std::string stop(context.tokenizer.token_bytes(*end.stop));
  if (end.goes_on && !ends_with_close(context, close, end.from_first)) {
    add("what was sampled behind the first stop token is no part of the turn");
  } else if (close.stop_opens_next ? !fits : stop != close.history_close) {
    const std::string written =
        close.stop_opens_next || close.history_close.empty() ? "nothing" : text::quoted(close.history_close);
    if (close.closers.find(stop) == std::string::npos)
      add("the turn's end changes: the template writes " + written + " in the place of " + text::quoted(stop));
  }
}

// New messages that the template writes before the end of the old turns: a system message at the top.
void report_misplaced(const SuffixRender& suffix, const json::Array& new_messages, Appended& out) {
  for (std::size_t i = 0; i < new_messages.size(); ++i) {
    const auto index = suffix.index + 1 + static_cast<std::int32_t>(i);
    const std::optional<Extent> data = data_extent(suffix.full, index);
    if (!data || data->begin >= suffix.close.suffix_begin) continue;
    LossyFinding finding;
    finding.message = index;
    finding.place = "messages[" + std::to_string(index) + "]";
    finding.what = "the template writes new_messages[" + std::to_string(i) +
                   "] before the end of the old turns, where a bridge writes nothing";
    out.lossy.push_back(std::move(finding));
  }
}

// The ids that the template wrote in the place of the new messages' parts that are no text.
std::vector<MediaSpan> find_media(const SuffixRender& suffix, std::size_t begin, const std::vector<Piece>& pieces,
                                  const json::Array& new_messages) {
  std::vector<MediaSpan> out;
  for (std::size_t m = 0; m < new_messages.size(); ++m) {
    const json::Value* content = new_messages[m].find("content");
    if (content == nullptr || !content->is_array()) continue;
    for (std::size_t part = 0; part < content->as_array().size(); ++part) {
      const auto type = content->as_array()[part].find_string("type");
      if (!type || *type == "text") continue;
      out.push_back({static_cast<std::int32_t>(m), part, std::string(*type), 0, 0});
    }
  }
  if (out.empty()) return out;
  const text::PathTable& paths = suffix.full.origins.paths;
  const auto span_of = [&](text::PathId path) -> MediaSpan* {
    constexpr std::size_t kPartDepth = 4;  // messages[i].content[k]
    if (paths.depth(path) < kPartDepth) return nullptr;
    const text::PathId part = paths.prefix(path, kPartDepth);
    if (paths.step_kind(part) != text::PathTable::StepKind::kIndex || paths.step_name(paths.parent(part)) != "content")
      return nullptr;
    const std::int32_t message = paths.message(part) - suffix.index - 1;
    const auto found = std::ranges::find_if(
        out, [&](const MediaSpan& span) { return span.message == message && span.part == paths.step_index(part); });
    return found == out.end() ? nullptr : &*found;
  };
  const auto runs = suffix.full.text.runs();
  std::size_t run = 0;
  std::size_t run_end = runs.empty() ? 0 : runs[0].size;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    while (run + 1 < runs.size() && run_end <= begin + pieces[i].begin) run_end += runs[++run].size;
    if (run >= runs.size()) break;
    MediaSpan* span = span_of(suffix.full.origins.contexts.at(runs[run].context).element);
    if (span == nullptr) span = span_of(runs[run].path());
    if (span == nullptr) continue;
    if (span->begin == span->end) span->begin = i;
    span->end = i + 1;
  }
  return out;
}

// Moves spans of pieces to where the ids are.
void add_media(std::vector<MediaSpan> media, std::size_t offset, Appended& out) {
  for (MediaSpan& span : media) {
    if (span.begin == span.end) {
      out.notes.push_back("the template writes nothing for new_messages[" + std::to_string(span.message) +
                          "].content[" + std::to_string(span.part) + "], of type " + text::quoted(span.type));
      span.begin = span.end = 0;
    }
    span.begin += offset;
    span.end += offset;
    out.media.push_back(std::move(span));
  }
}

// Drops the first `count` pieces, which end at byte `size`; the others' offsets then count from there.
void drop_first(std::vector<Piece>& pieces, std::size_t count, std::size_t size) {
  pieces.erase(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(count));
  for (Piece& piece : pieces) {
    piece.begin -= static_cast<std::uint32_t>(size);
    piece.end -= static_cast<std::uint32_t>(size);
  }
}

// What is written behind the old ids: `lead`, which closes the turn, and the suffix from byte `begin` on.
struct Written {
  std::string lead;
  std::vector<Piece> lead_pieces;
  std::size_t begin = 0;
  std::vector<Piece> pieces;  // offsets count from `begin`
};

Written write_suffix(const TurnContext& context, const TurnProfile& profile, const BridgeRequest& request,
                     const SuffixRender& suffix, Appended& out) {
  const TurnClose& close = suffix.close;
  SampledEnd end = sampled_end(profile, request);
  if (!end.closed) end.closed = ends_closed(context, close, request);
  Written written;
  std::string& lead = written.lead;
  if (!end.closed && !suffix.closes_itself) lead = closing(context, request, close, out);
  const std::optional<std::string> rest = rest_of_close(context, close, end.from_first);
  if (rest) {
    lead = *rest;
    end.trailing = {};
  }
  written.begin = close.suffix_begin;
  // Where the stop is the opener of the next turn it must stand there once: the sampled one serves if it fits.
  const bool fits = end.stop && close.stop_id && *end.stop == *close.stop_id && end.trailing.empty();
  if (close.stop_opens_next && !fits) written.begin -= close.history_close.size();
  std::vector<Piece>& pieces = written.pieces;
  pieces =
      suffix_pieces(context, lead, suffix, written.begin, last_ids(request, end.trailing.size()), request.specials);
  const std::size_t skipped = already_sampled(end.trailing, pieces);
  if (skipped == 0 && !end.trailing.empty()) {
    if (opens_a_turn(context, end.trailing) && !close.stop_opens_next) {
      lead = close.stop;
      out.notes.push_back("the completion opened another turn behind its stop token; " + text::quoted(close.stop) +
                          " closes it");
    }
    pieces = suffix_pieces(context, lead, suffix, written.begin, last_ids(request, 0), request.specials);
  }
  report_end(context, suffix, end, fits, skipped > 0 || rest, out);
  const auto first = std::ranges::find_if(pieces, [&lead](const Piece& piece) { return piece.begin >= lead.size(); });
  written.lead_pieces.assign(pieces.begin(), first);
  drop_first(pieces, written.lead_pieces.size(), lead.size());
  if (skipped > 0) {
    const std::size_t size = pieces[skipped - 1].end;
    drop_first(pieces, skipped, size);
    written.begin += size;
  }
  return written;
}

void append_written(const Written& written, const BridgeRequest& request, const SuffixRender& suffix, Appended& out) {
  out.ids = ids_of(written.lead_pieces);
  out.message_indices.assign(out.ids.size(), text::kNoMessage);
  out.content_mask.assign(out.ids.size(), 0);
  out.prompt_tail = prompt_tail(suffix.full, written.begin, written.pieces);
  add_media(find_media(suffix, written.begin, written.pieces, request.new_messages), out.ids.size(), out);
  const std::vector<std::int32_t> owners = piece_owners(suffix.full, written.begin, written.pieces);
  const std::vector<std::uint8_t> content = piece_content(suffix.full, written.begin, written.pieces);
  for (std::size_t i = 0; i < written.pieces.size(); ++i) {
    const std::int32_t message = std::max(owners[i] - suffix.index - 1, text::kNoMessage);
    out.ids.push_back(written.pieces[i].id);
    out.message_indices.push_back(message);
    out.content_mask.push_back(message == text::kNoMessage ? 0 : content[i]);
  }
  out.text = written.lead + suffix.full.text.bytes().substr(written.begin);
}

// What a model would have written of the turns among the new messages.
std::vector<SampledExtent> new_turns(const TurnContext& context, const BridgeRequest& request,
                                     const SuffixRender& suffix) {
  if (answers(request.new_messages).size() == request.new_messages.size()) return {};
  json::Array messages = stand_in_history();
  if (request.messages && suffix.index == static_cast<std::int32_t>(request.messages->size()))
    messages.assign(request.messages->begin(), request.messages->end());
  messages.push_back(history_message(*request.completion, answers(request.new_messages)));
  messages.insert(messages.end(), request.new_messages.begin(), request.new_messages.end());
  std::vector<SampledExtent> extents = sampled_extents(context, suffix.full, messages);
  std::erase_if(extents, [&](const SampledExtent& extent) { return extent.message <= suffix.index; });
  return extents;
}

// All that is known of what was written.
void describe(const TurnContext& context, const Written& written, const BridgeRequest& request,
              const SuffixRender& suffix, Encoded& out) {
  const auto offset = static_cast<std::uint32_t>(out.text.size());
  for (const Piece& piece : written.lead_pieces) {
    out.ids.push_back(piece.id);
    out.begins.push_back(offset + piece.begin);
    out.ends.push_back(offset + piece.end);
  }
  out.message_indices.resize(out.ids.size(), suffix.index);
  out.samplers.resize(out.ids.size(), text::kNoMessage);
  out.origins.resize(out.ids.size(), OriginKind::kTemplate);
  for (auto* mask : {&out.content_mask, &out.straddles, &out.sampled_mask, &out.generation_mask})
    mask->resize(out.ids.size(), 0);
  out.text += written.lead;
  add_pieces(out, suffix.full, written.begin, written.pieces, new_turns(context, request, suffix));
}

Status check_roles(const json::Array& new_messages) {
  for (std::size_t i = 0; i < new_messages.size(); ++i) {
    if (new_messages[i].find_string("role") != "assistant") continue;
    return Error(ErrorCode::kInvalidArgument,
                 "new_messages[" + std::to_string(i) + "] has the role `assistant`; sampled turns are never rendered");
  }
  return Done{};
}

}  // namespace

Result<Appended> append_turn(const TurnContext& context, const TurnProfile& profile, const BridgeRequest& request,
                             Encoded* described) {
  if (Status valid = check_roles(request.new_messages); !request.allow_turns && !valid.ok()) return valid.error();
  Result<SuffixRender> suffix = render_suffix(context, profile, request);
  if (!suffix.ok()) return suffix.error();
  Appended out;
  out.notes = suffix.value().notes;
  for (std::string& note : result_notes(*request.completion, answers(request.new_messages)))
    out.notes.push_back(std::move(note));
  const Written written = write_suffix(context, profile, request, suffix.value(), out);
  report_misplaced(suffix.value(), request.new_messages, out);
  append_written(written, request, suffix.value(), out);
  if (described != nullptr) describe(context, written, request, suffix.value(), *described);
  return out;
}

Result<Bridged> bridge(const TurnContext& context, const TurnProfile& profile, const BridgeRequest& request) {
  Result<Appended> appended = append_turn(context, profile, request);
  if (!appended.ok()) return appended.error();
  Appended& added = appended.value();
  Bridged out;
  const std::size_t old_size = request.prompt_ids.size() + request.completion_ids.size();
  out.ids.reserve(old_size + added.ids.size());
  out.ids.assign(request.prompt_ids.begin(), request.prompt_ids.end());
  out.ids.insert(out.ids.end(), request.completion_ids.begin(), request.completion_ids.end());
  out.ids.insert(out.ids.end(), added.ids.begin(), added.ids.end());
  out.message_indices.assign(old_size, text::kNoMessage);
  out.message_indices.insert(out.message_indices.end(), added.message_indices.begin(), added.message_indices.end());
  out.content_mask.assign(old_size, 0);
  out.content_mask.insert(out.content_mask.end(), added.content_mask.begin(), added.content_mask.end());
  out.appended = added.ids.size();
  out.prompt_tail = added.prompt_tail;
  out.appended_text = std::move(added.text);
  out.notes = std::move(added.notes);
  out.media = std::move(added.media);
  for (MediaSpan& span : out.media) {
    span.begin += old_size;
    span.end += old_size;
  }
  if (request.find_lossy) {
    const json::Array history =
        request.messages ? json::Array(request.messages->begin(), request.messages->end()) : stand_in_history();
    out.lossy =
        find_lossy(context, history, history_message(*request.completion, request.new_messages), request.new_messages);
    out.lossy.insert(out.lossy.end(), added.lossy.begin(), added.lossy.end());
  }
  return out;
}

}  // namespace rondo::render
