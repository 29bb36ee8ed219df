#include "pages/check_page.h"

#include <algorithm>
#include <string_view>

#include "base/utf8.h"
#include "pages/check_parts.h"
#include "pages/html.h"
#include "pages/page_parts.h"
#include "report/summary.h"

namespace rondo::pages {
namespace {

using report::Finding;
using report::Level;
using report::Report;

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

// One line for the window's title, which can have no markup.
std::string one_line(const std::string& text) {
  std::string out = utf8::to_valid(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return out;
}

std::string level_badge(Level level) {
  const std::string name(report::to_string(level));
  const std::string_view symbol = level == Level::kError ? "\u2716" : level == Level::kWarning ? "\u25B2" : "\u2139";
  return "<span class=\"level " + name + "\"><span aria-hidden=\"true\">" + std::string(symbol) + "</span> " + name +
         "</span>";
}

std::string worst_badge(const Report& report) {
  if (!report.findings.empty()) return level_badge(report.worst());
  return "<span class=\"level clean\"><span aria-hidden=\"true\">\u2713</span> no finding</span>";
}

// "31 of 36 hold".
std::string check_summary(const Report& report, const report::Check& check) {
  const report::Counts counts = report::count(report, check);
  const std::size_t asked = counts.holds + counts.breaks;
  if (asked == 0) return "not asked";
  return std::to_string(counts.holds) + " of " + std::to_string(asked) + (asked == 1 ? " holds" : " hold");
}

std::string tiles(const Report& report) {
  std::string out = "<ul class=\"tiles\">\n";
  for (const report::Check& check : report::kChecks) {
    const report::Counts counts = report::count(report, check);
    const std::size_t asked = counts.holds + counts.breaks;
    const std::string_view state = asked == 0 ? "none" : counts.breaks > 0 ? "bad" : "good";
    std::string rest;
    if (counts.breaks > 0) rest += "\u2717 " + std::to_string(counts.breaks) + " break ";
    if (counts.inherent > 0) rest += "\u00B7 " + std::to_string(counts.inherent) + " inherent ";
    if (counts.skipped > 0) rest += "\u00B7 " + std::to_string(counts.skipped) + " skipped";
    if (rest.starts_with("\u00B7 ")) rest.erase(0, std::string_view("\u00B7 ").size());
    out += "<li class=\"" + std::string(state) + "\" title=\"" + attribute_text(check.question) + "\"><b>" +
           std::string(check.name) + "</b><span class=\"big\">" + check_summary(report, check) + "</span><small>" +
           rest + "</small></li>\n";
  }
  return out + "</ul>\n";
}

std::string scenario_list(const CheckedModel& model, const Finding& finding) {
  if (finding.scenarios.empty()) return "";
  std::string out = "<p class=\"seen\">seen in ";
  for (std::size_t i = 0; i < finding.scenarios.size(); ++i) {
    const auto& cases = model.report.cases;
    const auto found = std::ranges::find(cases, finding.scenarios[i], report::name_of);
    const std::string text = shown(finding.scenarios[i]);
    out += i > 0 ? ", " : "";
    const bool has_target = found != cases.end() && !case_body(model, *found).empty();
    out += has_target
               ? "<a href=\"#" + model.case_id(static_cast<std::size_t>(found - cases.begin())) + "\">" + text + "</a>"
               : text;
  }
  return out + "</p>\n";
}

std::string finding_html(const CheckedModel& model, const Finding& finding, std::size_t index) {
  const std::string level(report::to_string(finding.level));
  std::string out = "<details class=\"finding " + level + "\" data-line=\"" +
                    (finding.place.line > 0 ? spot_of(model, finding.place).id : "") + "\"><summary>" +
                    level_badge(finding.level) + " <b>" + shown(finding.rule) + "</b> <span class=\"what\">" +
                    shown(finding.sentence) + "</span> " + place_link(model, finding.place);
  if (finding.lost_tokens > 0)
    out += " <span class=\"lost\">\u2212" + counted(finding.lost_tokens, "token") + "</span>";
  out += "</summary>\n<div class=\"inside\" id=\"" + model.finding_id(index) + "\">\n";
  if (const report::Rule* rule = report::find_rule(finding.rule))
    out += "<p class=\"soft\">" + shown(rule->sentence) + "</p>\n";
  if (finding.place.line > 0) out += "<p>" + place_link(model, finding.place, true) + "</p>\n";
  if (!finding.path.empty()) out += "<p>field <code>" + shown(finding.path) + "</code></p>\n";
  if (!finding.proof.empty()) out += "<pre>" + shown(finding.proof) + "</pre>\n";
  out += remedy_list(finding.remedies);
  return out + scenario_list(model, finding) + "</div></details>\n";
}

std::string finding_lists(const CheckedModel& model) {
  std::string out = "<section>\n<h3>Findings</h3>\n";
  std::size_t index = 0;
  for (const Finding& finding : model.report.findings) out += finding_html(model, finding, index++);
  if (model.report.findings.empty()) out += "<p>None: nothing of this template breaks or loses anything.</p>\n";
  out += "</section>\n";
  if (model.report.notes.empty()) return out;
  out += "<section>\n<h3>Notes</h3>\n";
  for (const Finding& note : model.report.notes) out += finding_html(model, note, index++);
  return out + "</section>\n";
}

// `is_folded`: one of many sections, to be opened by the reader.
std::string model_section(const CheckedModel& model, bool is_folded) {
  const Report& report = model.report;
  std::vector<std::string> settings;
  std::vector<std::string> scenarios;
  const auto add = [](std::vector<std::string>& list, const std::string& name) {
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  };
  for (const report::Case& played : report.cases) {
    add(settings, played.setting);
    add(scenarios, played.scenario);
  }
  const std::string title = "<h2>" + shown(report.model) + " " + worst_badge(report) + "</h2>";
  // The id is on an inner element, because a browser then opens the section of a link's target.
  std::string out = is_folded
                        ? "<details class=\"model\"><summary>" + title + "</summary>\n<div id=\"" + model.key + "\">"
                        : "<section class=\"model\" id=\"" + model.key + "\">\n" + title;
  out += "\n<p class=\"soft\">";
  if (!report.template_file.empty()) out += shown(report.template_file) + ", ";
  out += counted(report.template_lines.size(), "line") + "; " + counted(report.cases.size(), "case") + ": " +
         counted(scenarios.size(), "conversation") + " under " + counted(settings.size(), "setting");
  if (!report.has_tokenizer) out += "; without a tokenizer, so that token ids were not asked about";
  out += "</p>\n" + tiles(report) + "<div class=\"columns\">\n<div class=\"found\">\n" + finding_lists(model);
  out += "<section>\n<h3>Conversations</h3>\n" + case_table(model) + "</section>\n</div>\n";
  out += "<section class=\"beside\">\n<h3>Template</h3>\n" + template_source(model) + "</section>\n</div>\n";
  return out + (is_folded ? "</div></details>\n" : "</section>\n");
}

std::string index_table(std::span<const CheckedModel> models) {
  std::string out =
      "<nav aria-label=\"Templates\"><div class=\"wide\"><table class=\"index\">\n<thead><tr><th "
      "scope=\"col\">template</th><th scope=\"col\">worst</th>";
  for (const report::Check& check : report::kChecks) out += "<th scope=\"col\">" + std::string(check.name) + "</th>";
  out += "<th scope=\"col\">findings</th></tr></thead>\n<tbody>\n";
  for (const CheckedModel& model : models) {
    const Report& report = model.report;
    out += "<tr><th scope=\"row\"><a href=\"#" + model.key + "\">" + shown(report.model) + "</a></th><td>" +
           worst_badge(report) + "</td>";
    for (const report::Check& check : report::kChecks) out += "<td>" + check_summary(report, check) + "</td>";
    out += "<td>" + std::to_string(report.findings.size()) + "</td></tr>\n";
  }
  return out + "</tbody></table></div></nav>\n";
}

}  // namespace

std::string check_page(std::span<const Report> reports, std::span<const report::Unchecked> unchecked) {
  std::vector<CheckedModel> models;
  models.reserve(reports.size());
  for (const Report& report : reports) models.push_back({report, "m" + std::to_string(models.size() + 1)});
  const std::string title = reports.size() == 1 ? reports.front().model : counted(reports.size(), "chat template");
  std::string out = html_head("check of " + one_line(title), check_css(), Scripts::kInline);
  out += "<header>\n<h1>" + (reports.size() == 1 ? "Check of a chat template" : "Check of " + shown(title)) +
         "</h1>\n<p>Conversations were played through each template: rendered, sampled, parsed, kept as messages and "
         "rendered again. What the model has seen should still be there, token for token.</p>\n"
         "<p class=\"keys\" hidden>In the table of conversations <kbd>\u2190</kbd> <kbd>\u2191</kbd> <kbd>\u2192</kbd> "
         "<kbd>\u2193</kbd> walk, <kbd>Enter</kbd> opens a case, <kbd>Esc</kbd> closes it.</p>\n</header>\n<main>\n";
  for (const report::Unchecked& model : unchecked) {
    out += "<p>" + level_badge(Level::kError) + " <b>" + shown(model.model) +
           "</b> could not be checked: " + shown(model.reason) + "</p>\n";
  }
  if (models.size() > 1) out += index_table(models);
  constexpr std::size_t kMostUnfolded = 3;
  for (const CheckedModel& model : models) out += model_section(model, models.size() > kMostUnfolded);
  out += "</main>\n<script>\n" + std::string(check_js()) + "</script>\n";
  return out + "</body>\n</html>\n";
}

}  // namespace rondo::pages
