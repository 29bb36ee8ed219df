#include "render/encode.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "format/units.h"
#include "probe/messages.h"
#include "probe/places.h"
#include "probe/words.h"

namespace rondo::render {
namespace {

using tokenizer::ByteRange;
using tokenizer::Piece;

constexpr std::string_view kSampledRole = "assistant";
constexpr std::size_t kLongestToken = 64;

bool came_from_input_lists(const text::Run& run, const text::Origins& origins) {
  if (run.kind == text::RunKind::kLiteral) return false;
  const std::string_view root = origins.paths.root(run.path());
  return root == "messages" || root == "tools" || root == "documents";
}

// Whether the first `size` bytes of the content are white space.
bool begins_blank(const json::Value& message, std::size_t size) {
  const auto content = message.find_string("content");
  return content && format::is_blank(content->substr(0, size));
}

// A whole role name of the chat APIs, or one that the template knows: data of messages[i].role, read from its first to
// its last byte.  A template may glue `<|` + role + `|>` without ever comparing the role; its turns need their markers.
bool is_known_role(const jinja::Template& chat_template, const text::Run& run, const text::Origins& origins,
                   std::string_view bytes) {
  if (run.kind != text::RunKind::kData || run.source_offset != 0) return false;
  if (origins.paths.depth(run.path()) != 3 || origins.paths.step_name(run.path()) != "role") return false;
  const std::vector<std::string>& known = chat_template.compared_roles();
  return chat::is_api_role(bytes) || std::find(known.begin(), known.end(), bytes) != known.end();
}

void add_range(std::vector<ByteRange>& ranges, std::size_t begin, std::size_t end) {
  if (!ranges.empty() && ranges.back().end == begin) {
    ranges.back().end = end;
  } else {
    ranges.push_back({begin, end});
  }
}

// Calls `visit(piece index, run)` for the run that holds each piece's first byte.
template <typename Visit>
void for_each_piece_run(const jinja::Rendered& rendered, std::size_t begin, const std::vector<Piece>& pieces,
                        Visit visit) {
  const auto runs = rendered.text.runs();
  std::size_t run_index = 0;
  std::size_t run_begin = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t at = begin + pieces[i].begin;
    while (run_index < runs.size() && run_begin + runs[run_index].size <= at) run_begin += runs[run_index++].size;
    if (run_index < runs.size()) visit(i, runs[run_index]);
  }
}

// For each piece: 1 if its bytes come from several messages, or from a message's data and from the template.  Offsets
// count from byte `begin` of the text.
std::vector<std::uint8_t> find_straddles(const jinja::Rendered& rendered, std::size_t begin,
                                         const std::vector<Piece>& pieces) {
  const auto runs = rendered.text.runs();
  std::vector<std::uint8_t> out(pieces.size());
  std::size_t run = 0;
  std::size_t run_begin = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    while (run < runs.size() && run_begin + runs[run].size <= begin + pieces[i].begin) run_begin += runs[run++].size;
    std::size_t end = run_begin;
    for (std::size_t other = run; other < runs.size() && end < begin + pieces[i].end; ++other) {
      end += runs[other].size;
      const bool same = owner(runs[other], rendered.origins) == owner(runs[run], rendered.origins) &&
                        is_message_data(runs[other], rendered.origins) == is_message_data(runs[run], rendered.origins);
      if (!same) out[i] = 1;
    }
  }
  return out;
}

// The marks of a block of reasoning with which the content of an assistant message begins; none if it does not.
std::vector<ByteRange> inline_marks(const text::Run& run, const text::Origins& origins, std::string_view bytes,
                                    const InlineReasoning& reasoning) {
  const std::string_view open = format::trimmed(reasoning.open);
  const std::string_view close = format::trimmed(reasoning.close);
  const std::int32_t message = origins.paths.message(run.path());
  if (open.empty() || close.empty() || run.kind != text::RunKind::kData || message < 0 ||
      static_cast<std::size_t>(message) >= reasoning.messages.size())
    return {};
  const json::Value& said = reasoning.messages[static_cast<std::size_t>(message)];
  if (said.find_string("role") != "assistant" || probe::message_field(origins.paths, run.path()) != "content")
    return {};
  const std::size_t begin = std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size());
  const std::string_view text = bytes.substr(begin);
  const std::size_t end = text.starts_with(open) ? text.find(close, open.size()) : std::string_view::npos;
  // The content before this run is white space that the template has cut off.
  const bool is_first = run.source_offset == 0 || begins_blank(said, run.source_offset);
  if (end == std::string_view::npos || !is_first) return {};
  return {{begin, begin + open.size()}, {begin + end, begin + end + close.size()}};
}

OriginKind origin_kind(const text::Run& run, const text::Origins& origins) {
  if (run.path() == text::PathId::kNone) return OriginKind::kTemplate;
  const std::string_view root = origins.paths.root(run.path());
  if (root == "messages") return OriginKind::kMessage;
  if (root == "tools") return OriginKind::kTools;
  if (root == "documents") return OriginKind::kDocuments;
  return root == "bos_token" || root == "eos_token" ? OriginKind::kSpecial : OriginKind::kVariable;
}

// generation_mask, origins and fields.
void add_origins(Encoded& out, const jinja::Rendered& rendered, std::size_t begin, const std::vector<Piece>& pieces) {
  const text::Origins& origins = rendered.origins;
  const std::size_t first = out.origins.size();
  out.origins.resize(first + pieces.size());
  out.generation_mask.resize(first + pieces.size());
  text::PathId last = text::PathId::kNone;
  for_each_piece_run(rendered, begin, pieces, [&](std::size_t piece, const text::Run& run) {
    const std::size_t i = first + piece;
    const OriginKind kind = origin_kind(run, origins);
    out.origins[i] = kind;
    out.generation_mask[i] = origins.contexts.at(run.context).generation_block ? 1 : 0;
    const bool is_field = kind == OriginKind::kMessage || kind == OriginKind::kTools || kind == OriginKind::kDocuments;
    const text::PathId path = is_field ? run.path() : text::PathId::kNone;
    if (is_field && path == last) {
      out.fields.back().ids.end = i + 1;
    } else if (is_field) {
      out.fields.push_back({{i, i + 1}, origins.paths.message(path), origins.paths.to_string(path)});
    }
    last = path;
  });
}

// The text that the generation prompt adds after a plain user message.
std::string generation_prompt_text(const TurnContext& context) {
  const json::Array messages = {probe::plain_message("user", probe::kShortQuestion)};
  const Result<jinja::Rendered> with = render_messages(context, messages, true);
  const Result<jinja::Rendered> without = render_messages(context, messages, false);
  if (!with.ok() || !without.ok()) return "";
  const std::string& longer = with.value().text.bytes();
  const std::string& shorter = without.value().text.bytes();
  return longer.starts_with(shorter) ? longer.substr(shorter.size()) : "";
}

bool has(const std::vector<std::size_t>& sorted, std::size_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

// What the assistant turns of one conversation share.
struct SampledTurns {
  const TurnContext& context;
  const jinja::Rendered& rendered;
  PlainClose plain = probe_plain_close(context);
  std::string prompt = generation_prompt_text(context);
  // What the template writes between the data before a turn and the turn itself, by the role that the turn follows and
  // the number of messages without data between them.
  std::map<std::pair<std::string, std::size_t>, std::string> openings = {};
  std::optional<tokenizer::TokenId> calls_stop = {};  // the stop of a turn with calls that is last
  bool knows_calls_stop = false;

  static std::vector<std::string> marker_texts(const tokenizer::Tokenizer& tokenizer, std::string_view text) {
    std::vector<std::string> out;
    for (const Marker& marker : markers(tokenizer, text)) out.emplace_back(tokenizer.token_bytes(marker.id));
    return out;
  }
};

// How much of `prompt` `text` begins with, in whole units: `[a]<` of `[a]<b>` is not a part of `[a]<c>`.  A unit also
// ends at `data_begin`, where a message's data follows.
std::size_t shared_units(const tokenizer::Tokenizer& tokenizer, std::string_view prompt, std::string_view text,
                         std::size_t data_begin) {
  const auto common = static_cast<std::size_t>(std::ranges::mismatch(prompt, text).in1 - prompt.begin());
  if (common == prompt.size()) return common;
  const std::string_view written = text.substr(0, common + kLongestToken);
  std::vector<std::string> atoms = SampledTurns::marker_texts(tokenizer, written);
  for (std::string& marker : SampledTurns::marker_texts(tokenizer, prompt)) atoms.push_back(std::move(marker));
  const std::vector<std::size_t> ends = format::unit_boundaries(written, atoms);
  const std::vector<std::size_t> cuts = format::unit_boundaries(prompt, atoms);
  const auto cut = std::ranges::find_if(
      cuts.rbegin(), cuts.rend(), [&](std::size_t at) { return at <= common && (at == data_begin || has(ends, at)); });
  return cut == cuts.rend() ? 0 : *cut;
}

// Where a turn begins, and where the data of the messages before it ends.
struct TurnLead : Extent {
  std::size_t behind_data = 0;
  std::size_t silent = 0;  // how many messages without data are before it
};

// Where the model began to write message `index`, whose turn begins with `lead`.
std::size_t sampled_begin(SampledTurns& turns, const json::Array& messages, std::size_t index, const TurnLead& lead) {
  const std::string_view text = turns.rendered.text.bytes();
  if (!turns.prompt.empty()) {
    const std::size_t at = text.substr(0, lead.end).find(turns.prompt, lead.begin);
    if (at != std::string_view::npos) return at + turns.prompt.size();
  }
  // History departs from the generation prompt, or the template writes one in any case.  So ask the template for the
  // prompt after which the model wrote this turn: once for each role that a turn may follow.
  const std::pair key(std::string(index == 0 ? "" : messages[index - 1].find_string("role").value_or("")), lead.silent);
  auto known = turns.openings.find(key);
  if (known == turns.openings.end()) {
    const json::Array before(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(index));
    const Result<jinja::Rendered> asked = render_messages(turns.context, before, true);
    known = turns.openings
                .emplace(key, asked.ok() ? asked.value().text.bytes().substr(end_of_data(asked.value(), index)) : "")
                .first;
  }
  const auto behind = [&](std::string_view prompt, std::size_t at) {
    return at + shared_units(turns.context.tokenizer, prompt, text.substr(at), lead.end - at);
  };
  const std::size_t begin = std::max(lead.begin, behind(known->second, lead.behind_data));
  return begin > lead.begin ? begin : behind(turns.prompt, lead.begin);
}

// The end of the token at byte `at` if that token opens another party's turn or ends the conversation; `at` if there is
// no such token.
std::size_t behind_next_opener(const SampledTurns& turns, const json::Array& messages, std::size_t at) {
  const std::string_view text = turns.rendered.text.bytes();
  const std::vector<Marker> next = markers(turns.context.tokenizer, text.substr(at, kLongestToken));
  if (next.empty() || next.front().begin != 0) return at;
  std::size_t end = 0;
  for (const text::Run& run : turns.rendered.text.runs()) {
    end += run.size;
    if (end <= at) continue;
    // As an unsigned number, kNoMessage is larger than all counts.
    const auto message = static_cast<std::size_t>(owner(run, turns.rendered.origins));
    const bool is_turn = message < messages.size();
    const bool is_other = is_turn ? messages[message].find_string("role") != kSampledRole
                                  : !turns.rendered.origins.contexts.at(run.context).generation_prompt;
    return is_other ? at + next.front().end : at;
  }
  return at;
}

// Whether a turn with calls stops with `opener`, the first token behind it, as it does when it is the last turn.
bool stops_with(SampledTurns& turns, const json::Array& messages, std::size_t index, tokenizer::TokenId opener) {
  if (!std::exchange(turns.knows_calls_stop, true)) {
    const std::string alone = tail_alone(turns.context, messages, static_cast<std::int32_t>(index));
    if (const auto stop = closing_marker(turns.context.tokenizer, alone)) turns.calls_stop = stop->id;
  }
  return turns.calls_stop == opener;
}

// The marker that closes a turn: the first one in its tail that stops the model.
std::optional<Marker> first_stop(const SampledTurns& turns, std::string_view tail) {
  const std::optional<Marker> closing = closing_marker(turns.context.tokenizer, tail);
  const auto ends = turns.context.tokenizer.end_ids();
  const auto is_stop = [&](const Marker& marker) {
    return std::ranges::find(ends, marker.id) != ends.end() ||
           (turns.plain.marker && turns.plain.marker->id == marker.id);
  };
  if (!closing || !is_stop(*closing)) return closing;
  const std::vector<Marker> all = markers(turns.context.tokenizer, tail);
  return *std::ranges::find_if(all, is_stop);
}

// The end of the stop of message `index`, whose data ends at `data_end`.  The template's text after the data ends at
// `end`.
std::size_t sampled_end(SampledTurns& turns, const json::Array& messages, std::size_t index, std::size_t data_end,
                        std::size_t end) {
  const std::string_view text = turns.rendered.text.bytes();
  const std::string_view tail = text.substr(data_end, end - data_end);
  const auto ends = turns.context.tokenizer.end_ids();
  const std::optional<Marker> marker = first_stop(turns, tail);
  const bool is_stop = marker && (turns.plain.marker || std::ranges::find(ends, marker->id) != ends.end());
  // If plain turns have no stop of their own, the text that closes a turn's calls is not a stop either.  The model
  // stops with what opens the next turn, which depends on what the model said.
  const std::size_t next = is_stop || turns.plain.marker ? end : behind_next_opener(turns, messages, end);
  if (next > end) return next;
  const bool is_plain = marker && turns.plain.marker && marker->id == turns.plain.marker->id;
  if (!is_plain && has_calls(messages[index])) {
    const std::vector<Marker> opener = markers(turns.context.tokenizer, text.substr(end, kLongestToken));
    if (!opener.empty() && stops_with(turns, messages, index, opener.front().id)) {
      const std::size_t behind = behind_next_opener(turns, messages, end);
      if (behind > end) return behind;
    }
  }
  if (marker) return data_end + marker->end;
  // The text after the stop of plain turns is the template's, even if this turn has no stop.
  for (const std::string& close : {turns.plain.text, turns.plain.followed}) {
    const auto last = closing_marker(turns.context.tokenizer, close);
    const std::string_view behind = last ? std::string_view(close).substr(last->end) : std::string_view();
    if (!behind.empty() && tail.ends_with(behind)) return end - behind.size();
  }
  return end;
}

// The end of the template's text behind byte `end`, where message `index` ends: a template that merges consecutive turns
// may write their close for the first of them.
std::size_t behind_merged(const jinja::Rendered& rendered, const json::Array& messages, std::size_t index,
                          std::size_t end) {
  for (std::size_t i = index; i > 0 && messages[i - 1].find_string("role") == kSampledRole; --i) {
    const std::size_t behind = tail_end(rendered, static_cast<std::int32_t>(i - 1), end);
    if (behind > end) return behind;
  }
  return end;
}

// Where the text of messages of other roles is, in order.
std::vector<Extent> find_others(const jinja::Rendered& rendered, const json::Array& messages) {
  const text::Origins& origins = rendered.origins;
  const auto is_of_other = [&](std::int32_t message) {
    const auto index =
        static_cast<std::size_t>(message);  // as an unsigned number, kNoMessage is larger than all counts
    return index < messages.size() && messages[index].find_string("role") != kSampledRole;
  };
  std::vector<Extent> out;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const std::size_t begin = at;
    at += run.size;
    const bool is_foreign_data = is_message_data(run, origins) && is_of_other(origins.paths.message(run.path()));
    if (!is_foreign_data && !is_of_other(owner(run, origins))) continue;
    if (!out.empty() && out.back().end == begin) {
      out.back().end = at;
    } else {
      out.push_back({begin, at});
    }
  }
  return out;
}

// Adds what is left of `extent`, whose data ends at `data_end`, without the bytes of `others`, such as results that the
// template writes inside the turn of their calls.  A token that opens such bytes stays if the model stops with it.
void add_without(const std::vector<Extent>& others, SampledTurns& turns, const json::Array& messages,
                 const SampledExtent& extent, std::size_t data_end, std::vector<SampledExtent>& out) {
  const auto index = static_cast<std::size_t>(extent.message);
  const std::string_view text = turns.rendered.text.bytes();
  SampledExtent part = extent;
  auto other = std::ranges::upper_bound(others, extent.begin, {}, &Extent::end);
  // Behind the data there is only the stop, which may open the next turn.
  for (; other != others.end() && other->begin < std::min(data_end, extent.end); ++other) {
    if (other->begin > part.begin) {
      part.end = other->begin;
      const std::vector<Marker> opener = markers(turns.context.tokenizer, text.substr(part.end, kLongestToken));
      const bool is_opened = has_calls(messages[index]) && !opener.empty() && opener.front().begin == 0;
      if (is_opened && stops_with(turns, messages, index, opener.front().id)) part.end += opener.front().end;
      out.push_back(part);
    }
    part.begin = other->end;
  }
  part.end = extent.end;
  if (part.end > part.begin) out.push_back(part);
}

}  // namespace

std::vector<ByteRange> trusted_ranges(const jinja::Template& chat_template, const jinja::Rendered& rendered,
                                      const InlineReasoning& reasoning) {
  std::vector<ByteRange> ranges;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const std::size_t begin = at;
    at += run.size;
    const std::string_view bytes = std::string_view(rendered.text.bytes()).substr(begin, run.size);
    if (came_from_input_lists(run, rendered.origins) && !is_known_role(chat_template, run, rendered.origins, bytes)) {
      for (const ByteRange& mark : inline_marks(run, rendered.origins, bytes, reasoning))
        add_range(ranges, begin + mark.begin, begin + mark.end);
      continue;
    }
    add_range(ranges, begin, at);
  }
  return ranges;
}

std::vector<Piece> encode_range(const TurnContext& context, const jinja::Rendered& rendered, std::size_t begin,
                                std::size_t end, ContentSpecials specials, const InlineReasoning& reasoning) {
  const std::string_view part = std::string_view(rendered.text.bytes()).substr(begin, end - begin);
  tokenizer::EncodeOptions options;
  std::vector<ByteRange> allowed;
  if (specials == ContentSpecials::kText) {
    for (const ByteRange& range : trusted_ranges(context.chat_template, rendered, reasoning)) {
      const std::size_t first = std::max(range.begin, begin);
      const std::size_t last = std::min(range.end, end);
      if (first < last) allowed.push_back({first - begin, last - begin});
    }
    options.allowed = &allowed;
  }
  return context.tokenizer.encode(part, options);
}

std::vector<std::int32_t> piece_owners(const jinja::Rendered& rendered, std::size_t begin,
                                       const std::vector<Piece>& pieces) {
  std::vector<std::int32_t> owners(pieces.size(), text::kNoMessage);
  const text::Run* last = nullptr;
  std::int32_t owned_by = text::kNoMessage;
  for_each_piece_run(rendered, begin, pieces, [&](std::size_t i, const text::Run& run) {
    if (std::exchange(last, &run) != &run) owned_by = owner(run, rendered.origins);
    owners[i] = owned_by;
  });
  return owners;
}

std::vector<std::uint8_t> piece_content(const jinja::Rendered& rendered, std::size_t begin,
                                        const std::vector<Piece>& pieces) {
  std::vector<std::uint8_t> content(pieces.size());
  const text::Run* last = nullptr;
  std::uint8_t is_data = 0;
  for_each_piece_run(rendered, begin, pieces, [&](std::size_t i, const text::Run& run) {
    if (std::exchange(last, &run) != &run) is_data = is_message_data(run, rendered.origins) ? 1 : 0;
    content[i] = is_data;
  });
  return content;
}

std::vector<SampledExtent> sampled_extents(const TurnContext& context, const jinja::Rendered& rendered,
                                           const json::Array& messages) {
  std::vector<SampledExtent> out;
  const auto is_sampled = [](const json::Value& message) { return message.find_string("role") == kSampledRole; };
  if (std::ranges::none_of(messages, is_sampled)) return out;
  SampledTurns turns{context, rendered};
  const std::vector<probe::TurnExtent> extents = probe::turn_extents(rendered, messages.size());
  const std::vector<Extent> others = find_others(rendered, messages);
  std::size_t behind_data = 0;  // of the messages before
  std::size_t silent = 0;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const probe::TurnExtent& turn = extents[i];
    silent = i > 0 && extents[i - 1].data ? 0 : silent + 1;
    if (silent == 0) behind_data = std::max(behind_data, extents[i - 1].data->end);
    if (!is_sampled(messages[i]) || !turn.begin) continue;
    const TurnLead lead{{*turn.begin, turn.data ? std::max(turn.data->begin, *turn.begin) : turn.tail_end},
                        std::min(behind_data, *turn.begin),
                        silent};
    SampledExtent extent;
    extent.message = static_cast<std::int32_t>(i);
    extent.begin = sampled_begin(turns, messages, i, lead);
    const std::size_t data_end = turn.data ? turn.data->end : extent.begin;
    const std::size_t own_end = turn.data ? turn.tail_end : tail_end(rendered, extent.message, data_end);
    extent.end = sampled_end(turns, messages, i, data_end, behind_merged(rendered, messages, i, own_end));
    add_without(others, turns, messages, extent, data_end, out);
  }
  return out;
}

void add_pieces(Encoded& out, const jinja::Rendered& rendered, const Extent& range, const std::vector<Piece>& pieces,
                const std::vector<SampledExtent>& sampled) {
  const std::size_t begin = range.begin;
  const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  add(out.message_indices, piece_owners(rendered, begin, pieces));
  add(out.straddles, find_straddles(rendered, begin, pieces));
  add(out.content_mask, piece_content(rendered, begin, pieces));
  add_origins(out, rendered, begin, pieces);
  const auto offset = static_cast<std::uint32_t>(out.text.size());
  std::size_t extent = 0;
  for (const Piece& piece : pieces) {
    const std::size_t at = begin + piece.begin;
    while (extent < sampled.size() && sampled[extent].end <= at) ++extent;
    out.ids.push_back(piece.id);
    out.begins.push_back(offset + piece.begin);
    out.ends.push_back(offset + piece.end);
    const bool is_sampled = extent < sampled.size() && at >= sampled[extent].begin;
    out.sampled_mask.push_back(is_sampled ? 1 : 0);
    out.samplers.push_back(is_sampled ? sampled[extent].message : text::kNoMessage);
  }
  out.text += std::string_view(rendered.text.bytes()).substr(begin, range.end - begin);
}

Encoded encode(const TurnContext& context, const jinja::Rendered& rendered, ContentSpecials specials,
               const InlineReasoning& reasoning) {
  const std::vector<Piece> pieces = encode_range(context, rendered, 0, rendered.text.size(), specials, reasoning);
  Encoded out;
  add_pieces(out, rendered, {0, rendered.text.size()}, pieces,
             sampled_extents(context, rendered, context.base.messages));
  out.has_generation_blocks = context.chat_template.has_generation_block();
  return out;
}

Result<Encoded> encode(const jinja::Template& chat_template, const tokenizer::Tokenizer& tokenizer,
                       const chat::Conversation& conversation, const tmpl::ApplyOptions& options,
                       ContentSpecials specials) {
  const Result<jinja::Rendered> rendered = tmpl::apply(chat_template, conversation, options);
  if (!rendered.ok()) return rendered.error();
  return encode(TurnContext{chat_template, tokenizer, conversation, options}, rendered.value(), specials);
}

}  // namespace rondo::render
