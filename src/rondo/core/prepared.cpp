#include "core/prepared.h"

#include <algorithm>
#include <utility>

#include "analysis/analyse.h"
#include "analysis/message_rules.h"
#include "json/print.h"

namespace rondo::core {
namespace {

// The conversation for which the format is inferred.  It has no messages and no tools, because the analysis brings its
// own.
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

std::string time_key(const Prepared& prepared) {
  const std::optional<jinja::LocalTime>& now = prepared.options.now;
  if (!now || prepared.chat_template->source().find("strftime_now") == std::string::npos) return "";
  std::string key;
  for (const int part : {now->year, now->month, now->day, now->hour, now->minute, now->second})
    key += std::to_string(part) + ' ';
  return key;
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

Memo<tmpl::MessageRules>::Made message_rules(Memo<tmpl::MessageRules>& rules, const Prepared& prepared,
                                             const chat::Conversation& conversation, const format::Format& format) {
  const chat::Conversation base = without_asked(conversation);
  return rules.get(derived_key(prepared, base), [&]() -> Memo<tmpl::MessageRules>::Made {
    return std::make_shared<const tmpl::MessageRules>(
        analysis::find_message_rules(*prepared.chat_template, options_for(prepared, base), format));
  });
}

analysis::Capabilities capabilities_of(const Known& plain, const Known& with_tools) {
  const analysis::Options plain_options = options_for(plain.prepared, without_asked(plain.conversation));
  const analysis::Options tools_options = options_for(with_tools.prepared, without_asked(with_tools.conversation));
  return analysis::find_capabilities(
      {*plain.prepared.chat_template, plain_options, *plain.format, *plain.rules},
      {*with_tools.prepared.chat_template, tools_options, *with_tools.format, *with_tools.rules});
}

Memo<analysis::ReasoningSwitch>::Made reasoning_switch(Memo<analysis::ReasoningSwitch>& switches,
                                                       const Prepared& prepared, const chat::Conversation& conversation,
                                                       const format::Format& format) {
  const chat::Conversation base = without_asked(conversation);
  return switches.get(derived_key(prepared, base), [&]() -> Memo<analysis::ReasoningSwitch>::Made {
    return std::make_shared<const analysis::ReasoningSwitch>(
        analysis::find_reasoning_switch(*prepared.chat_template, options_for(prepared, base), format));
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

}  // namespace rondo::core
