#include "audit/remedies.h"

#include <algorithm>
#include <utility>

#include "json/print.h"

namespace rondo::audit {
namespace {

bool holds(const Played& played) {
  const report::Case& outcome = played.outcome;
  return outcome.string_prefix == report::Verdict::kHolds && outcome.token_prefix != report::Verdict::kBreaks &&
         outcome.note.empty();
}

// What `setting` sets in addition to `kwargs`.
json::Object added_by(const Setting& setting, const json::Object& kwargs) {
  json::Object out;
  for (const json::Member& member : setting.kwargs) {
    const json::Value* known = kwargs.find(member.key);
    if (known == nullptr || !(*known == member.value)) out.set(member.key, member.value);
  }
  return out;
}

// Whether `setting` keeps everything that `kwargs` sets.  A remedy may only add to what the caller wants.
bool keeps(const Setting& setting, const json::Object& kwargs) {
  return std::ranges::all_of(kwargs, [&](const json::Member& member) {
    const json::Value* kept = setting.kwargs.find(member.key);
    return kept != nullptr && *kept == member.value;
  });
}

// `first_prompt`: a setting that changes what the model is asked to do, such as not to think, is not a remedy.
void try_settings(Stages& stages, const std::vector<Setting>& settings, const Stage& stage, const Scenario& scenario,
                  const std::string& first_prompt, std::vector<report::Remedy>& out) {
  std::vector<const Setting*> smallest_first;
  for (const Setting& setting : settings) smallest_first.push_back(&setting);
  std::ranges::stable_sort(smallest_first, {}, [](const Setting* setting) { return setting->kwargs.size(); });
  for (const Setting* setting : smallest_first) {
    json::Object more = added_by(*setting, stage.setting().kwargs);
    if (more.empty() || !keeps(*setting, stage.setting().kwargs)) continue;
    const Stage* other = stages.get(*setting);
    if (other == nullptr) continue;
    const Played replayed = play(*other, scenario);
    if (!holds(replayed) || replayed.first_prompt != first_prompt) continue;
    const auto is_wider = [&](const report::Remedy& known) {
      return known.kind == report::Remedy::Kind::kVariable &&
             std::ranges::all_of(known.kwargs, [&](const json::Member& member) {
               const json::Value* same = more.find(member.key);
               return same != nullptr && *same == member.value;
             });
    };
    if (std::ranges::any_of(out, is_wider)) continue;
    std::string sentence = "set " + json::to_compact(json::Value(more)) + " in chat_template_kwargs";
    out.push_back({report::Remedy::Kind::kVariable, std::move(sentence), std::move(more), true});
  }
}

// Whether arguments in another form mend the case.
bool try_arguments(const Stage& stage, const Scenario& scenario, std::vector<report::Remedy>& out) {
  if (!scenario.has_calls()) return false;
  for (const ArgumentsForm form : {ArgumentsForm::kText, ArgumentsForm::kObject}) {
    if (!holds(play(stage, scenario, {.arguments = form}))) continue;
    const char* sentence = form == ArgumentsForm::kText ? "send the arguments as the string that the model wrote"
                                                        : "send the arguments as an object";
    out.push_back({.kind = report::Remedy::Kind::kArguments, .sentence = sentence, .is_verified = true});
    return true;
  }
  return false;
}

// Whether reasoning in the field that the template reads mends the case.
bool try_reasoning(const Stage& stage, const Scenario& scenario, std::vector<report::Remedy>& out) {
  if (scenario.reasoning == ReasoningForm::kWanted) return false;
  if (!holds(play(stage, scenario, {.reasoning = ReasoningForm::kWanted}))) return false;
  const std::string& field = stage.format().input.reasoning_field;
  out.push_back({.kind = report::Remedy::Kind::kField,
                 .sentence = "send the reasoning back, as `" + (field.empty() ? "reasoning_content" : field) + "`",
                 .is_verified = true});
  return true;
}

// Other forms of what is there in place of parts, or of the content that is missing beside calls.
void try_content(const Stage& stage, const Scenario& scenario, std::vector<report::Remedy>& out) {
  if (scenario.content == ContentForm::kWanted) return;
  if (scenario.content == ContentForm::kParts) {
    if (!holds(play(stage, scenario, {.content = ContentForm::kWanted}))) return;
    out.push_back(
        {.kind = report::Remedy::Kind::kField, .sentence = "send content as text, not as parts", .is_verified = true});
    return;
  }
  constexpr std::pair<ContentForm, const char*> kForms[] = {
      {ContentForm::kEmpty, "send `\"content\": \"\"` beside calls"},
      {ContentForm::kNull, "send `\"content\": null` beside calls"},
      {ContentForm::kAbsent, "leave `content` out beside calls"}};
  for (const auto& [form, sentence] : kForms) {
    if (form == scenario.content || !holds(play(stage, scenario, {.content = form}))) continue;
    out.push_back({.kind = report::Remedy::Kind::kField, .sentence = sentence, .is_verified = true});
    return;
  }
}

// The change to the template for a value that it prints or serialises again.  If one value lost its spelling together
// with the text around it, no template can restore it.
std::string patch_for_value(const causes::Cause& cause, const std::string& at) {
  if (cause.path.ends_with(".content")) return "let the template write content only where there is some" + at;
  if (cause.path.ends_with(".arguments")) return "let the template copy arguments that are a string as they are" + at;
  return cause.kind == causes::CauseKind::kPythonValue
             ? "let the template write values that are no text with `tojson`" + at
             : "";
}

// Whether the cause is in the content of the turn, which is a list of parts.
bool is_in_parts(const causes::Cause& cause, const Step& step) {
  const json::Value* content = step.kept.find("content");
  const std::string path = "messages[" + std::to_string(step.history.size()) + "].content";
  return content != nullptr && content->is_array() && cause.path.starts_with(path);
}

// Which other forms of the turn's fields mend the case.
struct OtherForms {
  bool arguments = false;
  bool reasoning = false;
};

// The change to make in the template.
std::string patch_for(const causes::Cause& cause, const Step& step, const OtherForms& forms) {
  const std::string at = cause.place.line > 0 ? " at line " + std::to_string(cause.place.line) : "";
  if (forms.arguments && cause.kind == causes::CauseKind::kCondition)
    return "let the template write arguments alike, given as a string and as an object" + at;
  if (forms.reasoning && cause.kind == causes::CauseKind::kReasoningDropped)
    return "let the template read reasoning under the name that was sent" + at;
  if (is_in_parts(cause, step)) return "let the template write the texts of content that is a list of parts" + at;
  switch (cause.kind) {
    case causes::CauseKind::kReasoningDropped: return "let the template keep the reasoning of earlier turns" + at;
    case causes::CauseKind::kReasoningAdded:
      return "let the template write reasoning markup only where there was some" + at;
    case causes::CauseKind::kWhitespaceStripped:
      return "let the template copy the field as it is, without cutting" + at;
    case causes::CauseKind::kWhitespaceAdded: return "let the literal" + at + " write what models write";
    case causes::CauseKind::kJsonRespelled:
    case causes::CauseKind::kPythonValue: return patch_for_value(cause, at);
    case causes::CauseKind::kDoubleEncoded:
      return "let the template serialise arguments only if they are no string" + at;
    case causes::CauseKind::kGenerationPrompt: return "let history begin a turn as the generation prompt does" + at;
    case causes::CauseKind::kMovedMessage:
    case causes::CauseKind::kMovedTools:
    case causes::CauseKind::kCondition: return "let what the template writes not depend on what follows" + at;
    case causes::CauseKind::kRewrittenId: return "let the template write ids as they are given" + at;
    case causes::CauseKind::kReordered: return "let the template keep the order that models write in" + at;
    case causes::CauseKind::kReplacedClose: return "let history close a turn with the stop token" + at;
    case causes::CauseKind::kDroppedField: return "let the template write the field" + at;
    default: return "";
  }
}

}  // namespace

const Stage* Stages::get(const Setting& setting) {
  const auto found = made_.find(setting.name);
  if (found != made_.end()) return found->second.get();
  auto made = Stage::make(subject_, setting);
  auto& kept = made_[setting.name];
  if (made.ok()) kept = std::move(made).value();
  return kept.get();
}

void add_remedies(Stages& stages, const std::vector<Setting>& settings, const Stage& stage, const Scenario& scenario,
                  Played& played) {
  if (!played.outcome.broken) return;
  std::vector<report::Remedy>& out = played.outcome.broken->remedies;
  const causes::Cause& cause = played.outcome.broken->cause;
  try_settings(stages, settings, stage, scenario, played.first_prompt, out);
  OtherForms forms;
  forms.arguments = try_arguments(stage, scenario, out);
  forms.reasoning = try_reasoning(stage, scenario, out);
  try_content(stage, scenario, out);
  const std::string patch = scenario.is_inherent ? "" : patch_for(cause, *played.broken, forms);
  if (!patch.empty()) out.push_back({.kind = report::Remedy::Kind::kPatch, .sentence = patch, .kwargs = {}});
  if (played.outcome.bridge == report::Verdict::kSkipped) return;
  report::Remedy bridge;
  bridge.kind = report::Remedy::Kind::kBridge;
  bridge.sentence = "keep the ids of prompt and completion, and append what follows (rondo bridge)";
  bridge.is_verified = played.outcome.bridge == report::Verdict::kHolds;
  out.push_back(std::move(bridge));
}

}  // namespace rondo::audit
