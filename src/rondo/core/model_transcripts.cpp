#include <utility>

#include "core/model.h"
#include "core/roles.h"

namespace rondo::core {

Result<std::shared_ptr<const render::TranscriptModel>> Model::transcripts(Call& call) const {
  if (call.conversation.continue_final_message)
    return Error(ErrorCode::kInvalidArgument,
                 "a transcript cannot be continued in its last message: add whole messages");
  // The transcript shapes its messages itself.
  Call without = call;
  without.conversation.messages.clear();
  auto prepared = prepare(without, TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  const Prepared& use = prepared.value();
  const bool opens = without.conversation.add_generation_prompt;
  const std::string key = derived_key(use, without.conversation) + (opens ? " " : "n") + time_key(use);
  return transcripts_.get(key, [&]() -> Memo<render::TranscriptModel>::Made {
    auto format = format_of(use, without.conversation);
    if (!format.ok()) return format.error();
    const auto rules = rules_of(use, without.conversation);
    if (!rules.ok()) return rules.error();
    chat::Conversation base = without_messages(without.conversation);
    base.add_generation_prompt = opens;
    return render::TranscriptModel::make(
        {use.chat_template, std::move(base), use.options, *rules.value(), format.value()->input, parts_.polyfills});
  });
}

Result<std::shared_ptr<const render::RolloutModel>> Model::rollouts(Call& call, Locality locality) const {
  auto prepared = prepare(call, TokenizerUse::kRequired);
  if (!prepared.ok()) return prepared.error();
  const Prepared& use = prepared.value();
  const std::string key =
      derived_key(use, call.conversation) + (call.specials == render::ContentSpecials::kText ? " " : "p") +
      (call.inline_reasoning ? " " : "n") + (locality == Locality::kProven ? " " : "n") + time_key(use);
  return rollouts_.get(key, [&]() -> Memo<render::RolloutModel>::Made {
    auto format = format_of(use, call.conversation);
    if (!format.ok()) return format.error();
    const auto rules = rules_of(use, call.conversation);
    if (!rules.ok()) return rules.error();
    return render::RolloutModel::make({use.chat_template, use.tokenizer, format.value(),
                                       without_messages(call.conversation), use.options, call.specials, *rules.value(),
                                       call.inline_reasoning, parts_.polyfills, locality == Locality::kProven});
  });
}

Result<StartedRollout> Model::start_rollout(Call& call) const {
  auto shared = rollouts(call);
  if (!shared.ok()) return shared.error();
  auto started =
      render::Rollout::start(shared.value(), std::move(call.conversation.messages), tmpl::sentences(call.shaping));
  if (!started.ok()) return started.error();
  StartedRollout out{std::move(started).value(), {}};
  if (!parts_.strict)
    note_unwritten_role(*shared.value()->parts().chat_template, out.rollout.messages(), out.rollout.message_indices(),
                        out.notes);
  return out;
}

}  // namespace rondo::core
