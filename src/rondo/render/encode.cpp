#include "render/encode.h"

#include <algorithm>

namespace rondo::render {
namespace {

using tokenizer::ByteRange;
using tokenizer::Piece;

bool came_from_input_lists(const text::Run& run, const text::Origins& origins) {
  if (run.kind == text::RunKind::kLiteral) return false;
  const std::string_view root = origins.paths.root(run.path());
  return root == "messages" || root == "tools" || root == "documents";
}

// A whole role name of the chat APIs, or one that the template knows: data of messages[i].role, read from its first to its
// last byte.  A template may glue `<|` + role + `|>` without ever comparing the role; its turns need their markers.
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

// Per piece 1 if its bytes come from several messages, or from a message's data and from the template.
std::vector<std::uint8_t> find_straddles(const jinja::Rendered& rendered, const std::vector<Piece>& pieces) {
  const auto runs = rendered.text.runs();
  std::vector<std::uint8_t> out(pieces.size());
  std::size_t run = 0;
  std::size_t run_begin = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    while (run < runs.size() && run_begin + runs[run].size <= pieces[i].begin) run_begin += runs[run++].size;
    std::size_t end = run_begin;
    for (std::size_t other = run; other < runs.size() && end < pieces[i].end; ++other) {
      end += runs[other].size;
      const bool same = owner(runs[other], rendered.origins) == owner(runs[run], rendered.origins) &&
                        is_message_data(runs[other], rendered.origins) == is_message_data(runs[run], rendered.origins);
      if (!same) out[i] = 1;
    }
  }
  return out;
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
void add_origins(Encoded& out, const jinja::Rendered& rendered, const std::vector<Piece>& pieces) {
  const text::Origins& origins = rendered.origins;
  out.origins.resize(pieces.size());
  out.generation_mask.resize(pieces.size());
  text::PathId last = text::PathId::kNone;
  for_each_piece_run(rendered, 0, pieces, [&](std::size_t i, const text::Run& run) {
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

// What the generation prompt adds behind a plain user message.
std::string generation_prompt_text(const TurnContext& context) {
  json::Object user;
  user.set("role", "user");
  user.set("content", "Hq");
  const json::Array messages = {json::Value(user)};
  const Result<jinja::Rendered> with = render_messages(context, messages, true);
  const Result<jinja::Rendered> without = render_messages(context, messages, false);
  if (!with.ok() || !without.ok()) return "";
  const std::string& longer = with.value().text.bytes();
  const std::string& shorter = without.value().text.bytes();
  return longer.starts_with(shorter) ? longer.substr(shorter.size()) : "";
}

// The offset behind the longest run of whole tokens of the generation prompt that `lead` contains; npos if none.
std::size_t behind_generation_prompt(const tokenizer::Tokenizer& tokenizer, const std::string& prompt,
                                     std::string_view lead) {
  const std::vector<Piece> pieces = tokenizer.encode(prompt, {});
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    const std::string_view part = std::string_view(prompt).substr(0, piece->end);
    const std::size_t found = lead.find(part);
    if (found != std::string_view::npos) return found + part.size();
  }
  return std::string_view::npos;
}

// Where the model began to write message `index`.
std::size_t sampled_begin(const TurnContext& context, const std::string& prompt, const jinja::Rendered& rendered,
                          const json::Array& messages, std::size_t index, Extent lead) {
  const std::string_view text = rendered.text.bytes();
  const std::size_t behind =
      behind_generation_prompt(context.tokenizer, prompt, text.substr(lead.begin, lead.end - lead.begin));
  if (behind != std::string_view::npos) return lead.begin + behind;
  // No header of its own: ask the template what the prompt was when the model wrote this turn.
  const json::Array before(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(index));
  const Result<jinja::Rendered> asked = render_messages(context, before, true);
  if (asked.ok() && text.starts_with(asked.value().text.bytes()))
    return std::max(lead.begin, asked.value().text.size());
  return lead.begin;
}

std::size_t sampled_end(const TurnContext& context, const PlainClose& plain, const jinja::Rendered& rendered,
                        std::int32_t index, std::size_t data_end) {
  const std::string_view text = rendered.text.bytes();
  const std::size_t end = tail_end(rendered, index, data_end);
  if (const auto marker = closing_marker(context.tokenizer, text.substr(data_end, end - data_end)))
    return data_end + marker->end;
  // What plain turns have behind their stop is the template's, also where this turn has no stop.
  for (const std::string& close : {plain.text, plain.followed}) {
    const auto marker = closing_marker(context.tokenizer, close);
    const std::string_view behind = marker ? std::string_view(close).substr(marker->end) : std::string_view();
    if (!behind.empty() && text.substr(data_end, end - data_end).ends_with(behind)) return end - behind.size();
  }
  if (plain.marker) return end;
  const std::vector<Marker> next =
      markers(context.tokenizer, text.substr(end, std::min<std::size_t>(64, text.size() - end)));
  return !next.empty() && next.front().begin == 0 ? end + next.front().end : end;
}

}  // namespace

std::vector<ByteRange> trusted_ranges(const jinja::Template& chat_template, const jinja::Rendered& rendered) {
  std::vector<ByteRange> ranges;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const std::size_t begin = at;
    at += run.size;
    const std::string_view bytes = std::string_view(rendered.text.bytes()).substr(begin, run.size);
    if (came_from_input_lists(run, rendered.origins) && !is_known_role(chat_template, run, rendered.origins, bytes))
      continue;
    add_range(ranges, begin, at);
  }
  return ranges;
}

std::vector<Piece> encode_range(const TurnContext& context, const jinja::Rendered& rendered, std::size_t begin,
                                std::size_t end, ContentSpecials specials) {
  const std::string_view part = std::string_view(rendered.text.bytes()).substr(begin, end - begin);
  tokenizer::EncodeOptions options;
  std::vector<ByteRange> allowed;
  if (specials == ContentSpecials::kText) {
    for (const ByteRange& range : trusted_ranges(context.chat_template, rendered)) {
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
  for_each_piece_run(rendered, begin, pieces,
                     [&](std::size_t i, const text::Run& run) { owners[i] = owner(run, rendered.origins); });
  return owners;
}

std::vector<std::uint8_t> piece_content(const jinja::Rendered& rendered, std::size_t begin,
                                        const std::vector<Piece>& pieces) {
  std::vector<std::uint8_t> content(pieces.size());
  for_each_piece_run(rendered, begin, pieces, [&](std::size_t i, const text::Run& run) {
    content[i] = is_message_data(run, rendered.origins) ? 1 : 0;
  });
  return content;
}

std::vector<SampledExtent> sampled_extents(const TurnContext& context, const jinja::Rendered& rendered,
                                           const json::Array& messages) {
  std::vector<SampledExtent> out;
  std::optional<PlainClose> plain;  // probed only when there is an assistant turn
  std::string prompt;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].find_string("role") != "assistant") continue;
    if (!plain) {
      plain = probe_plain_close(context);
      prompt = generation_prompt_text(context);
    }
    const auto index = static_cast<std::int32_t>(i);
    const std::optional<std::size_t> first = turn_begin(rendered, index);
    if (!first) continue;
    const std::optional<Extent> data = data_extent(rendered, index);
    const Extent lead{*first, data ? std::max(data->begin, *first) : tail_end(rendered, index, *first)};
    SampledExtent extent;
    extent.message = index;
    extent.begin = sampled_begin(context, prompt, rendered, messages, i, lead);
    extent.end = sampled_end(context, *plain, rendered, index, data ? data->end : extent.begin);
    out.push_back(extent);
  }
  return out;
}

Result<Encoded> encode(const jinja::Template& chat_template, const tokenizer::Tokenizer& tokenizer,
                       const chat::Conversation& conversation, const tmpl::ApplyOptions& options,
                       ContentSpecials specials) {
  const TurnContext context{chat_template, tokenizer, conversation, options};
  Result<jinja::Rendered> applied = tmpl::apply(chat_template, conversation, options);
  if (!applied.ok()) return applied.error();
  const jinja::Rendered& rendered = applied.value();
  const std::vector<Piece> pieces = encode_range(context, rendered, 0, rendered.text.size(), specials);

  Encoded out;
  out.text = rendered.text.bytes();
  out.message_indices = piece_owners(rendered, 0, pieces);
  out.straddles = find_straddles(rendered, pieces);
  out.content_mask = piece_content(rendered, 0, pieces);
  add_origins(out, rendered, pieces);
  const std::vector<SampledExtent> sampled = sampled_extents(context, rendered, conversation.messages);
  std::size_t extent = 0;
  for (const Piece& piece : pieces) {
    while (extent < sampled.size() && sampled[extent].end <= piece.begin) ++extent;
    out.ids.push_back(piece.id);
    out.begins.push_back(piece.begin);
    out.ends.push_back(piece.end);
    const bool is_sampled = extent < sampled.size() && piece.begin >= sampled[extent].begin;
    out.sampled_mask.push_back(is_sampled ? 1 : 0);
    out.samplers.push_back(is_sampled ? sampled[extent].message : text::kNoMessage);
  }
  return out;
}

}  // namespace rondo::render
