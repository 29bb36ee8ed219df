#include "core/prepared.h"

#include <algorithm>
#include <utility>

#include "analysis/analyse.h"
#include "json/print.h"

namespace rondo::core {
namespace {

// What stands for the messages that a request leaves out.
json::Array one_user_message() { return {json::Object{{"role", "user"}, {"content", "Hello"}}}; }

// Offset behind the last byte that came from `messages[i]` with i < `below`, or from the tools or documents.
std::size_t end_of_earlier_data(const jinja::Rendered& rendered, std::int32_t below) {
  std::size_t at = 0;
  std::size_t end = 0;
  for (const text::Run& run : rendered.text.runs()) {
    at += run.size;
    const text::PathId path = run.path();
    if (path == text::PathId::kNone) continue;
    const std::int32_t message = rendered.origins.paths.message(path);
    const std::string_view root = rendered.origins.paths.root(path);
    if (message == text::kNoMessage ? root == "tools" || root == "documents" : message < below) end = at;
  }
  return end;
}

// What a format is inferred for: the analysis brings messages and tools of its own.
chat::Conversation without_asked(const chat::Conversation& conversation) {
  chat::Conversation base = without_messages(conversation);
  base.tools.reset();
  base.documents.reset();
  return base;
}

analysis::Options options_for(const Prepared& prepared, const chat::Conversation& base) {
  analysis::Options options;
  options.bos_token = base.bos_token;
  options.eos_token = base.eos_token;
  options.kwargs = base.kwargs;
  options.now = prepared.options.now;
  options.tokenizer = prepared.tokenizer.get();
  options.limits = prepared.options.limits;
  return options;
}

// Members of `corrections` replace those of `to`; objects are merged.
void correct(json::Object& to, const json::Object& corrections) {
  for (const json::Member& member : corrections) {
    json::Value* old = to.find(member.key);
    if (old != nullptr && old->is_object() && member.value.is_object()) {
      correct(old->as_object(), member.value.as_object());
    } else {
      to.set(member.key, member.value);
    }
  }
}

Memo<format::Format>::Made corrected(const format::Format& inferred, const json::Object& corrections) {
  json::Value merged = format::to_json(inferred);
  correct(merged.as_object(), corrections);
  auto format = format::from_json(merged);
  if (!format.ok()) {
    Error error = format.error();
    error.message = "`corrections`: " + error.message;
    return error;
  }
  return std::make_shared<const format::Format>(std::move(format).value());
}

// What the format says that the template writes for an answer under the switches of `kwargs`.
std::string usual_prompt(const format::Format& format, const json::Object& kwargs) {
  std::string_view name = "default";
  for (const char* field : {"enable_thinking", "thinking"}) {
    const json::Value* value = kwargs.find(field);
    if (value != nullptr && value->is_bool()) name = value->as_bool() ? "on" : "off";
  }
  const format::GenerationPrompt* prompt = format.generation_prompt(name);
  return prompt != nullptr ? prompt->text : "";
}

}  // namespace

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
  return (prepared.is_tool_template ? "tools " : "plain ") +
         json::to_compact(tmpl::template_variables(without_messages(conversation)));
}

Memo<format::Format>::Made inferred_format(Memo<format::Format>& formats, const Prepared& prepared,
                                           const chat::Conversation& conversation,
                                           const std::optional<json::Object>& corrections) {
  const chat::Conversation base = without_asked(conversation);
  return formats.get(derived_key(prepared, base), [&]() -> Memo<format::Format>::Made {
    auto format = analysis::analyse(*prepared.chat_template, options_for(prepared, base));
    if (!format.ok() || !corrections) return format;
    return corrected(*format.value(), *corrections);
  });
}

Result<analysis::Explanation> explained_format(const Prepared& prepared, const chat::Conversation& conversation,
                                               const std::optional<json::Object>& corrections) {
  auto explanation = analysis::explain(*prepared.chat_template, options_for(prepared, without_asked(conversation)));
  if (!explanation.ok() || !corrections) return explanation;
  auto format = corrected(*explanation.value().format, *corrections);
  if (!format.ok()) return format.error();
  explanation.value().format = std::move(format).value();
  return explanation;
}

Result<std::string> prompt_tail(const Prepared& prepared, chat::Conversation conversation, bool has_messages,
                                const format::Format& format) {
  if (!has_messages && !conversation.continue_final_message) conversation.messages = one_user_message();
  auto rendered = tmpl::apply(*prepared.chat_template, conversation, prepared.options);
  if (!rendered.ok()) {
    if (rendered.error().code == ErrorCode::kLimit || conversation.continue_final_message) return rendered.error();
    // A template that refuses the conversation still writes the prompt for an answer as it does for others.
    return usual_prompt(format, conversation.kwargs);
  }
  const auto count = static_cast<std::int32_t>(conversation.messages.size());
  const std::int32_t below = conversation.continue_final_message ? count - 1 : count;
  return rendered.value().text.bytes().substr(end_of_earlier_data(rendered.value(), below));
}

}  // namespace rondo::core
