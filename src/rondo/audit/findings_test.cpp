// Tests how breaks and findings are put together in a report.
#include "audit/findings.h"

#include <doctest/doctest.h>

namespace rondo::audit {
namespace {

using causes::CauseKind;

// A case whose prefix breaks at the line 7 of the template.
report::Case broken_case(const std::string& scenario, CauseKind kind, const std::string& path, std::size_t lost_tokens,
                         std::vector<report::Remedy> remedies = {}) {
  report::Case out;
  out.scenario = scenario;
  out.setting = "default";
  out.broken.emplace();
  out.broken->before = "a";
  out.broken->kept = "b";
  out.broken->rerendered = "c";
  out.broken->lost_tokens = lost_tokens;
  out.broken->cause.kind = kind;
  out.broken->cause.place = {7, 3, "x"};
  out.broken->cause.path = path;
  out.broken->remedies = std::move(remedies);
  return out;
}

TEST_CASE("breaks with one cause are one finding, with the remedies of all") {
  using Kind = report::Remedy::Kind;
  report::Report report;
  report.cases = {
      broken_case("one", CauseKind::kJsonRespelled, "messages[1].tool_calls[0].function.arguments.k", 5,
                  {{.kind = Kind::kBridge, .sentence = "bridge"}, {.kind = Kind::kPatch, .sentence = "patch"}}),
      broken_case("two", CauseKind::kJsonRespelled, "messages[3].tool_calls[1].function.arguments.other", 9,
                  {{.kind = Kind::kPatch, .sentence = "patch", .is_verified = true},
                   {.kind = Kind::kVariable, .sentence = "variable"}}),
      broken_case("three", CauseKind::kJsonRespelled, "messages[3].content", 1),
      broken_case("four", CauseKind::kWhitespaceAdded, "messages[1].content", 2),
      broken_case("five", CauseKind::kRefused, "", 0),
      broken_case("six", CauseKind::kClock, "", 0),
  };
  report.cases.back().is_inherent = true;
  report.cases.emplace_back();
  add_findings(report);
  REQUIRE(report.findings.size() == 3);
  const report::Finding& first = report.findings[0];
  CHECK(first.rule == "json-respelled");
  CHECK(first.proof == R"(behind "a" the model has seen "b", and the template now writes "c")");
  CHECK(first.path == "messages[1].tool_calls[0].function.arguments.k");
  CHECK(first.scenarios == std::vector<std::string>{"one / default", "two / default"});
  CHECK(first.lost_tokens == 9);
  std::string remedies;
  for (const report::Remedy& remedy : first.remedies) remedies += remedy.sentence + (remedy.is_verified ? "! " : " ");
  CHECK(remedies == "variable patch! bridge ");
  CHECK(report.findings[1].path == "messages[3].content");
  CHECK(report.findings[2].rule == "refused");
  CHECK(report.findings[2].level == report::Level::kError);
  CHECK(report.findings[2].proof.empty());
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes[0].rule == "whitespace-added");

  // Errors come first, then what costs most tokens.
  report.findings[1].lost_tokens = 11;
  sort_findings(report);
  CHECK(report.findings[0].rule == "refused");
  CHECK(report.findings[1].lost_tokens == 11);
  CHECK(report.findings[2].lost_tokens == 9);
}

TEST_CASE("a finding is told once, and not where a break at its line tells it") {
  report::Report report;
  const auto add = [&](const std::string& rule, std::int32_t line, const std::string& path, report::Level level) {
    report::Finding finding = finding_of(rule, level);
    finding.place.line = line;
    finding.path = path;
    finding.sentence = rule;
    add_finding(report, finding);
  };
  report.cases = {broken_case("one", CauseKind::kPythonValue, "messages[1].content", 5)};
  add_findings(report);
  add("python-value", 7, "tools", report::Level::kWarning);
  CHECK(report.findings.size() == 1);
  add("python-value", 8, "tools", report::Level::kWarning);
  add("python-value", 8, "tools", report::Level::kWarning);
  add("python-value", 8, "messages", report::Level::kWarning);
  add("python-value", 9, "tools", report::Level::kWarning);
  add("collision", 7, "tools", report::Level::kError);
  CHECK(report.findings.size() == 5);
  CHECK(report.notes.empty());
  add("collision", 7, "tools", report::Level::kNote);
  CHECK(report.notes.size() == 1);
}

}  // namespace
}  // namespace rondo::audit
