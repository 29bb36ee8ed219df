#include "render/turn.h"

#include <algorithm>
#include <utility>

#include "probe/messages.h"
#include "probe/places.h"
#include "probe/words.h"

namespace rondo::render {
namespace {

using probe::plain_message;
using probe::slice;

// What the template writes after the data of message `index`; "" if it wrote no data.
std::string own_tail(const Result<jinja::Rendered>& rendered, std::int32_t index) {
  if (!rendered.ok()) return "";
  const std::optional<Extent> data = data_extent(rendered.value(), index);
  if (!data) return "";
  return std::string(slice(rendered.value(), data->end, tail_end(rendered.value(), index, data->end)));
}

}  // namespace

bool has_calls(const json::Value& message) {
  const json::Value* calls = message.find("tool_calls");
  return calls != nullptr && calls->is_array() && !calls->as_array().empty();
}

std::vector<Marker> markers(const tokenizer::Tokenizer& tokenizer, std::string_view text) {
  std::vector<Marker> out;
  for (const tokenizer::Piece& piece : tokenizer.encode(text, {.added_only = true}))
    out.push_back({piece.begin, piece.end, piece.id});
  return out;
}

std::optional<Marker> closing_marker(const tokenizer::Tokenizer& tokenizer, std::string_view text) {
  const auto ends = tokenizer.end_ids();
  std::optional<Marker> best;
  int best_rank = 0;
  for (const Marker& marker : markers(tokenizer, text)) {
    const bool is_end = std::find(ends.begin(), ends.end(), marker.id) != ends.end();
    const int rank = is_end ? 3 : tokenizer.is_special(marker.id) ? 2 : 1;
    if (rank < best_rank) continue;
    best = marker;
    best_rank = rank;
  }
  return best;
}

std::size_t overlap(const tokenizer::Tokenizer& tokenizer, std::string_view text, std::string_view closing) {
  std::size_t size = std::min(text.size(), closing.size());
  while (size > 0 && !text.ends_with(closing.substr(0, size))) --size;
  if (size == 0) return 0;
  const std::vector<Marker> tokens = markers(tokenizer, closing);
  const auto is_inside = [&](std::size_t at) {
    return std::ranges::any_of(tokens, [at](const Marker& token) { return token.begin < at && at < token.end; });
  };
  while (size > 0 && (is_inside(size) || !text.ends_with(closing.substr(0, size)))) --size;
  return size;
}

Result<jinja::Rendered> render_messages(const TurnContext& context, const json::Array& messages,
                                        bool add_generation_prompt) {
  return tmpl::apply(context.chat_template, context.base, messages, add_generation_prompt, context.options);
}

PlainClose probe_plain_close(const TurnContext& context) {
  PlainClose close;
  json::Array messages = {plain_message("user", probe::kShortQuestion),
                          plain_message("assistant", probe::kShortAnswer)};
  close.text = own_tail(render_messages(context, messages, false), 1);
  messages.push_back(plain_message("user", probe::kShortNextQuestion));
  close.followed = own_tail(render_messages(context, messages, true), 1);
  close.marker = closing_marker(context.tokenizer, close.text);
  if (!close.marker) {
    close.marker = closing_marker(context.tokenizer, close.followed);
    if (close.marker) close.text = close.followed;
  }
  return close;
}

std::optional<Marker> leading_marker(const tokenizer::Tokenizer& tokenizer, std::string_view text) {
  // One marker and the white space before it fit into this window; the rest of a long prompt need not be tokenized.
  constexpr std::size_t kWindow = 256;
  const std::vector<Marker> found = markers(tokenizer, text.substr(0, kWindow));
  if (found.empty()) return std::nullopt;
  const std::string_view before = text.substr(0, found.front().begin);
  if (before.find_first_not_of(" \t\r\n") != std::string_view::npos) return std::nullopt;
  return found.front();
}

namespace {

std::string marker_text(const tokenizer::Tokenizer& tokenizer, const Marker& marker) {
  return std::string(tokenizer.token_bytes(marker.id));
}

// Finds the stop inside the turn's own tail (or in its place, if `history` differs).
TurnClose close_in_tail(const tokenizer::Tokenizer& tokenizer, std::string_view tail, std::size_t data_end,
                        const Marker& stop, const std::optional<Marker>& history) {
  TurnClose close;
  close.stop = marker_text(tokenizer, stop);
  close.stop_id = stop.id;
  close.closers = std::string(history ? tail.substr(0, history->begin) : tail);
  close.history_close = history ? std::string(tail.substr(history->begin, history->end - history->begin)) : "";
  close.suffix_begin = data_end + close.closers.size() + close.history_close.size();
  return close;
}

// Finds the stop in the first token of the next turn (its role marker, or the opener of a tool result).
TurnClose close_by_next(const tokenizer::Tokenizer& tokenizer, std::string_view tail, std::size_t data_end,
                        const Marker& stop) {
  TurnClose close;
  close.stop = marker_text(tokenizer, stop);
  close.stop_id = stop.id;
  close.closers = std::string(tail);
  close.history_close = close.stop;
  close.suffix_begin = data_end + tail.size() + stop.end;
  close.stop_opens_next = true;
  return close;
}

}  // namespace

std::string tail_alone(const TurnContext& context, const json::Array& messages, std::int32_t index) {
  const auto count = static_cast<std::ptrdiff_t>(index) + 1;
  const json::Array until(messages.begin(), messages.begin() + count);
  return own_tail(render_messages(context, until, false), index);
}

std::string tail_alone(const TurnContext& context, tmpl::ReadyConversation& conversation) {
  return own_tail(conversation.render(context.chat_template, false, context.options),
                  static_cast<std::int32_t>(conversation.size()) - 1);
}

std::optional<TurnClose> find_turn_close(const TurnContext& context, const PlainClose& plain,
                                         const jinja::Rendered& full, const ClosedTurn& turn) {
  const tokenizer::Tokenizer& tokenizer = context.tokenizer;
  const std::optional<Extent> data = data_extent(full, turn.index);
  if (!data) return std::nullopt;
  const std::size_t end = tail_end(full, turn.index, data->end);
  const std::string_view tail = slice(full, data->end, end);
  const std::string_view next = slice(full, end, full.text.size());

  const std::optional<Marker> in_tail = closing_marker(tokenizer, tail);
  std::optional<Marker> stop = closing_marker(tokenizer, turn.alone);
  if (!stop) stop = in_tail;
  const std::optional<Marker> opener = leading_marker(tokenizer, next);
  if (stop && opener && opener->id == stop->id && (!in_tail || in_tail->id != stop->id))
    return close_by_next(tokenizer, tail, data->end, *opener);

  if (plain.marker) {
    // If the last token of a tool turn is an inner closer, the template never closed the turn.  The model still ends it
    // as it ends every turn.
    const bool is_inner = stop && stop->id != plain.marker->id && !tokenizer.is_special(stop->id);
    if (turn.has_calls && (!stop || is_inner)) {
      const bool followed_closes = in_tail && in_tail->id == plain.marker->id;
      return close_in_tail(tokenizer, tail, data->end, *plain.marker, followed_closes ? in_tail : std::nullopt);
    }
    if (!stop) stop = plain.marker;
    return close_in_tail(tokenizer, tail, data->end, *stop, in_tail);
  }
  if (opener) return close_by_next(tokenizer, tail, data->end, *opener);
  if (stop) return close_in_tail(tokenizer, tail, data->end, *stop, in_tail);

  TurnClose literal;
  literal.stop = plain.followed.empty() ? plain.text : plain.followed;
  if (literal.stop.empty()) return std::nullopt;
  literal.history_close = std::string(tail);
  literal.suffix_begin = end;
  return literal;
}

}  // namespace rondo::render
