// Finds dates and times in the prompt.
#include "audit/property_groups.h"

namespace rondo::audit {
namespace {

// The two times differ in every part of a date or time.
constexpr jinja::LocalTime kBefore{2026, 3, 14, 15, 9, 26};
constexpr jinja::LocalTime kAfter{2031, 11, 28, 4, 51, 53};

struct ClockShape {
  json::Array messages;
  TrialSetting setting;
};

TrialSetting at(TrialSetting setting, const jinja::LocalTime& now) {
  setting.now = now;
  return setting;
}

// A variable that can replace the date, if there is one.
std::optional<report::Remedy> fixing_variable(const Trials& trials, const ClockShape& shape) {
  for (const std::string& name : trials.own_variables()) {
    TrialSetting setting = shape.setting;
    setting.kwargs.set(name, "14 Mar 2026");
    const auto before = trials.text(shape.messages, at(setting, kBefore));
    const auto after = trials.text(shape.messages, at(setting, kAfter));
    if (!before.ok() || !after.ok() || before.value() != after.value()) continue;
    return report::Remedy{report::Remedy::Kind::kVariable, "set `" + name + "` once for each conversation",
                          json::Object{{name, "14 Mar 2026"}}, true};
  }
  return std::nullopt;
}

}  // namespace

void find_clock(const Trials& trials, report::Report& report) {
  std::vector<ClockShape> shapes = {{{user_message()}, {}},
                                    {{plain_message("system", kSystemWord), user_message()}, {}}};
  if (trials.reads_variable("tools")) {
    shapes.push_back(shapes[0]);
    shapes.back().setting.tools = true;
  }
  for (ClockShape& shape : shapes) {
    shape.setting.generation_prompt = true;
    const auto before = trials.render(shape.messages, at(shape.setting, kBefore));
    const auto after = trials.text(shape.messages, at(shape.setting, kAfter));
    if (!before.ok() || !after.ok() || before.value().text.bytes() == after.value()) continue;
    const std::string& text = before.value().text.bytes();
    report::Finding finding = finding_of("clock", report::Level::kWarning);
    finding.sentence = "the prompt holds the date or time of its rendering: another day it is another prompt";
    finding.proof = difference({"on 14 March 2026", text}, {"on 28 November 2031", after.value()});
    finding.place =
        causes::place_at(trials.context().chat_template, before.value(), first_difference(text, after.value()));
    if (auto remedy = fixing_variable(trials, shape)) finding.remedies.push_back(std::move(*remedy));
    finding.remedies.push_back(
        {.kind = report::Remedy::Kind::kBridge,
         .sentence = "keep the first prompt's ids, or give all renders of a conversation the same time"});
    add_finding(report, std::move(finding));
    return;
  }
}

}  // namespace rondo::audit
