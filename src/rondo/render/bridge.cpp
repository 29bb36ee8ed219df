#include "render/bridge.h"

#include <algorithm>
#include <utility>

#include "render/append.h"
#include "render/lossy.h"
#include "render/stand_in.h"

namespace rondo::render {
namespace {

Status check_roles(const json::Array& new_messages) {
  for (std::size_t i = 0; i < new_messages.size(); ++i) {
    if (new_messages[i].find_string("role") != "assistant") continue;
    return Error(ErrorCode::kInvalidArgument,
                 "new_messages[" + std::to_string(i) + "] has the role `assistant`; sampled turns are never rendered");
  }
  return Done{};
}

}  // namespace

Result<PreparedTurn> prepare(const TurnProfile& profile, const BridgeRequest& request) {
  if (Status valid = check_roles(request.new_messages); !request.allow_turns && !valid.ok()) return valid.error();
  const ParsedCompletion& said = *request.completion;
  const auto ids = request.completion_ids;
  return PreparedTurn{.sampled = {.prompt_ids = request.prompt_ids,
                                  .completion_ids = ids,
                                  .said = said,
                                  .end = find_end(profile, ids.subspan(std::min(said.stops_from, ids.size())))},
                      .history = {.messages = request.messages},
                      .following = Following(request.new_messages, request.add_generation_prompt),
                      .specials = request.specials};
}

Result<Appended> append_turn(const TurnContext& context, const TurnProfile& profile, const BridgeRequest& request,
                             Encoded* described) {
  const Result<PreparedTurn> turn = prepare(profile, request);
  if (!turn.ok()) return turn.error();
  return append_turn(context, profile.plain, turn.value(), described);
}

Result<Bridged> bridge(const TurnContext& context, const TurnProfile& profile, const BridgeRequest& request) {
  const Result<PreparedTurn> turn = prepare(profile, request);
  if (!turn.ok()) return turn.error();
  Result<Appended> appended = append_turn(context, profile.plain, turn.value());
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
  out.kept = old_size;
  out.prompt_tail = added.prompt_tail;
  out.appended_text = std::move(added.text);
  out.notes = std::move(added.notes);
  out.media = std::move(added.media);
  for (MediaSpan& span : out.media) {
    span.begin += old_size;
    span.end += old_size;
  }
  if (request.find_lossy) {
    const Following& following = turn.value().following;
    const json::Array stand_in = stand_in_history();
    static const format::Format kUnknown;
    SampledText sampled = sampled_text(context.tokenizer, profile, request.prompt_ids, request.completion_ids);
    sampled.ends = std::move(added.lossy);
    out.lossy =
        find_lossy(context, request.format == nullptr ? kUnknown : *request.format, request.messages.value_or(stand_in),
                   history_message(*request.completion, following.answers), following.messages, sampled);
  }
  return out;
}

}  // namespace rondo::render
