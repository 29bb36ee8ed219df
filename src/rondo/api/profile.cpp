#include "api/profile.h"

#include <string>

#include "json/print.h"

namespace rondo::api {

Memo<render::TurnProfile>::Made turn_profile(Memo<render::TurnProfile>& profiles, const Prepared& prepared,
                                             const chat::Conversation& conversation) {
  // Templates and tokenizers are kept, so an address names one; all that differs between conversations is spelled out.
  chat::Conversation base = conversation;
  base.messages.clear();
  base.continue_final_message.reset();
  std::string key = std::to_string(reinterpret_cast<std::uintptr_t>(prepared.chat_template.get())) + ' ' +
                    std::to_string(reinterpret_cast<std::uintptr_t>(prepared.tokenizer.get())) + ' ' +
                    (prepared.options.strict ? "strict " : "lenient ");
  key += json::to_compact(tmpl::template_variables(base));
  return profiles.get(key, [&]() -> Memo<render::TurnProfile>::Made {
    const render::TurnContext turn{*prepared.chat_template, *prepared.tokenizer, base, prepared.options};
    return std::make_shared<const render::TurnProfile>(render::probe_turns(turn));
  });
}

}  // namespace rondo::api
