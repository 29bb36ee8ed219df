// What other front ends and template engines would write instead.
#include "audit/trials.h"

namespace rondo::audit {
namespace {

// ---- Front ends that wrap text into parts: a list of one part in every message, empty for null

// Whether the template goes through a list of parts of a user message and writes their texts.
bool reads_parts(const Trials& trials) {
  const json::Array parts{text_part(kQuestionWord), text_part(kSecondQuestionWord)};
  const auto rendered = trials.render({plain_message("user", parts)}, {});
  if (!rendered.ok()) return false;
  const std::string& text = rendered.value().text.bytes();
  for (const std::string_view word : {kQuestionWord, kSecondQuestionWord}) {
    const std::size_t at = text.find(word);
    const text::Run* run = at == std::string::npos ? nullptr : run_at(rendered.value(), at);
    if (run == nullptr || run->kind != text::RunKind::kData) return false;
    const text::ChainTable& chains = rendered.value().origins.chains;
    if (chains.contains(run->chain, "pyrepr") || chains.contains(run->chain, "json")) return false;
  }
  return true;
}

struct Shape {
  std::string name;
  json::Array messages;
  TrialSetting setting;
};

std::vector<Shape> shapes(const Trials& trials) {
  const json::Value user = user_message();
  std::vector<Shape> out = {
      {"a system message", {plain_message("system", kSystemWord), user}, {}},
      {"several turns",
       {user, plain_message("assistant", kAnswerWord), plain_message("user", kSecondQuestionWord)},
       {}},
  };
  if (trials.writes_calls()) {
    TrialSetting tools;
    tools.tools = true;
    const json::Value call = trials.assistant({"", "", {{std::string(kToolName), json::Object{{"k", "v"}}}}});
    out.push_back({"a call and its result", {user, call, trials.result(0, kToolName, kResultWord)}, tools});
  }
  for (Shape& shape : out) shape.setting.generation_prompt = true;
  return out;
}

void compare_wrapped(const Trials& trials, Report& report) {
  if (trials.needs_parts() || !reads_parts(trials)) return;
  for (const Shape& shape : shapes(trials)) {
    const auto plain = trials.text(shape.messages, shape.setting);
    if (!plain.ok()) continue;
    const auto parts = trials.render(with_parts(shape.messages), shape.setting);
    if (parts.ok() && parts.value().text.bytes() == plain.value()) continue;
    Finding finding;
    finding.rule = "engine-parity";
    finding.level = Level::kNote;
    finding.sentence =
        "a front end that wraps text into parts, because the template takes parts, does not get the prompt of the "
        "text: "
        "seen with " +
        shape.name;
    if (parts.ok()) {
      const std::string& text = parts.value().text.bytes();
      finding.proof = difference({"text", plain.value()}, {"wrapped", text});
      finding.place = place_at(trials.context(), parts.value(), first_difference(text, plain.value()));
    } else {
      finding.proof = "wrapped, the template fails with " + text::quoted(parts.error().message);
      finding.place = place_of(trials.context(), parts.error());
    }
    finding.path = "messages";
    add_finding(report, std::move(finding));
  }
}

}  // namespace

void find_engine_differences(const Trials& trials, Report& report) { compare_wrapped(trials, report); }

}  // namespace rondo::audit
