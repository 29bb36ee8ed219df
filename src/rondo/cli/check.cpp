// rondo check: prints a table of what holds, and what is wrong with a template.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/paint.h"
#include "cli/request.h"
#include "json/print.h"
#include "pages/check_files.h"

namespace rondo::cli {
namespace {

constexpr std::size_t kScenarioWidth = 30;
constexpr std::size_t kCellWidth = 8;
constexpr std::size_t kShownCases = 4;
constexpr std::size_t kLineTextWidth = 160;

struct ColumnOf {
  const char* title;
  const char* field;
};
constexpr ColumnOf kColumns[] = {
    {"string", "string_prefix"}, {"token", "token_prefix"}, {"bridge", "bridge"}, {"parse", "parse_of_render"}};

std::size_t count_of(const json::Value& object, std::string_view field) {
  const json::Value* value = object.find(field);
  return value == nullptr ? 0 : static_cast<std::size_t>(value->to_int64().value_or(0));
}

std::string line_of_text(std::string_view text) { return printable(elided(text, kLineTextWidth), false); }

// What a row shows for a case.
std::string verdicts(const json::Value& played) {
  std::string out;
  for (const ColumnOf& column : kColumns) out += text_of(played, column.field) + " ";
  return out;
}

std::string row_of(const json::Value& played, const Paint& paint) {
  std::string out = "  " + padded(text_of(played, "scenario"), kScenarioWidth);
  for (const ColumnOf& column : kColumns) {
    const std::string verdict = text_of(played, column.field);
    const char* const code = verdict == "holds" ? "32" : verdict == "breaks" ? "31" : "2";
    const std::string shown = verdict == "holds" ? "ok" : verdict == "breaks" ? "BREAKS" : "-";
    out += paint(code, padded(shown, kCellWidth));
  }
  std::string why = text_of(played, "note");
  if (const json::Value* broken = played.find("break")) why = text_of(*broken->find("cause"), "kind");
  if (played.is_true("inherent")) why += why.empty() ? "no fault of the template" : " (no fault of the template)";
  return out + paint("2", line_of_text(why)) + "\n";
}

std::string header_row(const Paint& paint) {
  std::string out = "  " + padded("scenario", kScenarioWidth);
  for (const ColumnOf& column : kColumns) out += padded(column.title, kCellWidth);
  return paint("1", out) + "\n";
}

// The rows of the default setting, and for each other setting the rows that differ.
std::string matrix(const json::Value& report, bool all, const Paint& paint) {
  std::map<std::string, std::string> of_default;
  std::string out = header_row(paint);
  std::string setting = "default";
  std::size_t same = 0;
  std::size_t skipped = 0;
  std::string rows;
  const auto close = [&] {
    if (setting == "default") return;
    out += paint("1", "  " + line_of_text(setting)) + ": " +
           (rows.empty() ? "as the default" : std::to_string(same) + " as under the default") +
           (skipped > 0 ? ", " + std::to_string(skipped) + " do not apply" : "") + (rows.empty() ? "\n" : ", but\n") +
           rows;
  };
  for (const json::Value& played : report.find("cases")->as_array()) {
    const std::string of = text_of(played, "setting");
    if (of != setting) {
      close();
      setting = of;
      same = 0;
      skipped = 0;
      rows.clear();
    }
    const std::string shown = verdicts(played);
    if (of == "default") {
      of_default[text_of(played, "scenario")] = shown;
      out += row_of(played, paint);
    } else if (!all && of_default[text_of(played, "scenario")] == shown) {
      ++same;
    } else if (!all && text_of(played, "string_prefix") == "skipped") {
      ++skipped;
    } else {
      rows += row_of(played, paint);
    }
  }
  close();
  return out;
}

std::string remedies_of(const json::Value& finding, const Paint& paint) {
  std::string out;
  for (const json::Value& remedy : finding.find("remedies")->as_array()) {
    out += "      " + paint("36", "-> " + line_of_text(text_of(remedy, "sentence"))) +
           (remedy.is_true("verified") ? " (tried, holds)" : "") + "\n";
  }
  return out;
}

std::string cases_of(const json::Value& finding) {
  const json::Array& scenarios = finding.find("scenarios")->as_array();
  if (scenarios.empty()) return "";
  std::string out = "      in " + std::to_string(scenarios.size()) + (scenarios.size() == 1 ? " case" : " cases");
  if (const std::size_t lost = count_of(finding, "lost_tokens"); lost > 0)
    out += ", up to " + std::to_string(lost) + (lost == 1 ? " token lost" : " tokens lost");
  out += ": ";
  for (std::size_t i = 0; i < scenarios.size() && i < kShownCases; ++i)
    out += (i == 0 ? "" : ", ") + line_of_text(scenarios[i].as_string());
  return out + (scenarios.size() > kShownCases ? ", ..." : "") + "\n";
}

std::string finding_text(const json::Value& finding, const Paint& paint) {
  const std::string level = text_of(finding, "level");
  const char* const code = level == "error" ? "1;31" : level == "warning" ? "1;33" : "1";
  std::string out = "  " + paint(code, level) + " " + paint("1", text_of(finding, "rule"));
  const json::Value* place = finding.find("place");
  if (place != nullptr) {
    out += ", line " + std::to_string(count_of(*place, "line"));
    if (const std::size_t column = count_of(*place, "column"); column > 0) out += ":" + std::to_string(column);
  }
  if (const std::string path = text_of(finding, "path"); !path.empty()) out += ", " + printable(path, false);
  out += "\n      " + line_of_text(text_of(finding, "sentence")) + "\n";
  if (place != nullptr && !text_of(*place, "source").empty())
    out += "      " + paint("2", line_of_text(text_of(*place, "source"))) + "\n";
  return out + cases_of(finding) + remedies_of(finding, paint);
}

std::string findings_text(const json::Value& report, std::string_view field, const Paint& paint) {
  const json::Array& findings = report.find(field)->as_array();
  if (findings.empty()) return "";
  std::string out = "\n" + paint("1", field == "notes" ? "Notes" : "Findings") + "\n";
  for (const json::Value& finding : findings) out += finding_text(finding, paint);
  return out;
}

std::string report_text(const json::Value& report, const CheckArguments& arguments) {
  const Paint paint = paint_for(arguments.color);
  std::string out = paint("1", printable(text_of(report, "model"), false)) + ", " +
                    counted(report.find("template_lines")->as_array().size(), "line") +
                    (report.is_true("has_tokenizer") ? "" : ", without a tokenizer: texts alone") + "\n\n";
  out += matrix(report, arguments.all, paint);
  out += findings_text(report, "findings", paint) + findings_text(report, "notes", paint);
  if (report.find("findings")->as_array().empty()) out += "\nno findings\n";
  return out;
}

int rank(std::string_view level) { return level == "error" ? 3 : level == "warning" ? 2 : level == "note" ? 1 : 0; }

bool fails(const json::Value& report, const std::string& fail_on) {
  if (fail_on == "never") return false;
  int worst = rank(text_of(report, "worst"));
  if (!report.find("notes")->as_array().empty()) worst = std::max(worst, 1);
  return worst >= rank(fail_on);
}

// A line that is overwritten again and again on a terminal.
protocol::RunOptions counting_cases(const std::string& model) {
  protocol::RunOptions options;
  if (!shows_progress()) return options;
  options.on_progress = [model](std::size_t done, std::size_t total) {
    constexpr std::size_t kEvery = 8;
    if (done != total && done % kEvery != 0) return;
    std::fprintf(stderr, "\r%s: %zu of %zu cases%s", printable(elided(model, 40), false).c_str(), done, total,
                 done == total ? kEraseLine : "");
    std::fflush(stderr);
  };
  return options;
}

Result<json::Value> check_one(const protocol::Service& service, const std::string& model,
                              const CheckArguments& arguments) {
  json::Object request{{"op", "check"}};
  json::Array scenarios;
  for (const std::string& name : arguments.scenarios) scenarios.emplace_back(name);
  if (!scenarios.empty()) request.set("scenarios", std::move(scenarios));
  return run_audit(service, std::move(request), arguments, model, counting_cases(model));
}

// How many of the three files go to standard output, which has room for one.
int count_on_output(const CheckArguments& arguments) {
  return static_cast<int>(arguments.html_file == "-") + static_cast<int>(arguments.sarif_file == "-") +
         static_cast<int>(arguments.junit_file == "-");
}

Status check_arguments(const CheckArguments& arguments) {
  const int count = count_on_output(arguments);
  if (count > 1 || (count == 1 && arguments.json))
    return Error(ErrorCode::kInvalidArgument,
                 "standard output takes one of --html, --sarif, --junit and --json: name files for the others");
  for (Status status : {check_replaced(arguments.sarif_file, "the SARIF log", "{\n  \"$schema\": ", "--sarif"),
                        check_replaced(arguments.junit_file, "the test report", "<?xml", "--junit")}) {
    if (!status.ok()) return status;
  }
  return arguments.html_file.empty() ? Done{} : check_page_file(arguments.html_file);
}

int write_one(const std::string& file, const Result<std::string>& content) {
  return content.ok() ? write_text(content.value(), file) : report(content.error());
}

// Writes the requested files.  Returns the exit status.
int write_files(const CheckArguments& arguments, const pages::Checks& checks) {
  int status = kSuccess;
  if (const std::string& file = arguments.html_file; !file.empty())
    status = std::max(status, write_one(file, pages::check_html(checks)));
  if (const std::string& file = arguments.sarif_file; !file.empty())
    status = std::max(status, write_one(file, pages::check_sarif(checks, RONDO_VERSION)));
  if (const std::string& file = arguments.junit_file; !file.empty())
    status = std::max(status, write_one(file, pages::check_junit(checks, arguments.fail_on)));
  return status;
}

}  // namespace

int run_check(const CheckArguments& arguments) {
  if (arguments.models.empty() && !arguments.chat_template.empty()) {
    CheckArguments alone = arguments;
    alone.models = {std::exchange(alone.chat_template, "")};
    return run_check(alone);
  }
  if (Status valid = check_arguments(arguments); !valid.ok()) return refuse(valid.error());
  if (arguments.fix) return run_fix(arguments);
  const bool prints_table = !arguments.json && count_on_output(arguments) == 0;
  const protocol::Service service(service_options());
  pages::Checks checks;
  int status = kSuccess;
  for (const std::string& model : arguments.models) {
    auto reply = check_one(service, model, arguments);
    if (!reply.ok()) {
      status = report(reply.error());
      checks.failures.push_back(json::Object{{"model", model}, {"message", reply.error().message}});
      continue;
    }
    if (fails(reply.value(), arguments.fail_on)) status = kFailure;
    if (prints_table) {
      const std::string gap = checks.reports.empty() ? "" : "\n";
      if (!print(gap + report_text(reply.value(), arguments))) return kFailure;
    }
    checks.reports.push_back(std::move(reply).value());
  }
  status = std::max(status, write_files(arguments, checks));
  if (!arguments.json) return status;
  const bool is_single = arguments.models.size() == 1;
  if (is_single && checks.reports.empty()) return status;
  const int printed = print_json(is_single ? checks.reports.front() : checks.to_json());
  return printed == kSuccess ? status : printed;
}

}  // namespace rondo::cli
