#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/model.h"
#include "core/prepared.h"

namespace rondo::core {
namespace {

constexpr std::array<std::pair<std::string_view, Polyfill>, 3> kPolyfills{
    {{"off", Polyfill::kOff}, {"auto", Polyfill::kAuto}, {"on", Polyfill::kOn}}};

}  // namespace

std::optional<Polyfill> polyfill_named(std::string_view name) {
  const auto found = std::ranges::find(kPolyfills, name, &std::pair<std::string_view, Polyfill>::first);
  return found == kPolyfills.end() ? std::nullopt : std::optional(found->second);
}

std::string_view to_string(Polyfill polyfill) {
  return std::ranges::find(kPolyfills, polyfill, &std::pair<std::string_view, Polyfill>::second)->first;
}

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
  // Many templates cannot be rendered without the texts that begin and end a prompt, which the tokenizer names.
  if (parts_.tokenizer == nullptr) {
    asked.conversation.bos_token = call.conversation.bos_token.value_or("Bprobe");
    asked.conversation.eos_token = call.conversation.eos_token.value_or("Eprobe");
  }
  const auto plain = known(asked);
  if (!plain.ok()) return plain.error();
  asked.conversation.tools = json::Array();  // for the template that is meant for conversations with tools
  const auto with_tools = known(std::move(asked));
  if (!with_tools.ok()) return with_tools.error();
  return capabilities_of(plain.value(), with_tools.value());
}

Result<std::shared_ptr<const Model>> Model::polyfilled(Polyfill polyfill) const {
  if (polyfill == Polyfill::kOff || parts_.templates == nullptr) return shared_from_this();
  if (parts_.strict) return Error(ErrorCode::kInvalidArgument, "polyfills need the lenient mode", parts_.name);
  const auto found = capabilities({});
  if (!found.ok()) return found.error();
  const bool all = polyfill == Polyfill::kOn;
  const auto lacks = [&](std::string_view name) { return all || !found.value().find(name)->is_supported; };
  // If the system text describes a syntax of calls, the calls must have it too, and results then answer texts.
  tmpl::Polyfills chosen{.developer = lacks("developer"),
                         .system = lacks("system"),
                         .late_system = lacks("late_system"),
                         .repeated = lacks("repeated_user"),
                         .tools = lacks("tools")};
  chosen.flat = !all && lacks("tool_calls") && !lacks("flat_tool_calls");
  chosen.calls = chosen.tools || (lacks("tool_calls") && !chosen.flat);
  if (chosen.calls) chosen.flat = false;
  chosen.results = chosen.calls || lacks("tool_results");
  if (chosen == tmpl::Polyfills{}) return shared_from_this();
  const auto studied = known({});
  if (!studied.ok()) return studied.error();
  using Content = tmpl::RoleRules::Content;
  const tmpl::MessageRules& rules = *studied.value().rules;
  const std::array contents{rules.system.content, rules.user.content, rules.assistant.content};
  chosen.parts = std::ranges::count(contents, Content::kParts) > 0 && std::ranges::count(contents, Content::kText) == 0;
  chosen.tool_list = chosen.tools && rules.needs_tool_list;
  auto templates = std::make_shared<LoadedTemplate>(*parts_.templates);
  for (std::shared_ptr<const jinja::Template>* one : {&templates->plain, &templates->tool_use}) {
    if (*one == nullptr) continue;
    jinja::CompileOptions options = (*one)->options();
    if (!options.trim_blocks) return Error(ErrorCode::kInvalidArgument, "polyfills need `trim_blocks`", parts_.name);
    options.keep_trailing_newline = true;  // it was removed already
    options.prelude = tmpl::prelude_of(chosen);
    auto compiled = jinja::Template::compile((*one)->source(), options, (*one)->name());
    if (!compiled.ok()) return compiled.error();
    *one = std::move(compiled).value();
  }
  Parts parts = parts_;
  parts.templates = std::move(templates);
  parts.polyfills = chosen;
  return std::make_shared<const Model>(std::move(parts));
}

bool Model::shows_time(bool tools) const {
  return parts_.templates != nullptr && clock_use(parts_.templates->with_tools(tools)->source()) != ClockUse::kNone;
}

const std::vector<std::string>& Model::compared_roles(bool tools) const {
  static const std::vector<std::string> kNone;
  return parts_.templates == nullptr ? kNone : parts_.templates->with_tools(tools)->compared_roles();
}

}  // namespace rondo::core
