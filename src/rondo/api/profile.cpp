#include "api/profile.h"

#include <string>

#include "json/print.h"

namespace rondo::api {

chat::Conversation without_messages(const chat::Conversation& conversation) {
  chat::Conversation base;
  base.tools = conversation.tools;
  base.documents = conversation.documents;
  base.kwargs = conversation.kwargs;
  base.bos_token = conversation.bos_token;
  base.eos_token = conversation.eos_token;
  return base;
}

std::string derived_key(const Prepared& prepared, const chat::Conversation& conversation) {
  return prepared.identity + " " + json::to_compact(tmpl::template_variables(without_messages(conversation)));
}

Memo<render::TurnProfile>::Made turn_profile(Memo<render::TurnProfile>& profiles, const Prepared& prepared,
                                             const chat::Conversation& conversation) {
  const chat::Conversation base = without_messages(conversation);
  return profiles.get(derived_key(prepared, conversation), [&]() -> Memo<render::TurnProfile>::Made {
    const render::TurnContext turn{*prepared.chat_template, *prepared.tokenizer, base, prepared.options};
    return std::make_shared<const render::TurnProfile>(render::probe_turns(turn));
  });
}

}  // namespace rondo::api
