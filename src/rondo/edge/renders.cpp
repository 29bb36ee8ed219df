#include "edge/renders.h"

#include <algorithm>
#include <utility>

namespace rondo::edge {
namespace {

constexpr jinja::LocalTime kSomeTime = {2024, 7, 26, 10, 20, 30};
constexpr jinja::LocalTime kAnotherTime = {2031, 11, 3, 4, 5, 6};

Result<std::string> bytes_of(const Result<jinja::Rendered>& rendered) {
  if (!rendered.ok()) return rendered.error();
  return rendered.value().text.bytes();
}

}  // namespace

Renders::Renders(const JinjaSource& source)
    : source_(source),
      reads_time_(std::ranges::find(source.chat_template.names(), "strftime_now") !=
                  source.chat_template.names().end()) {}

Result<jinja::Rendered> Renders::render(json::Array messages, const Setting& setting, bool origins) const {
  (void)tmpl::shape(messages, source_.rules);
  chat::Conversation conversation = source_.base;
  conversation.messages = std::move(messages);
  conversation.add_generation_prompt = setting.generation_prompt;
  if (!thinking_variable_.empty()) conversation.kwargs.set(thinking_variable_, setting.thinking);
  return apply(conversation, setting, origins);
}

Result<jinja::Rendered> Renders::apply(const chat::Conversation& conversation, const Setting& setting,
                                       bool origins) const {
  tmpl::ApplyOptions options = source_.options;
  options.origins = origins;
  if (!options.now) options.now = kSomeTime;
  if (setting.later) options.now = kAnotherTime;
  return tmpl::apply(source_.chat_template, conversation, options);
}

Result<jinja::Rendered> Renders::traced(json::Array messages, const Setting& setting) const {
  return render(std::move(messages), setting, true);
}

Result<std::string> Renders::text(json::Array messages, const Setting& setting) const {
  return bytes_of(render(std::move(messages), setting, false));
}

Result<std::string> Renders::text_with(const json::Member& variable, json::Array messages) const {
  chat::Conversation conversation = source_.base;
  conversation.messages = std::move(messages);
  conversation.add_generation_prompt = true;
  if (!thinking_variable_.empty()) conversation.kwargs.set(thinking_variable_, false);
  conversation.kwargs.set(variable.key, variable.value);
  return bytes_of(apply(conversation, {}, false));
}

Result<std::string> Renders::text_by_default(json::Array messages) const {
  chat::Conversation conversation = source_.base;
  conversation.messages = std::move(messages);
  conversation.add_generation_prompt = true;
  return bytes_of(apply(conversation, {}, false));
}

}  // namespace rondo::edge
