#include "audit/trials.h"

#include <algorithm>
#include <utility>

#include "probe/variables.h"

namespace rondo::audit {
namespace {

// A trial is small and takes a few thousand instructions.  A template that needs this much for one is malicious, and
// after a few such trials it will do it again.
constexpr std::size_t kOutputBytes = std::size_t{256} << 10U;
constexpr std::uint64_t kInstructions = 300'000;
constexpr std::uint64_t kIterations = 20'000;
constexpr std::size_t kLimitsMet = 3;
// How many of the template's own variables are tried.
constexpr std::size_t kVariables = 48;

// Used if the caller gives no time.
constexpr jinja::LocalTime kSomeTime{2026, 3, 14, 15, 9, 26};

const char* type_name(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull: return "null";
    case json::Kind::kBool: return "boolean";
    case json::Kind::kInteger: return "integer";
    case json::Kind::kFloat: return "number";
    case json::Kind::kString: return "string";
    case json::Kind::kArray: return "array";
    case json::Kind::kObject: return "object";
  }
  return "";
}

}  // namespace

json::Value user_message() { return plain_message("user", kQuestionWord); }

json::Value trial_tools() { return probe::parsed_tools(probe::kWordTools); }

SaidCall first_call(json::Value argument) { return {std::string(kToolName), json::Object{{"k", std::move(argument)}}}; }

SaidCall second_call() { return {std::string(kSecondToolName), json::Object{{"q", "w"}}}; }

const std::vector<ArgumentKind>& argument_kinds() {
  static const std::vector<ArgumentKind> kKinds = {
      {"strings", "Paris"},
      {"empty strings", ""},
      {"strings that read like numbers", "42"},
      {"strings that read like `true` or `null`", "true"},
      {"strings that read like JSON", R"({"a": 1})"},
      {"strings with quotes", R"(say "hi")"},
      {"strings with lines", "l1\nl2"},
      {"strings with white space at their ends", " x "},
      {"strings in other scripts", "\xC3\xA9 \xE6\x97\xA5"},
      {"strings with markup", "<b>x & y</b>"},
      {"integers", 7},
      {"floats", 1.5},
      {"whole floats", json::Number{"1.0", true}},
      {"booleans", true},
      {"null", nullptr},
      {"objects", json::Object{{"a", json::Object{{"b", 1}}}}},
      {"empty objects", json::Object{}},
      {"arrays", json::Array{"a", 1, true}},
      {"empty arrays", json::Array{}},
  };
  return kKinds;
}

json::Value tools_for(const json::Value& value) {
  json::Value tools = trial_tools();
  json::Value* function = tools.as_array()[0].as_object().find("function");
  json::Value* properties = function->as_object().find("parameters")->as_object().find("properties");
  properties->as_object().find("k")->as_object().set("type", type_name(value));
  return tools;
}

Trials::Trials(const AuditContext& context)
    : context_(context), tools_(trial_tools()), own_variables_(probe::own_variables(context.chat_template)) {
  own_variables_.resize(std::min(own_variables_.size(), kVariables));
  stand_ins_ = probe::stand_ins(own_variables_, probe::kWordTools);
  const format::Format& format = *context.format;
  writes_calls_ =
      format.calls.present && std::none_of(format.losses.begin(), format.losses.end(),
                                           [](const auto& loss) { return loss.what == "calls in history"; });
  if (find_needs()) refusal_.reset();
}

bool Trials::find_needs() {
  for (unsigned needs = 0; needs < 8; ++needs) {
    needs_tools_ = (needs & 1U) != 0;
    needs_documents_ = (needs & 2U) != 0;
    needs_stand_ins_ = (needs & 4U) != 0;
    if (needs_stand_ins_ && stand_ins_.empty()) break;
    const auto rendered = text({user_message()}, {});
    if (rendered.ok()) {
      find_content_form(rendered.value());
      return true;
    }
    if (!refusal_) refusal_ = rendered.error();
  }
  needs_tools_ = needs_documents_ = needs_stand_ins_ = false;
  return false;
}

void Trials::find_content_form(const std::string& rendered) {
  if (rendered.find(kQuestionWord) != std::string::npos) return;
  const auto parts = text(with_parts({user_message()}), {});
  needs_parts_ = parts.ok() && parts.value().find(kQuestionWord) != std::string::npos;
}

chat::Conversation Trials::conversation(const TrialSetting& setting) const {
  chat::Conversation out;
  out.bos_token = context_.base.bos_token;
  out.eos_token = context_.base.eos_token;
  out.documents = context_.base.documents;
  out.kwargs = context_.base.kwargs;
  if (setting.tools || needs_tools_) out.tools = setting.other_tools ? *setting.other_tools : tools_;
  if (needs_documents_ && !out.documents)
    out.documents = json::Array{json::Object{{"title", "a title"}, {"text", "a text"}}};
  if (needs_stand_ins_) probe::add_missing(out.kwargs, stand_ins_);
  for (const json::Member& member : setting.kwargs) out.kwargs.set(member.key, member.value);
  return out;
}

tmpl::ApplyOptions Trials::options(const TrialSetting& setting) const {
  tmpl::ApplyOptions options = context_.options;
  options.limits.output_bytes = std::min(options.limits.output_bytes, kOutputBytes);
  options.limits.instructions = std::min(options.limits.instructions, kInstructions);
  options.limits.iterations = std::min(options.limits.iterations, kIterations);
  // Without a time, the template would look as if it refused to render.
  if (!options.now) options.now = kSomeTime;
  if (setting.now) options.now = setting.now;
  if (setting.strict) options.strict = *setting.strict;
  return options;
}

Result<jinja::Rendered> Trials::apply(const json::Array& messages, const TrialSetting& setting, bool origins) const {
  if (exhausted_) return *exhausted_;
  tmpl::ApplyOptions options = this->options(setting);
  options.origins = origins;
  auto rendered = tmpl::apply(context_.chat_template, conversation(setting),
                              needs_parts_ ? with_parts(messages) : messages, setting.generation_prompt, options);
  if (!rendered.ok() && rendered.error().code == ErrorCode::kLimit && ++limits_met_ >= kLimitsMet)
    exhausted_ = rendered.error();
  return rendered;
}

Result<jinja::Rendered> Trials::render(const json::Array& messages, const TrialSetting& setting) const {
  return apply(messages, setting, true);
}

Result<std::string> Trials::text(const json::Array& messages, const TrialSetting& setting) const {
  auto rendered = apply(messages, setting, false);
  if (!rendered.ok()) return rendered.error();
  return rendered.value().text.bytes();
}

Result<render::Encoded> Trials::encode(json::Array messages, const TrialSetting& setting) const {
  if (exhausted_) return *exhausted_;
  chat::Conversation whole = conversation(setting);
  whole.messages = needs_parts_ ? with_parts(std::move(messages)) : std::move(messages);
  whole.add_generation_prompt = setting.generation_prompt;
  return render::encode(context_.chat_template, context_.tokenizer, whole, options(setting),
                        render::ContentSpecials::kText);
}

bool Trials::reads_variable(std::string_view name) const { return probe::reads_variable(context_.chat_template, name); }

std::string Trials::call_id(std::size_t index, std::string_view name) const {
  return probe::id_of(format(), name, index, probe::call_id(index));
}

json::Value Trials::result(std::size_t index, std::string_view name, json::Value content) const {
  return probe::tool_message(call_id(index, name), name, std::move(content));
}

json::Value Trials::assistant(const Saying& saying) const {
  Saying said = saying;
  for (std::size_t i = 0; i < said.calls.size(); ++i) said.calls[i].id = call_id(i, said.calls[i].name);
  return probe::assistant_message(format().input, said);
}

std::optional<WrittenTurn> Trials::write(const Saying& saying, const TrialSetting& setting) const {
  TrialSetting asking = setting;
  asking.generation_prompt = true;
  TrialSetting plain = setting;
  plain.generation_prompt = false;
  const json::Value question = user_message();
  auto full = render({question, assistant(saying)}, plain);
  if (!full.ok()) return std::nullopt;
  const std::string& whole = full.value().text.bytes();
  for (const TrialSetting& before : {asking, plain}) {
    const auto prompt = text({question}, before);
    if (!prompt.ok() || !whole.starts_with(prompt.value())) continue;
    WrittenTurn out;
    out.prompt = prompt.value();
    out.text = whole.substr(prompt.value().size());
    out.is_asked = before.generation_prompt;
    out.render = std::move(full).value();
    return out;
  }
  return std::nullopt;
}

}  // namespace rondo::audit
