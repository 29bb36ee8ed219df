#include "report/sarif.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/digest.h"
#include "report/summary.h"

namespace rondo::report {
namespace {

constexpr std::string_view kSchema = "https://json.schemastore.org/sarif-2.1.0.json";

// The path as a URI reference.  Relative paths stay relative, so that readers resolve them against the folder of the
// sources.
std::string uri_of(std::string_view path) {
  std::string out = path.starts_with('/') ? "file://" : "";
  while (path.starts_with("./")) path.remove_prefix(2);
  for (const char c : path) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("/-._~").find(c) != std::string_view::npos;
    if (is_plain) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += "0123456789ABCDEF"[byte >> 4U];
    out += "0123456789ABCDEF"[byte & 0xFU];
  }
  return out;
}

// The part of a path that is the same on every machine.
std::string_view steady_name(std::string_view path) {
  return path.starts_with('/') ? path.substr(path.rfind('/') + 1) : path;
}

json::Array rules_to_json() {
  json::Array out;
  for (const Rule& rule : rules()) {
    const std::string sentence(rule.sentence);
    out.emplace_back(
        json::Object{{"id", std::string(rule.name)},
                     {"shortDescription", json::Object{{"text", sentence}}},
                     {"fullDescription", json::Object{{"text", sentence}}},
                     {"help", json::Object{{"text", sentence + ".  docs/check.md has an example and what to do."}}},
                     {"defaultConfiguration", json::Object{{"level", std::string(to_string(rule.level))}}},
                     {"properties", json::Object{{"tags", json::Array{"chat-template"}}}}});
  }
  return out;
}

json::Value location_of(const Report& report, const causes::TemplatePlace& place) {
  json::Object out;
  if (!report.template_file.empty()) {
    json::Object physical{{"artifactLocation", json::Object{{"uri", uri_of(report.template_file)}}}};
    if (report.is_own_file && place.line > 0) {
      physical.set("region", json::Object{{"startLine", place.line},
                                          {"startColumn", column_in_code_points(report, place)},
                                          {"snippet", json::Object{{"text", place.source}}}});
    }
    out.set("physicalLocation", std::move(physical));
  }
  std::string name = report.model + ", chat template";
  if (place.line > 0) name += ", line " + std::to_string(place.line);
  out.set("logicalLocations",
          json::Array{json::Object{{"fullyQualifiedName", std::move(name)}, {"kind", "chat template"}}});
  return out;
}

std::string message_of(const Finding& finding) {
  std::string out = finding.sentence;
  if (finding.lost_tokens > 0) out += "\nlost: " + std::to_string(finding.lost_tokens) + " tokens in the worst case";
  if (!finding.path.empty()) out += "\nfield: " + finding.path;
  if (!finding.proof.empty()) out += "\nproof: " + finding.proof;
  for (const std::string& line : lines_of(finding.remedies)) out += "\nremedy, " + line;
  constexpr std::size_t kMostCases = 5;
  const std::size_t count = finding.scenarios.size();
  for (std::size_t i = 0; i < std::min(count, kMostCases); ++i) out += "\nseen in " + finding.scenarios[i];
  if (count > kMostCases) out += "\nand in " + std::to_string(count - kMostCases) + " other cases";
  return out;
}

json::Value result_of(const Report& report, const Finding& finding, std::map<std::string, int>& seen) {
  json::Object out{{"ruleId", finding.rule}};
  const Rule* rule = find_rule(finding.rule);
  if (rule != nullptr) out.set("ruleIndex", static_cast<std::size_t>(rule - rules().data()));
  out.set("level", std::string(to_string(finding.level)));
  out.set("message", json::Object{{"text", message_of(finding)}});
  out.set("locations", json::Array{location_of(report, finding.place)});
  // Equal findings on equal lines of one file are distinguished by their order.
  std::string mark = hex_digest({finding.rule, steady_name(report.template_file), finding.place.source, finding.path});
  mark += ":" + std::to_string(++seen[mark]);
  out.set("partialFingerprints", json::Object{{"primaryLocationLineHash", mark}, {"rondoFinding/v1", mark}});
  out.set("properties", json::Object{{"model", report.model}, {"lostTokens", finding.lost_tokens}});
  return out;
}

json::Object invocation_of(std::span<const Unchecked> unchecked) {
  json::Array notifications;
  for (const Unchecked& model : unchecked) {
    notifications.emplace_back(
        json::Object{{"level", "error"},
                     {"message", json::Object{{"text", model.model + " could not be checked: " + model.reason}}}});
  }
  return {{"executionSuccessful", unchecked.empty()}, {"toolExecutionNotifications", std::move(notifications)}};
}

}  // namespace

json::Value to_sarif(std::span<const Report> reports, std::span<const Unchecked> unchecked,
                     const std::string& version) {
  json::Array results;
  std::map<std::string, int> seen;
  for (const Report& report : reports) {
    for (const auto* list : {&report.findings, &report.notes}) {
      for (const Finding& finding : *list) results.emplace_back(result_of(report, finding, seen));
    }
  }
  json::Object driver{{"name", "rondo"}, {"version", version}, {"rules", rules_to_json()}};
  return json::Object{{"$schema", kSchema},
                      {"version", "2.1.0"},
                      {"runs", json::Array{json::Object{{"tool", json::Object{{"driver", std::move(driver)}}},
                                                        {"columnKind", "unicodeCodePoints"},
                                                        {"invocations", json::Array{invocation_of(unchecked)}},
                                                        {"results", std::move(results)}}}}};
}

}  // namespace rondo::report
