#include "render/suffix.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "render/bridge.h"
#include "render/join.h"
#include "render/stand_in.h"

namespace rondo::render {
namespace {

// Where the new turns begin if the render shows nothing of the assistant message in a turn of its own: after the data
// of all messages up to it, and after the token that closes a plain turn if that token is next.
TurnClose close_without_data(const TurnContext& context, const PlainClose& plain, const jinja::Rendered& full,
                             std::int32_t index, std::size_t new_messages) {
  TurnClose close;
  const text::Origins& origins = full.origins;
  std::size_t data_end = 0;
  std::size_t at = 0;
  for (const text::Run& run : full.text.runs()) {
    at += run.size;
    if (is_message_data(run, origins) && origins.paths.message(run.path()) <= index) data_end = at;
  }
  close.suffix_begin = at;
  at = 0;
  for (const text::Run& run : full.text.runs()) {
    const std::int32_t owned_by = owner(run, origins);
    const bool is_new = owned_by > index && owned_by <= index + static_cast<std::int32_t>(new_messages);
    at += run.size;
    if (at <= data_end || !(is_new || origins.contexts.at(run.context).generation_prompt)) continue;
    close.suffix_begin = std::max(data_end, at - run.size);
    break;
  }
  if (!plain.marker) return close;
  close.stop = plain.text.substr(plain.marker->begin, plain.marker->end - plain.marker->begin);
  close.stop_id = plain.marker->id;
  const auto next = leading_marker(context.tokenizer, std::string_view(full.text.bytes()).substr(close.suffix_begin));
  if (next && next->id == plain.marker->id) {
    close.closers = full.text.bytes().substr(close.suffix_begin, next->begin);
    close.history_close = close.stop;
    close.suffix_begin += next->end;
  }
  return close;
}

// Whether all new messages that the template shows come after the close, and whether it shows the tool results.
bool shows_new_messages(const SuffixRender& suffix, std::span<const json::Value> new_messages) {
  for (std::size_t i = 0; i < new_messages.size(); ++i) {
    const auto index = suffix.index + 1 + static_cast<std::int32_t>(i);
    const std::optional<Extent> data = data_extent(suffix.full, index);
    if (data && data->begin < suffix.close.suffix_begin) return false;
    const auto content = new_messages[i].find_string("content");
    if (!data && content && !content->empty() && new_messages[i].find_string("role") == "tool") return false;
  }
  return true;
}

// How well a stand-in works.
enum class Fit : std::uint8_t { kNothing, kNotShown, kOutOfPlace, kGood };

struct Found {
  SuffixRender suffix;
  Fit fit = Fit::kNothing;
};

// Searches for a stand-in that works.
struct StandInSearch {
  const TurnContext& context;
  const PlainClose& plain;
  const ParsedCompletion& said;
  const Following& following;
  const std::string* known_tail;  // History::tail_alone

  // A completion without calls ends like a plain turn, although the template was shown calls.
  void end_as_plain(TurnClose& close) const {
    close.closers.clear();
    const std::optional<Marker> marker = closing_marker(context.tokenizer, plain.followed);
    if (!marker || !said.message.tool_calls.empty() || close.stop_opens_next || close.history_close.empty()) return;
    close.history_close = plain.followed.substr(marker->begin, marker->end - marker->begin);
  }

  // The suffix after one stand-in.  `history` keeps what was added to it.
  Result<Found> try_out(StandIn stand_in, tmpl::ReadyConversation& history) const {
    const std::size_t index = history.size();
    history.push(stand_in.message);
    for (const json::Value& message : following.messages) history.push(message);
    Result<jinja::Rendered> full =
        history.render(context.chat_template, following.add_generation_prompt, context.options);
    if (!full.ok()) return full.error();
    history.shrink(index + 1);
    const std::string alone = known_tail != nullptr ? *known_tail : tail_alone(context, history);
    Found found;
    SuffixRender& suffix = found.suffix;
    suffix.index = static_cast<std::int32_t>(index);
    suffix.full = std::move(full).value();
    if (!stand_in.note.empty()) suffix.notes.push_back(std::move(stand_in.note));
    const ClosedTurn turn{suffix.index, has_calls(stand_in.message), alone};
    if (std::optional<TurnClose> close = find_turn_close(context, plain, suffix.full, turn)) {
      suffix.close = *std::move(close);
      // The end of calls that are not in the completion is not one of its closers.
      if (stand_in.has_other_calls) end_as_plain(suffix.close);
      found.fit = shows_new_messages(suffix, following.messages) ? Fit::kGood : Fit::kOutOfPlace;
    } else {
      suffix.close = close_without_data(context, plain, suffix.full, suffix.index, following.messages.size());
      suffix.notes.emplace_back("the template shows nothing of the turn");
      found.fit = Fit::kNotShown;
    }
    return found;
  }

  // The suffix after the first stand-in that shows everything, else after the best one.  Several are tried because
  // templates differ in the shapes that they accept.  `history` is restored.  Fails with the template's error for the
  // first stand-in.
  Result<SuffixRender> behind(tmpl::ReadyConversation& history) const {
    const std::size_t size = history.size();
    std::optional<Error> refusal;
    Found best;
    for (const Rung& rung : ladder_of(said, following.answers)) {
      Result<Found> found = try_out(make_stand_in(said, following.answers, rung), history);
      history.shrink(size);
      if (!found.ok()) {
        if (!refusal) refusal = found.error();
        if (found.error().code == ErrorCode::kLimit) break;
        continue;
      }
      if (found.value().fit > best.fit) best = std::move(found).value();
      if (best.fit == Fit::kGood) break;
    }
    if (best.fit == Fit::kNothing) return *refusal;
    return std::move(best.suffix);
  }

  // The suffix after one user message that replaces the history.
  Result<SuffixRender> behind_one_message() const {
    tmpl::ReadyConversation history(context.base, stand_in_history());
    Result<SuffixRender> suffix = behind(history);
    if (suffix.ok()) suffix.value().is_behind_stand_in = true;
    return suffix;
  }
};

}  // namespace

Following::Following(std::span<const json::Value> new_messages, bool opens_next)
    : messages(new_messages), add_generation_prompt(opens_next) {
  const auto next = std::ranges::find_if(
      messages, [](const json::Value& message) { return message.find_string("role") == "assistant"; });
  answers = {messages.begin(), next};
}

Result<SuffixRender> render_suffix(const TurnContext& context, const PlainClose& plain, const History& history,
                                   const ParsedCompletion& said, const Following& following) {
  const StandInSearch search{context, plain, said, following, history.tail_alone};
  if (!history.messages) return search.behind_one_message();
  std::optional<tmpl::ReadyConversation> own;
  tmpl::ReadyConversation& ready =
      history.ready != nullptr ? *history.ready : own.emplace(context.base, *history.messages);
  Result<SuffixRender> suffix = search.behind(ready);
  if (suffix.ok() || suffix.error().code == ErrorCode::kLimit) return suffix;
  const Result<jinja::Rendered> before = ready.render(context.chat_template, true, context.options);
  if (before.ok()) return suffix;  // the template refuses the new messages themselves
  Result<SuffixRender> behind = search.behind_one_message();
  if (!behind.ok()) return suffix;
  behind.value().notes.push_back("the template refuses the history (" + before.error().message +
                                 "); the new messages are rendered behind one plain user message");
  return behind;
}

std::optional<SuffixRender> render_empty_turn(const TurnContext& context, std::span<const json::Value> history,
                                              const SampledTurn& turn, const Following& following) {
  tmpl::ReadyConversation messages(context.base, history);
  const Result<jinja::Rendered> prompt = messages.render(context.chat_template, true, context.options);
  const Result<std::string> sampled = text_behind(context.tokenizer, turn.prompt_ids, turn.completion_ids);
  if (!prompt.ok() || !sampled.ok()) return std::nullopt;
  messages.push(history_message(turn.said, following.answers));
  for (const json::Value& message : following.messages) messages.push(message);
  Result<jinja::Rendered> full =
      messages.render(context.chat_template, following.add_generation_prompt, context.options);
  const std::string old = prompt.value().text.bytes() + sampled.value();
  if (!full.ok() || !full.value().text.bytes().starts_with(old)) return std::nullopt;
  SuffixRender suffix;
  suffix.index = static_cast<std::int32_t>(history.size());
  suffix.full = std::move(full).value();
  suffix.close.suffix_begin = old.size();
  suffix.closes_itself = true;
  suffix.notes.emplace_back("the completion says nothing; the template's own empty turn closes it");
  return suffix;
}

std::size_t prompt_tail(const jinja::Rendered& full, std::size_t begin, const std::vector<tokenizer::Piece>& pieces) {
  std::size_t data_end = 0;
  std::size_t at = 0;
  for (const text::Run& run : full.text.runs()) {
    at += run.size;
    if (is_message_data(run, full.origins)) data_end = at;
  }
  std::size_t count = 0;
  while (count < pieces.size() && begin + pieces[pieces.size() - 1 - count].begin >= data_end) ++count;
  return count;
}

}  // namespace rondo::render
