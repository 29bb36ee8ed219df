#include "audit/trials.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::audit {
namespace {

// Flat schemas with a description everywhere: some templates cannot describe others.
constexpr const char* kTrialTools = R"([
{"type":"function","function":{"name":"find_city","description":"finds a city","parameters":{"type":"object","properties":{
 "k":{"type":"string","description":"the key"},"z":{"type":"string","description":"the last"}},"required":["k"]}}},
{"type":"function","function":{"name":"find_road","description":"finds a road","parameters":{"type":"object","properties":{
 "q":{"type":"string","description":"the query"}},"required":["q"]}}}])";

// Variables that every chat template may read.
constexpr std::array<std::string_view, 6> kUsualVariables = {
    "messages", "tools", "documents", "add_generation_prompt", "bos_token", "eos_token"};

// A trial is small: it takes some thousand instructions.  A template that needs this much for one does it for harm, and one
// that did so a few times will do it again.
constexpr std::size_t kOutputBytes = std::size_t{256} << 10U;
constexpr std::uint64_t kInstructions = 300'000;
constexpr std::uint64_t kIterations = 20'000;
constexpr std::size_t kLimitsMet = 3;
// Of a template's own variables, which are tried one by one.
constexpr std::size_t kVariables = 48;

// Stands for an absent time.
constexpr jinja::LocalTime kSomeTime{2026, 3, 14, 15, 9, 26};

// Bytes of a text that a proof shows beside the place it is about, and of a text that it shows whole.
constexpr std::size_t kBeside = 24;
constexpr std::size_t kWhole = 96;

// The nearest beginning of a character at or before `at`.
std::size_t character_at(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  while (at > 0 && at < text.size() && utf8::is_continuation(text[at])) --at;
  return at;
}

std::size_t line_begin(std::string_view source, std::int32_t line) {
  std::size_t begin = 0;
  for (std::int32_t i = 1; i < line && begin < source.size(); ++i)
    begin = std::min(source.find('\n', begin), source.size() - 1) + 1;
  return begin;
}

// The place of byte `offset` of a literal.  Template text stands in the source as it is; a string constant may not (its
// newlines are escapes) and counts as one place.
text::Literal literal_place(const jinja::Template& chat_template, std::size_t literal, std::size_t offset) {
  text::Literal at = chat_template.literals()[literal];
  const std::string_view before = std::string_view(chat_template.literal_texts()[literal]).substr(0, offset);
  const std::string_view source = chat_template.source();
  const std::size_t begin = line_begin(source, at.line) + static_cast<std::size_t>(std::max(at.column, 1)) - 1;
  if (before.empty() || !source.substr(std::min(begin, source.size())).starts_with(before)) return at;
  const std::size_t newline = before.rfind('\n');
  at.line += static_cast<std::int32_t>(std::count(before.begin(), before.end(), '\n'));
  at.column =
      static_cast<std::int32_t>(newline == std::string_view::npos ? static_cast<std::size_t>(at.column) + before.size()
                                                                  : before.size() - newline);
  return at;
}

bool is_usual(std::string_view name) {
  return std::find(kUsualVariables.begin(), kUsualVariables.end(), name) != kUsualVariables.end();
}

}  // namespace

json::Value plain_message(std::string_view role, json::Value content) {
  return json::Object{{"role", role}, {"content", std::move(content)}};
}

json::Value user_message() { return plain_message("user", kQuestionWord); }

json::Value text_part(std::string_view text) { return json::Object{{"type", "text"}, {"text", text}}; }

json::Array with_parts(json::Array messages) {
  for (json::Value& message : messages) {
    json::Value* content = message.as_object().find("content");
    if (content == nullptr) continue;
    if (content->is_string()) {
      *content = json::Array{text_part(std::string(content->as_string()))};
    } else if (content->is_null()) {
      *content = json::Array{};
    }
  }
  return messages;
}

json::Value trial_tools() { return json::parse(kTrialTools).value(); }

Trials::Trials(const AuditContext& context) : context_(context), tools_(trial_tools()) {
  for (const std::string& name : context.chat_template.undeclared_variables()) {
    if (is_usual(name) || own_variables_.size() >= kVariables) continue;
    own_variables_.push_back(name);
    stand_ins_.set(name, kTrialTools);
  }
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
  if (needs_stand_ins_) {
    for (const json::Member& member : stand_ins_) {
      if (out.kwargs.find(member.key) == nullptr) out.kwargs.set(member.key, member.value);
    }
  }
  for (const json::Member& member : setting.kwargs) out.kwargs.set(member.key, member.value);
  return out;
}

tmpl::ApplyOptions Trials::options(const TrialSetting& setting) const {
  tmpl::ApplyOptions options = context_.options;
  options.limits.output_bytes = std::min(options.limits.output_bytes, kOutputBytes);
  options.limits.instructions = std::min(options.limits.instructions, kInstructions);
  options.limits.iterations = std::min(options.limits.iterations, kIterations);
  // That nobody says what time it is should not look as if the template refused to render.
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

bool Trials::reads_variable(std::string_view name) const {
  const std::vector<std::string>& names = context_.chat_template.undeclared_variables();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string Trials::call_id(std::size_t index, std::string_view name) const {
  const auto& pieces = format().calls.pieces;
  const bool is_named = std::any_of(pieces.begin(), pieces.end(),
                                    [](const auto& piece) { return piece.kind == format::CallPiece::Kind::kNameInId; });
  // Where the id carries the name it must do so here too; else nine letters and digits, as some templates insist on.
  if (is_named) return "functions." + std::string(name) + ":" + std::to_string(index);
  return "abcdef00" + std::to_string(index);
}

json::Value Trials::result(std::size_t index, std::string_view name, json::Value content) const {
  return json::Object{
      {"role", "tool"}, {"tool_call_id", call_id(index, name)}, {"name", name}, {"content", std::move(content)}};
}

json::Value Trials::assistant(const TurnParts& parts) const {
  const format::InputShape& input = format().input;
  json::Object out{{"role", "assistant"}};
  if (!input.reasoning_part.empty() && !parts.reasoning.empty()) {
    json::Array list{json::Object{{"type", input.reasoning_part}, {input.reasoning_part, parts.reasoning}}};
    if (!parts.content.empty()) list.emplace_back(json::Object{{"type", "text"}, {"text", parts.content}});
    out.set("content", std::move(list));
  } else if (!parts.content.empty()) {
    out.set("content", parts.content);
  } else if (input.no_content != format::NoContent::kAbsent) {
    out.set("content", input.no_content == format::NoContent::kNull ? json::Value() : json::Value(""));
  }
  if (!parts.reasoning.empty() && !input.reasoning_field.empty()) out.set(input.reasoning_field, parts.reasoning);
  json::Array calls;
  for (std::size_t i = 0; i < parts.calls.size(); ++i) {
    const TrialCall& call = parts.calls[i];
    json::Object function{{"name", call.name}, {"arguments", call.arguments}};
    if (input.arguments_as_text) function.set("arguments", json::to_python(json::Value(call.arguments), {}));
    calls.emplace_back(json::Object{{"id", call_id(i, call.name)}, {"type", "function"}, {"function", function}});
  }
  if (!calls.empty()) out.set("tool_calls", std::move(calls));
  return json::Value(std::move(out));
}

std::optional<WrittenTurn> Trials::write(const TurnParts& parts, const TrialSetting& setting) const {
  TrialSetting asking = setting;
  asking.generation_prompt = true;
  TrialSetting plain = setting;
  plain.generation_prompt = false;
  const json::Value question = user_message();
  auto full = render({question, assistant(parts)}, plain);
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

// ---- Places and proofs

TemplatePlace place_of_line(const AuditContext& context, std::int32_t line, std::int32_t column) {
  if (line <= 0) return {};
  const std::string_view source = context.chat_template.source();
  const std::size_t begin = line_begin(source, line);
  const std::string_view text = source.substr(begin, source.find('\n', begin) - begin);
  return {line, column, std::string(format::trimmed(text))};
}

TemplatePlace place_at(const AuditContext& context, const jinja::Rendered& rendered, std::size_t at) {
  if (rendered.text.empty()) return {};
  at = std::min(at, rendered.text.size() - 1);
  std::size_t begin = 0;
  for (const text::Run& run : rendered.text.runs()) {
    if (at >= begin + run.size) {
      begin += run.size;
      continue;
    }
    text::Literal place;
    if (run.kind == text::RunKind::kLiteral) {
      place = literal_place(context.chat_template, run.origin, run.source_offset + (at - begin));
    } else if (run.expression > 0) {
      place = context.chat_template.expressions()[run.expression - 1];
    }
    return place_of_line(context, place.line, place.column);
  }
  return {};
}

TemplatePlace place_of(const AuditContext& context, const Error& error) {
  return place_of_line(context, error.line, error.column);
}

std::string excerpt(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t from = character_at(text, begin - std::min(begin, kBeside));
  const std::size_t to = character_at(text, std::min(text.size(), std::max(begin, end) + kBeside));
  const std::string shown = shortened(text.substr(from, to - from));
  return (from > 0 ? "..." : "") + shown + (to < text.size() ? "..." : "");
}

std::string shortened(std::string_view text) {
  if (text.size() <= kWhole) return text::quoted(text);
  const std::size_t half = kWhole / 2;
  return text::quoted(text.substr(0, character_at(text, half))) + "..." +
         text::quoted(text.substr(character_at(text, text.size() - half)));
}

std::size_t first_difference(std::string_view a, std::string_view b) {
  const std::size_t size = std::min(a.size(), b.size());
  std::size_t at = 0;
  while (at < size && a[at] == b[at]) ++at;
  return character_at(a, at);
}

std::string difference(const Named& first, const Named& second) {
  const std::size_t at = first_difference(first.text, second.text);
  return std::string(first.name) + " " + excerpt(first.text, at, at + kBeside) + "; " + std::string(second.name) + " " +
         excerpt(second.text, at, at + kBeside);
}

std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " and " : ", ";
    out += words[i];
  }
  return out;
}

namespace {

// What the template says: the quoted part of a refusal's proof.
std::string_view reason_of(const Finding& finding) {
  const std::string_view proof = finding.proof;
  return proof.substr(std::min(proof.find('"'), proof.size()));
}

// Whether the same refusal was found by another conversation; then that has the remedies of both, and the worse level.
bool is_merged(Finding& finding, Report& report) {
  for (std::vector<Finding>* const list : {&report.findings, &report.notes}) {
    const auto known = std::ranges::find_if(*list, [&](const Finding& other) {
      return other.rule == finding.rule && other.place == finding.place && reason_of(other) == reason_of(finding);
    });
    if (known == list->end()) continue;
    if (known->level >= finding.level) {
      known->remedies.insert(known->remedies.end(), finding.remedies.begin(), finding.remedies.end());
      return true;
    }
    finding.remedies.insert(finding.remedies.begin(), known->remedies.begin(), known->remedies.end());
    list->erase(known);
    return false;
  }
  return false;
}

}  // namespace

void add_finding(Report& report, Finding finding) {
  const auto is_break = [&finding](const Finding& other) {
    return !other.scenarios.empty() && other.rule == finding.rule && other.place.line == finding.place.line;
  };
  if (std::any_of(report.findings.begin(), report.findings.end(), is_break)) return;
  if (finding.rule == "refused" && is_merged(finding, report)) return;
  const auto is_same = [&finding](const Finding& other) {
    return other.rule == finding.rule && other.place.line == finding.place.line && other.path == finding.path &&
           other.sentence == finding.sentence;
  };
  std::vector<Finding>& list = finding.level == Level::kNote ? report.notes : report.findings;
  if (std::none_of(list.begin(), list.end(), is_same)) list.push_back(std::move(finding));
}

}  // namespace rondo::audit
