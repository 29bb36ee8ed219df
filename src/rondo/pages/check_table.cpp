// Shows the table of a check's conversations.
#include <algorithm>
#include <tuple>

#include "pages/check_parts.h"
#include "pages/html.h"
#include "report/summary.h"

namespace rondo::pages {
namespace {

using report::Case;
using report::Verdict;

constexpr std::array<std::string_view, 5> kColumns = {"string", "token", "bridge", "parse", "write back"};
static_assert(kColumns.size() == report::kChecks.size());

std::string_view symbol_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHolds: return "\u2713";
    case Verdict::kBreaks: return "\u2717";
    case Verdict::kSkipped: return "\u2013";
  }
  return "";
}

// Whether two settings can share a row.
bool is_alike(const Case& a, const Case& b) {
  const auto same = [&](const report::Check& check) { return a.*check.verdict == b.*check.verdict; };
  if (!std::ranges::all_of(report::kChecks, same) || a.broken.has_value() != b.broken.has_value()) return false;
  return !a.broken || (a.broken->cause.kind == b.broken->cause.kind && a.broken->cause.place == b.broken->cause.place);
}

// The first case of the same scenario, which represents those like it.
const Case& first_of(const report::Report& report, const Case& played) {
  return *std::ranges::find(report.cases, played.scenario, &Case::scenario);
}

std::size_t count_alike(const report::Report& report, const Case& first) {
  return static_cast<std::size_t>(std::ranges::count_if(report.cases, [&](const Case& other) {
    return &other != &first && other.scenario == first.scenario && is_alike(first, other);
  }));
}

std::string verdict_cells(const Case& played) {
  std::string out;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    const Verdict verdict = played.*report::kChecks[i].verdict;
    const std::string_view word = report::to_string(verdict);
    out.append("<td class=\"v ").append(word).append("\" data-name=\"").append(kColumns[i]);
    out.append("\"><span aria-hidden=\"true\">").append(symbol_of(verdict)).append("</span> ");
    out.append(word).append("</td>");
  }
  return out;
}

std::string cause_cell(const CheckedModel& model, const Case& played) {
  std::string out = "<td class=\"why\">";
  if (played.broken) {
    const report::Break& broken = *played.broken;
    out += "<b>" + std::string(causes::to_string(broken.cause.kind)) + "</b> ";
    out += place_link(model, broken.cause.place);
    if (broken.lost_tokens > 0)
      out += " <span class=\"lost\">\u2212" + std::to_string(broken.lost_tokens) + " tokens</span>";
    if (played.is_inherent) out += " <span class=\"tag\">inherent</span>";
  } else if (!played.note.empty()) {
    out += "<span class=\"soft\">" + shown(played.note) + "</span>";
  }
  return out + "</td>";
}

std::string row(const CheckedModel& model, std::size_t index, bool has_body) {
  const Case& played = model.report.cases[index];
  const Case& first = first_of(model.report, played);
  const bool is_first = &first == &played;
  std::string classes = is_first ? "first" : is_alike(first, played) ? "alike" : "";
  if (played.is_inherent) classes += " inherent";
  const std::string title = shown(played.title.empty() ? played.scenario : played.title);
  std::string out = "<tr class=\"" + classes + "\" data-setting=\"" + attribute_text(played.setting) +
                    "\" data-verdict=\"" + std::string(report::to_string(report::verdict_of(played))) +
                    "\" data-case=\"" + (has_body ? model.case_id(index) : "") + "\"><th scope=\"row\">";
  out += has_body ? "<a href=\"#" + model.case_id(index) + "\">" + title + "</a>" : title;
  out += " <span class=\"id\">" + shown(played.scenario) + "</span></th><td class=\"setting\">" + shown(played.setting);
  const std::size_t alike = is_first ? count_alike(model.report, first) : 0;
  if (alike > 0) out += " <span class=\"more\">and " + std::to_string(alike) + " alike</span>";
  return out + "</td>" + verdict_cells(played) + cause_cell(model, played) + "</tr>\n";
}

std::string options(const std::vector<std::string>& values, std::string_view all) {
  std::string out = "<option value=\"\">" + std::string(all) + "</option>";
  for (const std::string& value : values)
    out += "<option value=\"" + attribute_text(value) + "\">" + shown(value) + "</option>";
  return out;
}

std::string filters(const report::Report& report) {
  std::vector<std::string> settings;
  for (const Case& played : report.cases) {
    if (std::ranges::find(settings, played.setting) == settings.end()) settings.push_back(played.setting);
  }
  std::string out = "<form class=\"filters\" hidden>\n<label>setting <select name=\"setting\">" +
                    options(settings, "all") + "</select></label>\n<label>verdict <select name=\"verdict\">" +
                    options({"breaks", "holds", "skipped"}, "all") + "</select></label>\n";
  if (settings.size() > 1)
    out += "<label><input type=\"checkbox\" name=\"fold\" checked> one row for settings that are alike</label>\n";
  return out + "<output></output>\n</form>\n";
}

}  // namespace

std::string case_table(const CheckedModel& model) {
  const report::Report& report = model.report;
  if (report.cases.empty()) return "<p>No conversation was played.</p>\n";
  std::string out = filters(report);
  out +=
      "<div class=\"wide\"><table class=\"cases\" aria-label=\"Conversations\">\n<thead><tr><th scope=\"col\">"
      "conversation</th><th scope=\"col\">setting</th>";
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    out += "<th scope=\"col\" title=\"" + attribute_text(report::kChecks[i].question) + "\">" +
           std::string(kColumns[i]) + "</th>";
  }
  out += "<th scope=\"col\">cause</th></tr></thead>\n<tbody>\n";
  std::string bodies;
  for (std::size_t i = 0; i < report.cases.size(); ++i) {
    const std::string body = case_body(model, report.cases[i]);
    out += row(model, i, !body.empty());
    if (body.empty()) continue;
    // The id is on an inner element, because a browser then opens the section of a link's target.
    bodies += "<details><summary>" + shown(report::name_of(report.cases[i])) + "</summary><div class=\"case\" id=\"" +
              model.case_id(i) + "\">\n" + body + "</div></details>\n";
  }
  return out + "</tbody></table></div>\n<div class=\"bodies\"><h4>Each case in detail</h4>\n" + bodies + "</div>\n";
}

}  // namespace rondo::pages
