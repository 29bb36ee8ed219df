#include "report/summary.h"

#include <algorithm>

#include "base/utf8.h"

namespace rondo::report {
namespace {

void add(Counts& counts, const Case& played, Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds: ++counts.holds; break;
    case Verdict::kSkipped: ++counts.skipped; break;
    case Verdict::kBreaks: ++(played.is_inherent ? counts.inherent : counts.breaks);
  }
}

}  // namespace

Verdict verdict_of(const Case& played) {
  const auto any = [&](Verdict wanted) {
    return std::ranges::any_of(kChecks, [&](const Check& check) { return played.*check.verdict == wanted; });
  };
  if (any(Verdict::kBreaks)) return Verdict::kBreaks;
  return any(Verdict::kHolds) ? Verdict::kHolds : Verdict::kSkipped;
}

std::string name_of(const Case& played) { return played.scenario + " / " + played.setting; }

const Rule* find_rule(std::string_view name) {
  const auto found = std::ranges::find(rules(), name, &Rule::name);
  return found == rules().end() ? nullptr : &*found;
}

Level level_of(const Report& report, const Case& played) {
  if (verdict_of(played) != Verdict::kBreaks) return Level::kNote;
  const std::string name = name_of(played);
  Level level = Level::kNote;
  bool is_named = false;
  for (const auto* list : {&report.findings, &report.notes}) {
    for (const Finding& finding : *list) {
      if (std::ranges::find(finding.scenarios, name) == finding.scenarios.end()) continue;
      is_named = true;
      level = std::max(level, finding.level);
    }
  }
  if (is_named) return level;
  const Rule* rule = played.broken ? find_rule(to_string(played.broken->cause.kind)) : nullptr;
  return rule != nullptr ? rule->level : Level::kWarning;
}

Counts count(const Report& report) {
  Counts out;
  for (const Case& played : report.cases) add(out, played, verdict_of(played));
  return out;
}

Counts count(const Report& report, const Check& check) {
  Counts out;
  for (const Case& played : report.cases) add(out, played, played.*check.verdict);
  return out;
}

std::vector<std::string> lines_of(const std::vector<Remedy>& remedies) {
  std::vector<std::string> out;
  out.reserve(remedies.size());
  for (const Remedy& remedy : remedies)
    out.push_back((remedy.is_verified ? "verified: " : "not tried: ") + remedy.sentence);
  return out;
}

std::size_t column_in_code_points(const Report& report, const causes::TemplatePlace& place) {
  if (place.column < 1 || place.line < 1 || static_cast<std::size_t>(place.line) > report.template_lines.size())
    return 1;
  const std::string_view line = report.template_lines[static_cast<std::size_t>(place.line) - 1];
  return utf8::length(line.substr(0, std::min(line.size(), static_cast<std::size_t>(place.column) - 1))) + 1;
}

}  // namespace rondo::report
