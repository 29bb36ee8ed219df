#include "render/suffix.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "format/units.h"
#include "render/join.h"
#include "render/stand_in.h"

namespace rondo::render {
namespace {

// Where the new turns begin in a render that shows nothing of the assistant message in a turn of its own: behind the data
// of all messages up to it, and the token that closes a plain turn if it is next.
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

// Whether the new messages stand behind the close, all of them that the template shows, and it shows the tool results.
bool shows_new_messages(const SuffixRender& suffix, const json::Array& new_messages) {
  for (std::size_t i = 0; i < new_messages.size(); ++i) {
    const auto index = suffix.index + 1 + static_cast<std::int32_t>(i);
    const std::optional<Extent> data = data_extent(suffix.full, index);
    if (data && data->begin < suffix.close.suffix_begin) return false;
    const auto content = new_messages[i].find_string("content");
    if (!data && content && !content->empty() && new_messages[i].find_string("role") == "tool") return false;
  }
  return true;
}

// How well a stand-in serves.
enum class Fit : std::uint8_t { kNothing, kNotShown, kOutOfPlace, kGood };

// Templates differ in the shapes they accept, so several stand-ins are tried; the first that shows everything serves, else
// the best.
Result<SuffixRender> render_stand_in(const TurnContext& context, const PlainClose& plain, const BridgeRequest& request,
                                     std::span<const json::Value> history) {
  std::optional<Error> refusal;
  SuffixRender best;
  Fit best_fit = Fit::kNothing;
  std::optional<tmpl::ReadyConversation> own;
  tmpl::ReadyConversation& messages =
      request.ready != nullptr && request.messages && history.data() == request.messages->data()
          ? *request.ready
          : own.emplace(context.base, history);
  for (std::size_t step = 0; step < kStandIns && best_fit != Fit::kGood; ++step) {
    std::optional<StandIn> stand_in = make_stand_in(*request.completion, answers(request.new_messages), step);
    if (!stand_in) continue;
    messages.shrink(history.size());
    messages.push(stand_in->message);
    for (const json::Value& message : request.new_messages) messages.push(message);
    Result<jinja::Rendered> full =
        messages.render(context.chat_template, request.add_generation_prompt, context.options);
    if (!full.ok()) {
      if (!refusal) refusal = full.error();
      if (full.error().code == ErrorCode::kLimit) break;
      continue;
    }
    SuffixRender suffix;
    if (!stand_in->note.empty()) suffix.notes.push_back(std::move(stand_in->note));
    suffix.index = static_cast<std::int32_t>(history.size());
    messages.shrink(history.size() + 1);
    const std::string alone = request.tail_alone != nullptr ? *request.tail_alone : tail_alone(context, messages);
    const ClosedTurn turn{suffix.index, has_calls(stand_in->message), alone};
    const auto close = find_turn_close(context, plain, full.value(), turn);
    suffix.full = std::move(full).value();
    Fit fit = Fit::kNotShown;
    if (close) {
      suffix.close = *close;
      // The end of calls that the completion does not have is none of its closers.
      if (stand_in->has_other_calls) suffix.close.closers.clear();
      fit = shows_new_messages(suffix, request.new_messages) ? Fit::kGood : Fit::kOutOfPlace;
    } else if (best_fit < fit) {
      suffix.close = close_without_data(context, plain, suffix.full, suffix.index, request.new_messages.size());
      suffix.notes.emplace_back("the template shows nothing of the turn");
    }
    if (fit <= best_fit) continue;
    best = std::move(suffix);
    best_fit = fit;
  }
  messages.shrink(history.size());
  if (best_fit == Fit::kNothing) return *refusal;
  return best;
}

// The suffix behind the given history, or behind a stand-in for it where the template refuses the history itself.
Result<SuffixRender> render_any_suffix(const TurnContext& context, const PlainClose& plain,
                                       const BridgeRequest& request) {
  const json::Array stand_in = stand_in_history();
  if (!request.messages) return render_stand_in(context, plain, request, stand_in);
  Result<SuffixRender> suffix = render_stand_in(context, plain, request, *request.messages);
  if (suffix.ok() || suffix.error().code == ErrorCode::kLimit) return suffix;
  const json::Array history(request.messages->begin(), request.messages->end());
  const Result<jinja::Rendered> before = render_messages(context, history, true);
  if (before.ok()) return suffix;  // it is the new messages that the template refuses
  Result<SuffixRender> behind = render_stand_in(context, plain, request, stand_in);
  if (!behind.ok()) return suffix;
  behind.value().notes.push_back("the template refuses the history (" + before.error().message +
                                 "); the new messages are rendered behind one plain user message");
  return behind;
}

// Whether a completion without a stop says nothing: no text, no calls.
bool says_nothing(const TurnProfile& profile, const BridgeRequest& request) {
  const chat::AssistantMessage& message = request.completion->message;
  return format::is_blank(message.content) && message.tool_calls.empty() &&
         format::is_blank(message.reasoning.value_or("")) &&
         std::ranges::none_of(request.completion_ids, [&](tokenizer::TokenId id) { return profile.is_stop(id); });
}

// Of a completion that says nothing: what the template writes for such a turn, from there on.  Nothing if the template's
// own empty turn does not begin with the prompt and what was sampled.
std::optional<SuffixRender> render_empty_turn(const TurnContext& context, const TurnProfile& profile,
                                              const BridgeRequest& request) {
  if (!request.messages || !says_nothing(profile, request)) return std::nullopt;
  json::Array messages(request.messages->begin(), request.messages->end());
  const Result<jinja::Rendered> prompt = render_messages(context, messages, true);
  const Result<std::string> sampled = text_behind(context.tokenizer, request.prompt_ids, request.completion_ids);
  if (!prompt.ok() || !sampled.ok()) return std::nullopt;
  SuffixRender suffix;
  suffix.index = static_cast<std::int32_t>(messages.size());
  messages.push_back(history_message(*request.completion, answers(request.new_messages)));
  messages.insert(messages.end(), request.new_messages.begin(), request.new_messages.end());
  Result<jinja::Rendered> full = render_messages(context, messages, request.add_generation_prompt);
  if (!full.ok() || !full.value().text.bytes().starts_with(prompt.value().text.bytes() + sampled.value()))
    return std::nullopt;
  suffix.full = std::move(full).value();
  suffix.close.suffix_begin = prompt.value().text.size() + sampled.value().size();
  suffix.closes_itself = true;
  suffix.notes.emplace_back("the completion says nothing; the template's own empty turn closes it");
  return suffix;
}

}  // namespace

Result<SuffixRender> render_suffix(const TurnContext& context, const TurnProfile& profile,
                                   const BridgeRequest& request) {
  if (std::optional<SuffixRender> empty = render_empty_turn(context, profile, request)) return *std::move(empty);
  return render_any_suffix(context, profile.plain, request);
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
