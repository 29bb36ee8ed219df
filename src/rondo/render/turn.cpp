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

constexpr std::string_view kToolsVariable = "tools";
constexpr std::string_view kDocumentsVariable = "documents";
constexpr std::string_view kRoleKey = "role";

bool is_list_variable(std::string_view root) { return root == kToolsVariable || root == kDocumentsVariable; }

// messages[i].role itself.
bool is_role(text::PathId path, const text::Origins& origins) {
  return origins.paths.depth(path) == 3 && origins.paths.message(path) != text::kNoMessage &&
         origins.paths.step_name(path) == kRoleKey;
}

// What the template writes behind message `index`'s data; "" if it wrote no data.
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

std::int32_t owner(const text::Run& run, const text::Origins& origins) {
  const text::Context& context = origins.contexts.at(run.context);
  if (context.generation_prompt) return text::kNoMessage;
  if (context.element != text::PathId::kNone && is_list_variable(origins.paths.root(context.element)))
    return text::kNoMessage;
  if (is_list_variable(origins.paths.root(run.path()))) return text::kNoMessage;
  const std::int32_t bound = context.owner();
  return bound != text::kNoMessage ? bound : origins.paths.message(run.path());
}

bool is_message_data(const text::Run& run, const text::Origins& origins) {
  if (run.kind == text::RunKind::kLiteral || run.kind == text::RunKind::kComputed) return false;
  return origins.paths.message(run.path()) != text::kNoMessage && !is_role(run.path(), origins);
}

namespace {

// The extent of one message's data, from the runs that hold it, in order.
class DataExtent {
 public:
  // `size` bytes from `begin` on; `is_behind`: a turn of a later message stands between the data so far and these.
  void take(const text::Run& run, std::size_t begin, bool is_behind) {
    // A loop that looks for the call of a result is bound to that call's message, though it writes in the later turn.
    if (extent_ && is_behind && has(run.path())) return;
    if (paths_.empty() || paths_.back() != run.path()) {
      paths_.push_back(run.path());
      is_sorted_ = false;
    }
    if (!extent_) extent_ = Extent{begin, begin};
    extent_->end = begin + run.size;
  }
  [[nodiscard]] const std::optional<Extent>& extent() const { return extent_; }

 private:
  bool has(text::PathId path) {
    if (!std::exchange(is_sorted_, true)) std::ranges::sort(paths_);
    return std::ranges::binary_search(paths_, path);
  }

  std::optional<Extent> extent_;
  std::vector<text::PathId> paths_;  // whose data was seen
  bool is_sorted_ = false;
};

// Whether the run holds data of message `index`, in a turn that may be its own.
bool is_data_of(const text::Run& run, const text::Context& context, const text::Origins& origins, std::int32_t index) {
  return origins.paths.message(run.path()) == index && is_message_data(run, origins) &&
         (context.message == index || context.message == text::kNoMessage);
}

// Where runs of later messages stand, while the runs are gone through.
class LaterRuns {
 public:
  // Run number `run` is bound to `message`.
  void note(std::int32_t message, std::size_t run) {
    while (!last_.empty() && last_.back().message <= message) last_.pop_back();
    last_.push_back({message, run});
  }
  // 1 + the last run so far that is bound to a message behind `message`; 0 if there is none.
  [[nodiscard]] std::size_t behind(std::int32_t message) const {
    for (auto entry = last_.rbegin(); entry != last_.rend(); ++entry) {
      if (entry->message > message) return entry->run + 1;
    }
    return 0;
  }

 private:
  struct Entry {
    std::int32_t message;
    std::size_t run;
  };
  std::vector<Entry> last_;  // of each message its last run, but for those with a later run of a later message
};

// Offset of the first run from number `run` on, which begins at `at`, that ends behind `from` and is not of message `index`'s
// turn.
std::size_t find_tail_end(const jinja::Rendered& rendered, std::int32_t index, std::size_t run, std::size_t at,
                          std::size_t from) {
  const auto runs = rendered.text.runs();
  for (; run < runs.size(); ++run) {
    const std::size_t begin = at;
    at += runs[run].size;
    if (at <= from) continue;
    const text::Context& context = rendered.origins.contexts.at(runs[run].context);
    if (context.generation_prompt || context.owner() != index) return std::max(begin, from);
  }
  return at;
}

}  // namespace

std::optional<Extent> data_extent(const jinja::Rendered& rendered, std::int32_t index) {
  DataExtent data;
  bool is_behind = false;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const text::Context& context = rendered.origins.contexts.at(run.context);
    if (context.message > index) is_behind = true;
    if (is_data_of(run, context, rendered.origins, index)) {
      data.take(run, at, is_behind);
      is_behind = is_behind && data.extent()->end != at + run.size;
    }
    at += run.size;
  }
  return data.extent();
}

std::vector<TurnExtent> turn_extents(const jinja::Rendered& rendered, std::size_t count) {
  const text::Origins& origins = rendered.origins;
  const auto runs = rendered.text.runs();
  std::vector<TurnExtent> out(count);
  std::vector<DataExtent> data(count);
  std::vector<std::size_t> taken(count, 0);  // 1 + the last run of the data
  std::vector<std::size_t> begins;           // of runs
  begins.reserve(runs.size());
  LaterRuns later;
  std::size_t at = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    begins.push_back(at);
    const text::Context& context = origins.contexts.at(runs[i].context);
    if (context.message != text::kNoMessage) later.note(context.message, i);
    const auto owned_by = static_cast<std::size_t>(owner(runs[i], origins));  // nobody is beyond all counts
    if (owned_by < count && !out[owned_by].begin) out[owned_by].begin = at;
    const std::int32_t message = origins.paths.message(runs[i].path());
    const auto place = static_cast<std::size_t>(message);
    if (place < count && is_data_of(runs[i], context, origins, message)) {
      data[place].take(runs[i], at, later.behind(message) > taken[place]);
      if (data[place].extent()->end == at + runs[i].size) taken[place] = i + 1;
    }
    at += runs[i].size;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!out[i].begin) continue;
    out[i].data = data[i].extent();
    const std::size_t from = out[i].data ? out[i].data->end : *out[i].begin;
    const auto run = static_cast<std::size_t>(std::ranges::upper_bound(begins, from) - begins.begin());
    out[i].tail_end = find_tail_end(rendered, static_cast<std::int32_t>(i), run == 0 ? 0 : run - 1,
                                    run == 0 ? 0 : begins[run - 1], from);
  }
  return out;
}

std::size_t tail_end(const jinja::Rendered& rendered, std::int32_t index, std::size_t from) {
  return find_tail_end(rendered, index, 0, 0, from);
}

std::optional<std::size_t> turn_begin(const jinja::Rendered& rendered, std::int32_t index) {
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    if (owner(run, rendered.origins) == index) return at;
    at += run.size;
  }
  return std::nullopt;
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

// The stop is written inside the turn's own tail (or, if `history` differs, in its place).
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

// The stop is the first token of the next turn (its role marker, or the opener of a tool result).
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
    // A tool turn whose last token is an inner closer was never closed by the template; the model still ends it as it
    // ends every turn.
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
