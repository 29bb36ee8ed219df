#include "audit/check.h"

#include <algorithm>
#include <utility>

#include "audit/blame.h"
#include "audit/findings.h"
#include "audit/line_diff.h"
#include "audit/properties.h"
#include "audit/remedies.h"
#include "audit/scenarios.h"
#include "audit/settings.h"
#include "audit/subject.h"
#include "base/printing.h"

namespace rondo::audit {
namespace {

std::string unknown_scenario(const std::string& name) {
  std::string out = "there is no scenario `" + printing::excerpt(name) + "`; there are";
  for (const Scenario& scenario : scenarios()) {
    out += out.ends_with("are") ? " " : ", ";
    out += scenario.name;
  }
  return out;
}

Result<std::vector<const Scenario*>> chosen(const std::vector<std::string>& wanted) {
  std::vector<const Scenario*> out;
  for (const Scenario& scenario : scenarios()) {
    if (wanted.empty() || std::ranges::find(wanted, scenario.name) != wanted.end()) out.push_back(&scenario);
  }
  for (const std::string& name : wanted) {
    if (std::ranges::find(scenarios(), name, &Scenario::name) == scenarios().end())
      return Error(ErrorCode::kInvalidArgument, unknown_scenario(name));
  }
  return out;
}

// The state of one check.
class Checker {
 public:
  Checker(const Subject& subject, std::unique_ptr<const Stage> first, const Options& options)
      : subject_(subject), first_(*first), options_(options), stages_(subject, std::move(first)) {}

  [[nodiscard]] const Stage& first() const { return first_; }

  Result<Done> run(const std::vector<const Scenario*>& scenarios, report::Report& report) {
    Settings settings = settings_of(subject_, first_);
    report.knobs = std::move(settings.knobs);
    if (!settings.note.empty()) {
      report::Finding& note = report.notes.emplace_back();
      note.rule = "not-played";
      note.level = report::Level::kNote;
      note.sentence = settings.note;
    }
    const std::size_t total = settings.list.size() * scenarios.size();
    for (const Setting& setting : settings.list) {
      const Stage* stage = stages_.get(setting);
      const bool is_default = &setting == &settings.list.front();
      for (const Scenario* scenario : scenarios) {
        if (stage != nullptr && (is_default || scenario->is_core)) play_one(*stage, settings.list, *scenario, report);
        ++done_;
        if (options_.on_progress) options_.on_progress(done_, total);
        if (failures_ >= kMostFailures) return limit();
      }
    }
    return Done{};
  }

 private:
  // A template that keeps exceeding its limits is not played to the end.
  static constexpr std::size_t kMostFailures = 3;

  void play_one(const Stage& stage, const std::vector<Setting>& settings, const Scenario& scenario,
                report::Report& report) {
    Played played = play(stage, scenario);
    if (played.ran_out_of_limits) {
      ++failures_;
      limit_ = played.outcome.note;
    }
    if (played.broken) {
      played.outcome.broken = find_break(stage, played);
      add_remedies(stages_, settings, stage, scenario, played);
    }
    report.cases.push_back(std::move(played.outcome));
  }

  [[nodiscard]] Error limit() const { return {ErrorCode::kLimit, limit_, subject_.chat_template->name()}; }

  const Subject& subject_;
  const Stage& first_;  // the stage of the default setting; `stages_` owns it
  const Options& options_;
  Stages stages_;
  std::size_t done_ = 0;
  std::size_t failures_ = 0;
  std::string limit_;
};

}  // namespace

Result<report::Report> check(const Input& input, const Options& options) {
  const auto scenarios = chosen(options.scenarios);
  if (!scenarios.ok()) return scenarios.error();
  report::Report report;
  report.model = input.model;
  report.has_tokenizer = input.tokenizer != nullptr;
  for (std::string_view line : lines_with_breaks(input.chat_template->source())) {
    if (line.ends_with('\n')) line.remove_suffix(1);
    report.template_lines.emplace_back(line);
  }

  const auto subject = make_subject(input);
  if (!subject.ok()) return subject.error();
  auto first = Stage::make(subject.value(), {"default", subject.value().base.kwargs});
  if (!first.ok()) return first.error();
  Checker checker(subject.value(), std::move(first).value(), options);
  if (auto done = checker.run(scenarios.value(), report); !done.ok()) return done.error();
  add_findings(report);
  if (options.scenarios.empty()) find_properties(checker.first().context(true), report);
  sort_findings(report);
  return report;
}

}  // namespace rondo::audit
