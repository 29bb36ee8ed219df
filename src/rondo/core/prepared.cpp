#include "core/prepared.h"

#include <algorithm>
#include <utility>

#include "analysis/analyse.h"
#include "analysis/message_rules.h"
#include "core/fields.h"
#include "json/print.h"

namespace rondo::core {
namespace {

// The conversation for which the format is inferred.  It has no messages and no tools, because the analysis brings its
// own.
chat::Conversation without_asked(const chat::Conversation& conversation) {
  chat::Conversation base;
  base.kwargs = conversation.kwargs;
  base.bos_token = conversation.bos_token;
  base.eos_token = conversation.eos_token;
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

// Whether every directive is one of a day, a month or a year.
bool is_date_format(std::string_view format) {
  constexpr std::string_view kFlags = "-_0^#";
  constexpr std::string_view kOfDates = "aAbBCdDeFgGhjmuUVwWxyY%";
  for (std::size_t at = format.find('%'); at != std::string_view::npos; at = format.find('%', at + 1)) {
    at = format.find_first_not_of(kFlags, at + 1);
    if (at == std::string_view::npos || kOfDates.find(format[at]) == std::string_view::npos) return false;
  }
  return true;
}

}  // namespace

chat::Conversation without_messages(const chat::Conversation& conversation) {
  chat::Conversation base = without_asked(conversation);
  base.tools = conversation.tools;
  base.documents = conversation.documents;
  return base;
}

std::string derived_key(const Prepared& prepared, const chat::Conversation& conversation) {
  // The parts of the template's variables, each as JSON.  Tools may be long, so nothing is copied for it.
  std::string out = prepared.is_tool_template ? "tools" : "plain";
  const auto add = [&out](std::string_view part) { out.append(" ").append(part); };
  for (const auto* list : {&conversation.tools, &conversation.documents})
    add(*list ? json::to_compact(**list) : "null");
  for (const auto* token : {&conversation.bos_token, &conversation.eos_token})
    add(*token ? json::to_compact(json::Value(**token)) : "null");
  add(json::to_compact(json::Value(conversation.kwargs)));
  return out;
}

// Only calls with a literal format of a date, and tests whether the function exists, are known to show no more.
ClockUse clock_use(std::string_view source) {
  constexpr std::string_view kFunction = "strftime_now";
  constexpr std::string_view kBlank = " \t\n";
  ClockUse use = ClockUse::kNone;
  const auto next = [&](std::size_t at) { return std::min(source.find_first_not_of(kBlank, at), source.size()); };
  for (std::size_t at = source.find(kFunction); at != std::string_view::npos; at = source.find(kFunction, at)) {
    use = ClockUse::kDate;
    at = next(at + kFunction.size());
    if (source.substr(at, 3) == "is ") continue;
    const std::size_t open = source.substr(at, 1) == "(" ? next(at + 1) : source.size();
    if (open == source.size() || (source[open] != '"' && source[open] != '\'')) return ClockUse::kTime;
    const std::size_t close = std::min(source.find(source[open], open + 1), source.size());
    const bool is_literal = source.substr(next(std::min(close + 1, source.size())), 1) == ")";
    if (!is_literal || !is_date_format(source.substr(open + 1, close - open - 1))) return ClockUse::kTime;
    at = close;
  }
  return use;
}

std::string time_key(const Prepared& prepared) {
  const std::optional<jinja::LocalTime>& now = prepared.options.now;
  const ClockUse use = clock_use(prepared.chat_template->source());
  if (!now || use == ClockUse::kNone) return "";
  const std::string text = time_text(*now);
  return use == ClockUse::kDate ? text.substr(0, text.find('T')) : text;
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
