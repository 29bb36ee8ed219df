#include "audit/report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

namespace rondo::audit {
namespace {

TEST_CASE("rules: every cause is one, and no name is there twice") {
  std::set<std::string_view> names;
  for (const Rule& rule : rules()) CHECK_MESSAGE(names.insert(rule.name).second, rule.name);
  for (int kind = 0; kind <= static_cast<int>(CauseKind::kCondition); ++kind)
    CHECK(names.contains(to_string(static_cast<CauseKind>(kind))));
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
  broken.cause.kind = CauseKind::kWhitespaceStripped;
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

}  // namespace
}  // namespace rondo::audit
