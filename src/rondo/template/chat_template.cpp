#include "template/chat_template.h"

#include <string_view>
#include <utility>

#include "chat/reasoning_fields.h"
#include "template/continuation.h"

namespace rondo::tmpl {
namespace {

// Like the reference: {"thinking": reasoning, **message, "reasoning_content": reasoning}.  Templates that print a whole
// message show the order of keys.
json::Value with_reasoning_aliases(const json::Value& message) {
  const std::string_view field = reasoning_field(message);
  if (field.empty()) return message;
  const json::Value* reasoning = message.find(field);
  json::Object out;
  out.set("thinking", *reasoning);
  for (const json::Member& member : message.as_object()) out.set(member.key, member.value);
  out.set("reasoning_content", *reasoning);
  return out;
}

json::Array aliased(json::Array messages) {
  for (json::Value& message : messages) {
    if (!reasoning_field(message).empty()) message = with_reasoning_aliases(message);
  }
  return messages;
}

jinja::RenderOptions render_options(const ApplyOptions& options) {
  jinja::RenderOptions render;
  render.strict = options.strict;
  render.now = options.now;
  render.origins = options.origins;
  render.whole_dumps = options.whole_dumps;
  render.limits = options.limits;
  return render;
}

}  // namespace

std::string_view reasoning_field(const json::Value& message) {
  for (const std::string_view field : chat::kReasoningFields) {
    const json::Value* value = message.find(field);
    if (value != nullptr && !value->is_null()) return field;
  }
  return {};
}

json::Object template_variables(const chat::Conversation& conversation) {
  return template_variables(conversation, conversation.messages, conversation.add_generation_prompt);
}

json::Object template_variables(const chat::Conversation& conversation, json::Array messages,
                                bool add_generation_prompt) {
  json::Object variables;
  variables.set("messages", aliased(std::move(messages)));
  variables.set("tools", conversation.tools ? *conversation.tools : json::Value());
  variables.set("documents", conversation.documents ? *conversation.documents : json::Value());
  variables.set("add_generation_prompt", add_generation_prompt);
  if (conversation.bos_token) variables.set("bos_token", *conversation.bos_token);
  if (conversation.eos_token) variables.set("eos_token", *conversation.eos_token);
  for (const json::Member& member : conversation.kwargs) variables.set(member.key, member.value);
  return variables;
}

Result<jinja::Rendered> apply(const jinja::Template& chat_template, const chat::Conversation& conversation,
                              const json::Array& messages, bool add_generation_prompt, const ApplyOptions& options) {
  return chat_template.render(template_variables(conversation, messages, add_generation_prompt),
                              render_options(options));
}

Result<jinja::Rendered> apply(const jinja::Template& chat_template, const chat::Conversation& conversation,
                              const ApplyOptions& options) {
  const jinja::RenderOptions render = render_options(options);
  json::Object variables = template_variables(conversation);
  if (!conversation.continue_final_message) return chat_template.render(variables, render);

  if (conversation.add_generation_prompt)
    return Error(ErrorCode::kInvalidArgument, "continue_final_message and add_generation_prompt exclude each other");
  json::Value* messages = variables.find("messages");
  if (!messages->is_array()) return chat_template.render(variables, render);  // kwargs replaced the messages
  auto continuation =
      Continuation::mark(messages->as_array(), *conversation.continue_final_message, chat_template.source());
  if (!continuation.ok()) return continuation.error();
  auto rendered = chat_template.render(variables, render);
  if (!rendered.ok()) return rendered;
  if (Status cut = continuation.value().cut(rendered.value()); !cut.ok()) return cut.error();
  return rendered;
}

ReadyConversation::ReadyConversation(const chat::Conversation& base, std::span<const json::Value> messages)
    : variables_(template_variables(base, {messages.begin(), messages.end()}, false)),
      size_(messages.size()),
      is_replaced_(base.kwargs.find("messages") != nullptr),
      is_prompt_fixed_(base.kwargs.find("add_generation_prompt") != nullptr) {}

void ReadyConversation::push(const json::Value& message) {
  ++size_;
  if (is_replaced_) return;
  const bool has_aliases = !reasoning_field(message).empty();
  variables_.find("messages")->as_array().push_back(has_aliases ? with_reasoning_aliases(message) : message);
}

void ReadyConversation::shrink(std::size_t size) {
  size_ = size;
  if (!is_replaced_) variables_.find("messages")->as_array().resize(size);
}

Result<jinja::Rendered> ReadyConversation::render(const jinja::Template& chat_template, bool add_generation_prompt,
                                                  const ApplyOptions& options) {
  if (!is_prompt_fixed_) variables_.set("add_generation_prompt", add_generation_prompt);
  return chat_template.render(variables_, render_options(options));
}

}  // namespace rondo::tmpl
