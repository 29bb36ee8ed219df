#include <utility>

#include "core/model.h"
#include "core/prepared.h"

namespace rondo::core {

Result<Known> Model::known(Call call) const {
  auto prepared = prepare(call, TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  auto format = format_of(prepared.value(), call.conversation);
  if (!format.ok()) return format.error();
  auto rules = message_rules(rules_, prepared.value(), call.conversation, *format.value());
  if (!rules.ok()) return rules.error();
  return Known{std::move(prepared).value(), std::move(call.conversation), std::move(format).value(),
               std::move(rules).value()};
}

Result<analysis::Capabilities> Model::capabilities(const Call& call) const {
  Call asked = call;
  asked.conversation = without_messages(call.conversation);
  asked.conversation.tools.reset();
  // Many templates can't be rendered where nobody says how a text begins and ends.
  if (parts_.tokenizer == nullptr) {
    asked.conversation.bos_token = call.conversation.bos_token.value_or("Bprobe");
    asked.conversation.eos_token = call.conversation.eos_token.value_or("Eprobe");
  }
  const auto plain = known(asked);
  if (!plain.ok()) return plain.error();
  asked.conversation.tools = json::Array();  // for the template that is meant for tools
  const auto with_tools = known(std::move(asked));
  if (!with_tools.ok()) return with_tools.error();
  return capabilities_of(plain.value(), with_tools.value());
}

}  // namespace rondo::core
