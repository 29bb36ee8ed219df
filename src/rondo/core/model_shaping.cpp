// Gives conversations the form that the template needs.
#include <utility>

#include "core/model.h"
#include "render/completion.h"

namespace rondo::core {
namespace {

// Gives a conversation without tools an empty list of them.  Returns whether it did.
bool add_tool_list(chat::Conversation& conversation) {
  if (conversation.tools || conversation.kwargs.find("tools") != nullptr) return false;
  conversation.tools = json::Array();
  return true;
}

// A message that the model continues keeps its form, because only the beginning of its arguments may be there.
tmpl::Shaping shape_messages(Call& call, const tmpl::MessageRules& rules) {
  json::Array& messages = call.conversation.messages;
  const bool continues = call.conversation.continue_final_message.has_value();
  json::Value continued;
  if (continues) {
    continued = std::move(messages.back());
    messages.pop_back();
  }
  tmpl::ShapingContext context;
  for (const render::RawTurn& turn : call.raw_turns) context.sampled.push_back(turn.message);
  tmpl::Shaping shaping = tmpl::shape(messages, rules, context);
  if (!continues) return shaping;
  messages.push_back(std::move(continued));
  if (!shaping.order.empty()) shaping.order.push_back(shaping.order.size());
  return shaping;
}

}  // namespace

// The messages and the tools.  Tools are shaped without messages too, because a template would refuse them in every
// prompt.
void Model::shape_call(const Prepared& prepared, Call& call) const {
  chat::Conversation& conversation = call.conversation;
  if (parts_.strict || (conversation.messages.empty() && !conversation.tools)) return;
  const auto rules = rules_of(prepared, conversation);
  if (!rules.ok()) return;  // a template that no probe fits gives its reason when it is rendered
  tmpl::Shaping shaping;
  if (!conversation.messages.empty()) {
    shaping = shape_messages(call, *rules.value());
    shaping.polyfills = tmpl::changes_of(parts_.polyfills, conversation);
    shaping.adds_tool_list = rules.value()->needs_tool_list && add_tool_list(conversation);
  }
  if (conversation.tools) shaping.tools = tmpl::shape_tools(*conversation.tools, rules.value()->tools);
  if (!tmpl::sentences(shaping).empty()) call.shaping = std::move(shaping);
}

// Shapes new messages that follow a completion.
Result<tmpl::Shaping> Model::shape_following(const Prepared& prepared, const Call& call,
                                             const render::ParsedCompletion& said, json::Array& new_messages) const {
  if (parts_.strict || new_messages.empty()) return tmpl::Shaping();
  const auto rules = rules_of(prepared, call.conversation);
  if (!rules.ok()) return rules.error();
  tmpl::Shaping out =
      tmpl::shape(new_messages, *rules.value(), render::shaping_context(call.conversation.messages, said));
  out.polyfills = tmpl::changes_of_new(parts_.polyfills, new_messages, {true, "assistant"});
  return out;
}

}  // namespace rondo::core
