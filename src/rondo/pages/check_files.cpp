#include "pages/check_files.h"

#include <optional>
#include <utility>
#include <vector>

#include "json/print.h"
#include "pages/check_page.h"
#include "report/junit.h"
#include "report/sarif.h"

namespace rondo::pages {
namespace {

struct Read {
  std::vector<report::Report> reports;
  std::vector<report::Unchecked> unchecked;
};

Result<Read> read(const Checks& checks) {
  Read out;
  for (const json::Value& report : checks.reports) {
    auto one = report::report_from_json(report);
    if (!one.ok()) return one.error();
    out.reports.push_back(std::move(one).value());
  }
  for (const json::Value& failure : checks.failures) {
    const auto model = failure.find_string("model");
    const auto message = failure.find_string("message");
    if (!model || !message)
      return Error(ErrorCode::kInvalidArgument, "a failure of a check is an object with `model` and `message`");
    out.unchecked.push_back({std::string(*model), std::string(*message)});
  }
  return out;
}

}  // namespace

json::Value Checks::to_json() const {
  json::Object out{{"reports", reports}};
  if (!failures.empty()) out.set("failures", failures);
  return out;
}

Result<std::string> check_html(const Checks& checks) {
  const auto parts = read(checks);
  if (!parts.ok()) return parts.error();
  return check_page(parts.value().reports, parts.value().unchecked);
}

Result<std::string> check_sarif(const Checks& checks, const std::string& version) {
  const auto parts = read(checks);
  if (!parts.ok()) return parts.error();
  return json::to_pretty(report::to_sarif(parts.value().reports, parts.value().unchecked, version)) + "\n";
}

Result<std::string> check_junit(const Checks& checks, const std::string& fail_on) {
  const auto parts = read(checks);
  if (!parts.ok()) return parts.error();
  std::optional<report::Level> level;
  for (const report::Level candidate : {report::Level::kNote, report::Level::kWarning, report::Level::kError}) {
    if (report::to_string(candidate) == fail_on) level = candidate;
  }
  return report::to_junit(parts.value().reports, parts.value().unchecked, level);
}

}  // namespace rondo::pages
