#include "api/check_files.h"

#include <optional>
#include <utility>
#include <vector>

#include "api/check_page.h"
#include "audit/junit.h"
#include "audit/sarif.h"
#include "json/print.h"

namespace rondo::api {
namespace {

Result<std::vector<audit::Report>> read_reports(const json::Array& reports) {
  std::vector<audit::Report> out;
  out.reserve(reports.size());
  for (const json::Value& report : reports) {
    auto read = audit::report_from_json(report);
    if (!read.ok()) return read.error();
    out.push_back(std::move(read).value());
  }
  return out;
}

}  // namespace

Result<std::string> check_html(const json::Array& reports) {
  const auto read = read_reports(reports);
  if (!read.ok()) return read.error();
  return check_page(read.value());
}

Result<std::string> check_sarif(const json::Array& reports, const std::string& version) {
  const auto read = read_reports(reports);
  if (!read.ok()) return read.error();
  return json::to_pretty(audit::to_sarif(read.value(), version)) + "\n";
}

Result<std::string> check_junit(const json::Array& reports, const std::string& fail_on) {
  const auto read = read_reports(reports);
  if (!read.ok()) return read.error();
  std::optional<audit::Level> level;
  for (const audit::Level candidate : {audit::Level::kNote, audit::Level::kWarning, audit::Level::kError}) {
    if (audit::to_string(candidate) == fail_on) level = candidate;
  }
  return audit::to_junit(read.value(), level);
}

}  // namespace rondo::api
