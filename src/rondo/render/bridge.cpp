#include "render/bridge.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "render/join.h"
#include "render/lossy.h"
#include "render/stand_in.h"

namespace rondo::render {
namespace {

using tokenizer::ByteRange;
using tokenizer::Piece;
using tokenizer::TokenId;

Error failure(ErrorCode code, std::string message) {
  Error error;
  error.code = code;
  error.message = std::move(message);
  return error;
}

// The render that the appended text is cut out of.
struct SuffixRender {
  jinja::Rendered full;
  TurnClose close;
  std::int32_t index = 0;  // of the assistant message
  std::vector<std::string> notes;
};

// Where the new turns begin in a render that shows nothing of the assistant message.
TurnClose close_without_data(const PlainClose& plain, const jinja::Rendered& full, std::int32_t index,
                             std::size_t new_messages) {
  TurnClose close;
  if (plain.marker) {
    close.stop = plain.text.substr(plain.marker->begin, plain.marker->end - plain.marker->begin);
    close.stop_id = plain.marker->id;
  }
  close.suffix_begin = full.text.size();
  std::size_t at = 0;
  for (const text::Run& run : full.text.runs()) {
    const std::int32_t owned_by = owner(run, full.origins);
    const bool is_new = owned_by > index && owned_by <= index + static_cast<std::int32_t>(new_messages);
    if (is_new || full.origins.contexts.at(run.context).generation_prompt) {
      close.suffix_begin = at;
      break;
    }
    at += run.size;
  }
  return close;
}

// Templates differ in the shapes they accept, so several stand-ins are tried; the first that renders serves.
Result<SuffixRender> render_suffix(const TurnContext& context, const PlainClose& plain, const BridgeRequest& request,
                                   std::span<const json::Value> history) {
  const auto index = static_cast<std::int32_t>(history.size());
  std::optional<Error> refusal;
  std::optional<SuffixRender> without_data;
  json::Array messages(history.begin(), history.end());
  messages.emplace_back();
  messages.insert(messages.end(), request.new_messages.begin(), request.new_messages.end());
  for (std::size_t step = 0; step < kStandIns; ++step) {
    std::optional<StandIn> stand_in = make_stand_in(*request.completion, request.new_messages, step);
    if (!stand_in) continue;
    messages[history.size()] = std::move(stand_in->message);
    Result<jinja::Rendered> full = render_messages(context, messages, true);
    if (!full.ok()) {
      if (!refusal) refusal = full.error();
      if (full.error().code == ErrorCode::kLimit) break;
      continue;
    }
    SuffixRender suffix;
    if (!stand_in->note.empty()) suffix.notes.push_back(std::move(stand_in->note));
    suffix.index = index;
    const auto close = find_turn_close(context, plain, messages, full.value(), index);
    suffix.full = std::move(full).value();
    if (close) {
      suffix.close = *close;
      return suffix;
    }
    if (!without_data) {
      suffix.close = close_without_data(plain, suffix.full, index, request.new_messages.size());
      suffix.notes.emplace_back("the template shows nothing of the turn");
      without_data = std::move(suffix);
    }
  }
  if (without_data) return *std::move(without_data);
  return *refusal;
}

// The suffix behind the given history, or behind a stand-in for it where the template refuses the history itself.
Result<SuffixRender> render_any_suffix(const TurnContext& context, const PlainClose& plain,
                                       const BridgeRequest& request) {
  const json::Array stand_in = stand_in_history();
  if (!request.messages) return render_suffix(context, plain, request, stand_in);
  Result<SuffixRender> suffix = render_suffix(context, plain, request, *request.messages);
  if (suffix.ok() || suffix.error().code == ErrorCode::kLimit) return suffix;
  const json::Array history(request.messages->begin(), request.messages->end());
  const Result<jinja::Rendered> before = render_messages(context, history, true);
  if (before.ok()) return suffix;  // it is the new messages that the template refuses
  Result<SuffixRender> behind = render_suffix(context, plain, request, stand_in);
  if (!behind.ok()) return suffix;
  behind.value().notes.push_back("the template refuses the history (" + before.error().message +
                                 "); the new messages are rendered behind one plain user message");
  return behind;
}

// Puts ids behind the old ones.
class Appender {
 public:
  Appender(const TurnContext& context, const BridgeRequest& request, Appended& out)
      : context_(context), request_(request), out_(out) {}

  // The last ids so far; `behind` of the completion's are left out.
  [[nodiscard]] std::vector<TokenId> last_ids(std::size_t behind) const {
    constexpr std::size_t kEnough = 32;
    std::vector<TokenId> last;
    const auto take = [&](std::span<const TokenId> ids) {
      for (std::size_t i = ids.size(); i > 0 && last.size() < kEnough; --i) last.push_back(ids[i - 1]);
    };
    take(out_.ids);
    take(request_.completion_ids.first(request_.completion_ids.size() - behind));
    take(request_.prompt_ids);
    std::ranges::reverse(last);
    return last;
  }

  // Text of the template that is not part of a render (closers, a stop token).
  void append(std::string_view text) {
    for (const Piece& piece : encode_behind(context_.tokenizer, last_ids(0), text, nullptr))
      append(piece.id, text::kNoMessage);
    out_.text += text;
  }
  void append(TokenId id, std::int32_t message, std::uint8_t is_content = 0) {
    out_.ids.push_back(id);
    out_.message_indices.push_back(message);
    out_.content_mask.push_back(message == text::kNoMessage ? 0 : is_content);
  }

 private:
  const TurnContext& context_;
  const BridgeRequest& request_;
  Appended& out_;
};

// The pieces of `suffix.full` from byte `begin` on, as they follow `before`.
std::vector<Piece> suffix_pieces(const TurnContext& context, const SuffixRender& suffix, std::size_t begin,
                                 std::span<const TokenId> before, ContentSpecials specials) {
  const std::string_view text = std::string_view(suffix.full.text.bytes()).substr(begin);
  if (specials == ContentSpecials::kParse) return encode_behind(context.tokenizer, before, text, nullptr);
  std::vector<ByteRange> allowed;
  for (const ByteRange& range : trusted_ranges(context.chat_template, suffix.full)) {
    if (range.end > begin) allowed.push_back({std::max(range.begin, begin) - begin, range.end - begin});
  }
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

SampledEnd sampled_end(const TurnProfile& profile, std::span<const TokenId> completion) {
  SampledEnd end;
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
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') out += c;
  }
  return out;
}

// The length of the longest beginning of `closers` that `text` ends with.
std::size_t overlap(std::string_view text, std::string_view closers) {
  std::size_t size = std::min(text.size(), closers.size());
  while (size > 0 && !text.ends_with(closers.substr(0, size))) --size;
  return size;
}

// What of `closers`, the template's text between the data of a turn and its stop, is missing behind `text`.
std::string missing_closers(std::string_view text, std::string_view closers, bool has_calls) {
  const std::size_t there = overlap(text, closers);
  if (there > 0 && without_space(closers.substr(there)).empty()) return std::string(closers.substr(there));
  const std::string plain = without_space(closers);
  const std::size_t plain_there = overlap(without_space(text), plain);
  if (plain_there == plain.size()) return "";
  // The end of a call is the format's business, and written already; what the template writes behind it is found by the
  // part of it that is there.
  if (has_calls && plain_there == 0) return "";
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

// Closes what a cut-off completion left open, as the template closes it in history.
void close_turn(const TurnContext& context, const BridgeRequest& request, const TurnClose& close, Appender& appender,
                Appended& out) {
  const ParsedCompletion& completion = *request.completion;
  std::string text = completion.closing_text;
  text += missing_closers(last_text(context, request.completion_ids) + text, close.closers,
                          !completion.message.tool_calls.empty());
  if (!without_space(text).empty())
    out.notes.push_back("the completion was cut off; " + text::quoted(text) + " closes what it left open");
  if (!close.stop_opens_next && !close.history_close.empty()) {
    text += close.history_close;
    out.notes.push_back("the completion has no stop token; " + text::quoted(close.history_close) + " was added");
  }
  appender.append(text);
}

// What the template writes behind the sampled stop and still before the suffix, where the stop is not the last of its
// closing tokens.
std::string rest_of_close(const TurnContext& context, const TurnClose& close, TokenId stop) {
  if (close.stop_opens_next || (close.stop_id && *close.stop_id == stop)) return "";
  const std::string_view text = context.tokenizer.token_bytes(stop);
  const std::size_t at = close.closers.rfind(text);
  return at == std::string::npos ? "" : close.closers.substr(at + text.size()) + close.history_close;
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

// Moves spans of pieces to where the ids are; what was sampled already is no part of them.
void add_media(std::vector<MediaSpan> media, std::size_t skipped, std::size_t offset, Appended& out) {
  for (MediaSpan& span : media) {
    if (span.begin == span.end) {
      out.notes.push_back("the template writes nothing for new_messages[" + std::to_string(span.message) +
                          "].content[" + std::to_string(span.part) + "], of type " + text::quoted(span.type));
      span.begin = span.end = offset;
    } else {
      span.begin = std::max(span.begin, skipped) - skipped + offset;
      span.end = std::max(span.end, skipped) - skipped + offset;
    }
    out.media.push_back(std::move(span));
  }
}

void append_suffix(const TurnContext& context, const TurnProfile& profile, const BridgeRequest& request,
                   const SuffixRender& suffix, Appended& out) {
  const TurnClose& close = suffix.close;
  Appender appender(context, request, out);
  SampledEnd end = sampled_end(profile, request.completion_ids);
  if (!end.closed) end.closed = ends_closed(context, close, request);
  if (!end.closed) close_turn(context, request, close, appender, out);
  if (end.stop && end.trailing.empty()) appender.append(rest_of_close(context, close, *end.stop));
  std::size_t begin = close.suffix_begin;
  // Where the stop is the opener of the next turn it must stand there once: the sampled one serves if it fits.
  const bool fits = end.stop && close.stop_id && *end.stop == *close.stop_id && end.trailing.empty();
  if (close.stop_opens_next && !fits) begin -= close.history_close.size();
  std::vector<Piece> pieces =
      suffix_pieces(context, suffix, begin, appender.last_ids(end.trailing.size()), request.specials);
  const std::size_t skipped = already_sampled(end.trailing, pieces);
  if (skipped == 0 && !end.trailing.empty()) {
    if (opens_a_turn(context, end.trailing) && !close.stop_opens_next) {
      appender.append(close.stop);
      out.notes.push_back("the completion opened another turn behind its stop token; " + text::quoted(close.stop) +
                          " closes it");
    }
    pieces = suffix_pieces(context, suffix, begin, appender.last_ids(0), request.specials);
  }
  report_end(context, suffix, end, fits, skipped > 0, out);
  const std::vector<std::int32_t> owners = piece_owners(suffix.full, begin, pieces);
  const std::vector<std::uint8_t> content = piece_content(suffix.full, begin, pieces);
  const std::size_t offset = out.ids.size();
  for (std::size_t i = skipped; i < pieces.size(); ++i)
    appender.append(pieces[i].id, std::max(owners[i] - suffix.index - 1, text::kNoMessage), content[i]);
  add_media(find_media(suffix, begin, pieces, request.new_messages), skipped, offset, out);
  const std::size_t from = begin + (skipped == 0 ? 0 : pieces[skipped - 1].end);
  out.text += suffix.full.text.bytes().substr(from);
}

Status check_roles(const json::Array& new_messages) {
  for (std::size_t i = 0; i < new_messages.size(); ++i) {
    if (new_messages[i].find_string("role") != "assistant") continue;
    return failure(ErrorCode::kInvalidArgument, "new_messages[" + std::to_string(i) +
                                                    "] has the role `assistant`; sampled turns are never rendered");
  }
  return Done{};
}

}  // namespace

Result<Appended> append_turn(const TurnContext& context, const TurnProfile& profile, const BridgeRequest& request) {
  if (Status valid = check_roles(request.new_messages); !valid.ok()) return valid.error();
  Result<SuffixRender> suffix = render_any_suffix(context, profile.plain, request);
  if (!suffix.ok()) return suffix.error();
  Appended out;
  out.notes = suffix.value().notes;
  for (std::string& note : result_notes(*request.completion, request.new_messages))
    out.notes.push_back(std::move(note));
  append_suffix(context, profile, request, suffix.value(), out);
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
    if (out.lossy.empty()) out.lossy = std::move(added.lossy);
  }
  return out;
}

}  // namespace rondo::render
