#include "report/report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/files.h"
#include "report/summary.h"

namespace rondo::report {
namespace {

TEST_CASE("rules: every cause is one, and no name is there twice") {
  std::set<std::string_view> names;
  for (const Rule& rule : rules()) CHECK_MESSAGE(names.insert(rule.name).second, rule.name);
  for (int kind = 0; kind <= static_cast<int>(causes::CauseKind::kCondition); ++kind)
    CHECK(names.contains(to_string(static_cast<causes::CauseKind>(kind))));
}

TEST_CASE("rules: docs/check.md explains each of them") {
  const std::string page = files::read(std::string(RONDO_SOURCE_DIR) + "/docs/check.md").value();
  for (const Rule& rule : rules())
    CHECK_MESSAGE(page.find("**`" + std::string(rule.name) + "`**") != std::string::npos, rule.name);
}

TEST_CASE("a report's worst level is that of its findings, not of its notes") {
  Report report;
  report.notes.emplace_back().level = Level::kError;
  CHECK(report.worst() == Level::kNote);
  CHECK(to_json(report).find_string("worst") == "none");
  report.findings.emplace_back().level = Level::kWarning;
  CHECK(report.worst() == Level::kWarning);
  CHECK(to_json(report).find_string("worst") == "warning");
}

TEST_CASE("a break is told with its cause, place and remedies") {
  Report report;
  Case played;
  played.scenario = "call-result";
  played.token_prefix = Verdict::kBreaks;
  Break& broken = played.broken.emplace();
  broken.cause.kind = causes::CauseKind::kWhitespaceStripped;
  broken.cause.place = {3, 5, "{{ x }}"};
  Remedy& remedy = broken.remedies.emplace_back();
  remedy.kind = Remedy::Kind::kVariable;
  remedy.kwargs.set("keep", true);
  report.cases.push_back(played);
  const json::Value told = to_json(report);
  const json::Value& first = told.find("cases")->as_array().front();
  CHECK(first.find_string("token_prefix") == "breaks");
  const json::Value* cause = first.find("break")->find("cause");
  CHECK(cause->find_string("kind") == "whitespace-stripped");
  CHECK(cause->find("place")->find("line")->to_int64() == 3);
  CHECK(first.find("break")->find("remedies")->as_array().front().find("kwargs")->find("keep")->as_bool());
}

Case case_of(Verdict string_prefix, Verdict bridge, bool is_inherent = false) {
  Case played;
  played.scenario = "call";
  played.setting = "default";
  played.string_prefix = string_prefix;
  played.bridge = bridge;
  played.is_inherent = is_inherent;
  return played;
}

TEST_CASE("a case breaks if one of its checks does, and counts so") {
  Report report;
  report.cases = {case_of(Verdict::kBreaks, Verdict::kHolds), case_of(Verdict::kHolds, Verdict::kSkipped),
                  case_of(Verdict::kSkipped, Verdict::kSkipped), case_of(Verdict::kSkipped, Verdict::kHolds),
                  case_of(Verdict::kBreaks, Verdict::kBreaks, true)};
  const auto told = [](const Counts& counts) {
    return std::to_string(counts.holds) + " hold, " + std::to_string(counts.breaks) + " break, " +
           std::to_string(counts.skipped) + " skipped, " + std::to_string(counts.inherent) + " inherent";
  };
  CHECK(told(count(report)) == "2 hold, 1 break, 1 skipped, 1 inherent");
  CHECK(told(count(report, kChecks[0])) == "1 hold, 1 break, 2 skipped, 1 inherent");
  CHECK(told(count(report, kChecks[2])) == "2 hold, 0 break, 2 skipped, 1 inherent");
}

TEST_CASE("how bad a case is: as the findings that name it say, else as the rule of its cause") {
  Report report;
  Case played = case_of(Verdict::kBreaks, Verdict::kHolds);
  CHECK(level_of(report, case_of(Verdict::kHolds, Verdict::kHolds)) == Level::kNote);
  CHECK(level_of(report, played) == Level::kWarning);  // without a known cause
  Break& broken = played.broken.emplace();
  broken.cause.kind = causes::CauseKind::kWhitespaceAdded;
  CHECK(level_of(report, played) == Level::kNote);
  broken.cause.kind = causes::CauseKind::kDroppedField;
  CHECK(level_of(report, played) == Level::kError);
  Finding finding;
  finding.level = Level::kWarning;
  finding.scenarios = {"other / default"};
  report.findings = {finding};
  CHECK(level_of(report, played) == Level::kError);
  finding.scenarios.push_back(name_of(played));
  finding.level = Level::kNote;
  report.notes = {finding};
  CHECK(level_of(report, played) == Level::kNote);
  finding.level = Level::kWarning;
  report.findings.push_back(finding);
  CHECK(level_of(report, played) == Level::kWarning);
}

TEST_CASE("rules are found by their name, remedies are told, columns are counted in characters") {
  REQUIRE(find_rule("clock") != nullptr);
  CHECK(find_rule("clock")->sentence == "the prompt holds a date or a time");
  CHECK(find_rule("clocks") == nullptr);
  CHECK(lines_of({{.sentence = "set it", .is_verified = true}, {.sentence = "leave it"}}) ==
        std::vector<std::string>{"verified: set it", "not tried: leave it"});
  Report report;
  report.template_lines = {"a", "\u00e9\u00e9b"};
  const auto column = [&](std::int32_t line, std::int32_t at) { return column_in_code_points(report, {line, at, ""}); };
  CHECK(column(1, 1) == 1);
  CHECK(column(1, 2) == 2);
  CHECK(column(1, 9) == 2);
  CHECK(column(2, 5) == 3);
  for (const auto& [line, at] : {std::pair{0, 2}, {3, 2}, {2, 0}}) CHECK(column(line, at) == 1);
}

}  // namespace
}  // namespace rondo::report
