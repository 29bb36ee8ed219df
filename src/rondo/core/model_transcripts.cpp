#include <utility>

#include "core/model.h"

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

}  // namespace rondo::core
