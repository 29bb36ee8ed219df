#include "render/append.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "render/join.h"
#include "render/stand_in.h"

namespace rondo::render {
namespace {

using tokenizer::ByteRange;
using tokenizer::Piece;
using tokenizer::TokenId;

// The last of the old ids, except the final `behind` of them.
std::vector<TokenId> last_ids(const SampledTurn& turn, std::size_t behind) {
  constexpr std::size_t kEnough = 32;
  std::vector<TokenId> last;
  const auto take = [&](std::span<const TokenId> ids) {
    for (std::size_t i = ids.size(); i > 0 && last.size() < kEnough; --i) last.push_back(ids[i - 1]);
  };
  take(turn.completion_ids.first(turn.completion_ids.size() - behind));
  take(turn.prompt_ids);
  std::ranges::reverse(last);
  return last;
}

// The pieces of `lead` (text of the template) and of `full` from byte `begin` on, encoded as they follow `before`.
std::vector<Piece> suffix_pieces(const TurnContext& context, std::string_view lead, const jinja::Rendered& full,
                                 std::size_t begin, std::span<const TokenId> before, ContentSpecials specials) {
  std::string text(lead);
  text += std::string_view(full.text.bytes()).substr(begin);
  if (specials == ContentSpecials::kParse) return encode_behind(context.tokenizer, before, text, nullptr);
  std::vector<ByteRange> allowed = {{0, lead.size()}};
  for (const ByteRange& range : trusted_ranges(context.chat_template, full)) {
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

bool opens_a_turn(const TurnContext& context, std::span<const TokenId> ids) {
  return std::any_of(ids.begin(), ids.end(), [&](TokenId id) { return context.tokenizer.is_added(id); });
}

// The number of leading `pieces` that were already sampled after the stop token.
std::size_t already_sampled(std::span<const TokenId> trailing, const std::vector<Piece>& pieces) {
  if (trailing.empty() || trailing.size() > pieces.size()) return 0;
  const bool same = std::equal(trailing.begin(), trailing.end(), pieces.begin(),
                               [](TokenId id, const Piece& piece) { return id == piece.id; });
  return same ? trailing.size() : 0;
}

// The size of the text of `trailing`, which has no added token, if `rest`, which the template writes after the stop
// token, begins with it: the model sampled it, with other ids at its end.
std::size_t sampled_text(const TurnContext& context, std::span<const TokenId> trailing, std::string_view rest) {
  const Result<std::string> text = context.tokenizer.decode(trailing, {});
  return text.ok() && rest.starts_with(text.value()) ? text.value().size() : 0;
}

// Drops the first `count` pieces, which end at byte `size`; the others' offsets then count from there.
void drop_first(std::vector<Piece>& pieces, std::size_t count, std::size_t size) {
  pieces.erase(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(count));
  for (Piece& piece : pieces) {
    piece.begin -= static_cast<std::uint32_t>(size);
    piece.end -= static_cast<std::uint32_t>(size);
  }
}

// What is written after the old ids: a lead, which closes the turn, and the suffix from byte `begin` on.
struct Written {
  std::string lead;
  std::vector<Piece> lead_pieces;
  std::size_t begin = 0;
  std::vector<Piece> pieces;       // offsets count from `begin`
  std::vector<std::string> notes;  // what was synthesised, and why
  std::string changed_end;         // see there
};

Written write_suffix(const TurnContext& context, const SampledTurn& turn, const SuffixRender& suffix,
                     ContentSpecials specials) {
  const TurnClose& close = suffix.close;
  Lead lead = suffix.closes_itself ? Lead() : lead_of(context.tokenizer, close, turn);
  const std::span<const TokenId> trailing = lead.goes_on ? std::span<const TokenId>() : turn.end.trailing;
  Written written;
  // If the stop opens the next turn, it must be there only once.  The sampled one is used if it fits.
  const bool fits = turn.end.stop && turn.end.stop == close.stop_id && trailing.empty();
  written.begin = close.suffix_begin - (close.stop_opens_next && !fits ? close.history_close.size() : 0);
  std::vector<Piece>& pieces = written.pieces;
  pieces = suffix_pieces(context, lead.text, suffix.full, written.begin, last_ids(turn, trailing.size()), specials);
  const std::size_t skipped = already_sampled(trailing, pieces);
  bool is_sampled = skipped > 0;
  if (!is_sampled && !trailing.empty()) {
    if (!opens_a_turn(context, trailing)) {
      const std::string_view rest = std::string_view(suffix.full.text.bytes()).substr(written.begin);
      const std::size_t there = sampled_text(context, trailing, rest);
      is_sampled = there > 0;
      written.begin += there;
    } else if (!close.stop_opens_next) {
      lead.text = close.stop;
      lead.notes.push_back("the completion opened another turn behind its stop token; " + text::quoted(close.stop) +
                           " closes it");
    }
    pieces = suffix_pieces(context, lead.text, suffix.full, written.begin, last_ids(turn, 0), specials);
  }
  if (!is_sampled && !lead.goes_on) written.changed_end = changed_end(context.tokenizer, close, turn.end, fits);
  const auto first = std::ranges::find_if(pieces, [&](const Piece& piece) { return piece.begin >= lead.text.size(); });
  written.lead_pieces.assign(pieces.begin(), first);
  drop_first(pieces, written.lead_pieces.size(), lead.text.size());
  if (skipped > 0) {
    const std::size_t size = pieces[skipped - 1].end;
    drop_first(pieces, skipped, size);
    written.begin += size;
  }
  written.lead = std::move(lead.text);
  written.notes = std::move(lead.notes);
  return written;
}

// New messages that the template writes before the end of the old turns: a system message at the top.
std::vector<LossyFinding> find_misplaced(const SuffixRender& suffix, std::span<const json::Value> new_messages) {
  std::vector<LossyFinding> out;
  for (std::size_t i = 0; i < new_messages.size(); ++i) {
    const auto index = suffix.index + 1 + static_cast<std::int32_t>(i);
    const std::optional<Extent> data = data_extent(suffix.full, index);
    if (!data || data->begin >= suffix.close.suffix_begin) continue;
    LossyFinding finding;
    finding.cause = causes::CauseKind::kMovedTools;
    finding.message = index;
    finding.place = "messages[" + std::to_string(index) + "]";
    finding.what = "the template writes new_messages[" + std::to_string(i) +
                   "] before the end of the old turns, where a bridge writes nothing";
    out.push_back(std::move(finding));
  }
  return out;
}

// The parts of the new messages that are not text, not yet with their ids.
std::vector<MediaSpan> media_parts(std::span<const json::Value> new_messages) {
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
  return out;
}

// The span for a path inside messages[i].content[k]; nullptr for other paths and for parts that are text.
MediaSpan* media_at(std::vector<MediaSpan>& media, const SuffixRender& suffix, text::PathId path) {
  constexpr std::size_t kPartDepth = 4;  // messages[i].content[k]
  const text::PathTable& paths = suffix.full.origins.paths;
  if (paths.depth(path) < kPartDepth) return nullptr;
  const text::PathId part = paths.prefix(path, kPartDepth);
  if (paths.step_kind(part) != text::PathTable::StepKind::kIndex || paths.step_name(paths.parent(part)) != "content")
    return nullptr;
  const std::int32_t message = paths.message(part) - suffix.index - 1;
  const auto found = std::ranges::find_if(
      media, [&](const MediaSpan& span) { return span.message == message && span.part == paths.step_index(part); });
  return found == media.end() ? nullptr : &*found;
}

// The ids that the template wrote in place of those parts of the new messages that are not text.
std::vector<MediaSpan> find_media(const SuffixRender& suffix, std::size_t begin, const std::vector<Piece>& pieces,
                                  std::span<const json::Value> new_messages) {
  std::vector<MediaSpan> out = media_parts(new_messages);
  if (out.empty()) return out;
  const auto runs = suffix.full.text.runs();
  std::size_t run = 0;
  std::size_t run_end = runs.empty() ? 0 : runs[0].size;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    while (run + 1 < runs.size() && run_end <= begin + pieces[i].begin) run_end += runs[++run].size;
    if (run >= runs.size()) break;
    MediaSpan* span = media_at(out, suffix, suffix.full.origins.contexts.at(runs[run].context).element);
    if (span == nullptr) span = media_at(out, suffix, runs[run].path());
    if (span == nullptr) continue;
    if (span->begin == span->end) span->begin = i;
    span->end = i + 1;
  }
  return out;
}

// Shifts spans of pieces to the places of their ids.
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

void add_written(const Written& written, const SuffixRender& suffix, Appended& out) {
  out.ids = ids_of(written.lead_pieces);
  out.message_indices.assign(out.ids.size(), text::kNoMessage);
  out.content_mask.assign(out.ids.size(), 0);
  out.prompt_tail = prompt_tail(suffix.full, written.begin, written.pieces);
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

// The parts of the new messages' turns that a model would have written.
std::vector<SampledExtent> new_turns(const TurnContext& context, const SuffixRender& suffix, const History& history,
                                     const ParsedCompletion& said, const Following& following) {
  if (following.answers.size() == following.messages.size()) return {};
  json::Array messages =
      suffix.is_behind_stand_in ? stand_in_history() : json::Array(history.messages->begin(), history.messages->end());
  messages.push_back(history_message(said, following.answers));
  messages.insert(messages.end(), following.messages.begin(), following.messages.end());
  std::vector<SampledExtent> extents = sampled_extents(context, suffix.full, messages);
  std::erase_if(extents, [&](const SampledExtent& extent) { return extent.message <= suffix.index; });
  return extents;
}

// Fills in the result's account of what was written.
void describe(const Written& written, const SuffixRender& suffix, const std::vector<SampledExtent>& sampled,
              Encoded& out) {
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
  add_pieces(out, suffix.full, {written.begin, suffix.full.text.size()}, written.pieces, sampled);
}

void add_all(std::vector<std::string>& to, std::vector<std::string> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Result<Appended> append_turn(const TurnContext& context, const PlainClose& plain, const PreparedTurn& turn,
                             Encoded* described) {
  const auto& [sampled, history, following, specials] = turn;
  std::optional<SuffixRender> empty;
  if (history.messages && says_nothing(sampled))
    empty = render_empty_turn(context, *history.messages, sampled, following);
  Result<SuffixRender> rendered =
      empty ? *std::move(empty) : render_suffix(context, plain, history, sampled.said, following);
  if (!rendered.ok()) return rendered.error();
  const SuffixRender& suffix = rendered.value();
  const Written written = write_suffix(context, sampled, suffix, specials);
  Appended out;
  add_written(written, suffix, out);
  out.notes = suffix.notes;
  add_all(out.notes, result_notes(sampled.said, following.answers));
  add_all(out.notes, written.notes);
  add_media(find_media(suffix, written.begin, written.pieces, following.messages), written.lead_pieces.size(), out);
  if (!written.changed_end.empty())
    out.lossy.push_back({.cause = causes::CauseKind::kReplacedClose,
                         .what = written.changed_end,
                         .message = suffix.index,
                         .place = {}});
  for (LossyFinding& finding : find_misplaced(suffix, following.messages)) out.lossy.push_back(std::move(finding));
  if (described != nullptr)
    describe(written, suffix, new_turns(context, suffix, history, sampled.said, following), *described);
  return out;
}

}  // namespace rondo::render
