// Known breaks of real templates, and of invented ones: for each the cause and the line of the template, read off its source by people.
//
// golden/check/labels.jsonl: {"model": row of a corpus, "scenario", "setting", "kind", "line"}.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "audit/check.h"
#include "base/files.h"
#include "json/parse.h"
#include "tests/support/audits.h"

namespace rondo {
namespace {

struct Label {
  std::string model;
  std::string scenario;
  std::string setting;
  std::string kind;
  std::int64_t line = 0;
};

std::vector<Label> labels() {
  std::vector<Label> out;
  const std::string text = files::read(RONDO_SOURCE_DIR "/tests/golden/check/labels.jsonl").value();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const json::Value row = json::parse(text.substr(begin, end - begin)).value();
    begin = end + 1;
    const auto field = [&](const char* name) { return std::string(*row.find_string(name)); };
    out.push_back({field("model"), field("scenario"), field("setting"), field("kind"), *row.find("line")->to_int64()});
  }
  return out;
}

TEST_CASE("known breaks: cause and line, in at least 98 of 100") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  std::map<std::string, std::optional<report::Report>> reports;
  std::size_t right = 0;
  std::size_t played = 0;
  for (const Label& label : labels()) {
    if (!reports.contains(label.model)) reports[label.model] = test::audit_of(*corpus, label.model);
    const auto& report = reports[label.model];
    if (!report) continue;
    ++played;
    const auto found = std::ranges::find_if(report->cases, [&](const report::Case& item) {
      return item.scenario == label.scenario && item.setting == label.setting;
    });
    std::string said = "not played";
    if (found != report->cases.end() && found->broken) {
      const causes::Cause& cause = found->broken->cause;
      said = std::string(to_string(cause.kind)) + " line " + std::to_string(cause.place.line);
    } else if (found != report->cases.end()) {
      said = found->note.empty() ? "it holds" : found->note;
    }
    const bool is_right = said == label.kind + " line " + std::to_string(label.line);
    right += is_right ? 1 : 0;
    const std::string expected = label.kind + " line " + std::to_string(label.line);
    const std::string what = label.model + " " + label.scenario + " " + label.setting;
    if (!is_right) MESSAGE(what << ": expected " << expected << ", found " << said);
  }
  MESSAGE(right << " of " << played << " are right");
  CHECK(played >= 60);
  CHECK(right * 100 >= played * 98);
}

}  // namespace
}  // namespace rondo
