#include "pages/check_parts.h"

#include <doctest/doctest.h>

#include "pages/check_files.h"

namespace rondo::pages {
namespace {

TEST_CASE("what cannot be seen has its code, and what is no text U+FFFD") {
  CHECK(shown("a <b>") == "a &lt;b&gt;");
  CHECK(marked_text("a b", true) == "a<span class=\"sp\"> </span>b");
  CHECK(shown("\t") == "<span class=\"w\">\u21E5</span>\t");
  CHECK(shown("\u00A0") == "<i class=\"c\">U+00A0</i>");
  CHECK(shown("\u202E") == "<i class=\"c\">U+202E</i>");
  CHECK(shown("\x7F") == "<i class=\"c\">U+007F</i>");
  CHECK(shown("\U000E0041") == "<i class=\"c\">U+E0041</i>");
  CHECK(shown("\xFF\xC3") == "\uFFFD\uFFFD");
  CHECK(shown("é😀") == "é😀");
}

TEST_CASE("an attribute reads back as it was written") {
  CHECK(attribute_text("a=\"<&>\"") == "a=&quot;&lt;&amp;&gt;&quot;");
  CHECK(attribute_text("\n\t") == "\u240A\u2409");
  CHECK(attribute_text("\u202E\xFF") == "\uFFFD\uFFFD");
  CHECK(attribute_text("it's") == "it's");
}

// A report about a template of these lines.
report::Report report_of(std::vector<std::string> lines) {
  report::Report out;
  out.template_lines = std::move(lines);
  return out;
}

TEST_CASE("a place is a line of the template") {
  const report::Report report = report_of({"one", "  {{ two }}"});
  const CheckedModel model{report, "m1"};
  const Spot spot = spot_of(model, {2, 3, ""});
  CHECK(spot.id == "m1-L2");
  CHECK(spot.name == "line 2");
  CHECK(spot.text == "{{ two }}");
  CHECK(place_link(model, {2, 3, ""}) == "<a class=\"place\" href=\"#m1-L2\">line 2</a>");
  CHECK(place_link(model, {2, 3, ""}, true).ends_with(" <code>{{ two }}</code>"));
  CHECK(place_link(model, {0, 0, "x"}).empty());
}

TEST_CASE("a place outside of the template is named, and links nowhere") {
  const report::Report report = report_of({"one"});
  const CheckedModel model{report, "m1"};
  const Spot spot = spot_of(model, {9, 1, "of <old>"});
  CHECK(spot.id.empty());
  CHECK(spot.name == "line 9");
  CHECK(place_link(model, {9, 1, "of <old>"}, true) == "line 9 <code>of &lt;old&gt;</code>");
}

TEST_CASE("a place in a long line is a piece of it") {
  const std::string text(180, 'x');
  const report::Report report = report_of({"é" + text + "{{ a }}{{ b }}" + std::string(300, 'y')});
  const CheckedModel model{report, "m1"};
  const Spot tag = spot_of(model, {1, 183, ""});
  CHECK(tag.id == "m1-L1-183");
  CHECK(tag.name == "line 1:182");
  CHECK(tag.text == "{{ a }}");
  const Spot far = spot_of(model, {1, 220, ""});
  CHECK(far.id == "m1-L1-190");
  CHECK(far.text == "\u2026" + std::string(200, 'y') + "\u2026");
}

TEST_CASE("a template's source marks what is blamed, with links to its findings") {
  report::Report report = report_of({"<plain>", "{{ m.content | trim }} tail"});
  report::Finding finding;
  finding.rule = "whitespace-stripped";
  finding.level = report::Level::kWarning;
  finding.place = {2, 1, ""};
  report.findings.push_back(finding);
  finding.rule = "elsewhere";
  finding.place = {7, 1, ""};
  report.notes.push_back(finding);
  const std::string source = template_source({report, "m1"});
  CHECK(source.find("<code>&lt;plain&gt;</code>") != std::string::npos);
  CHECK(source.find("blamed warning\" id=\"m1-L2\"") != std::string::npos);
  CHECK(source.find("<mark>{{ m.content | trim }}</mark> tail") != std::string::npos);
  CHECK(source.find("href=\"#m1-f0\">whitespace-stripped</a>") != std::string::npos);
  CHECK(source.find("elsewhere") == std::string::npos);
}

TEST_CASE("several models as JSON") {
  Checks checks;
  checks.reports.emplace_back(json::Object{{"model", "a"}});
  CHECK(checks.to_json() == json::Value(json::Object{{"reports", checks.reports}}));
  checks.failures.emplace_back(json::Object{{"model", "b"}});
  CHECK(checks.to_json().find("failures")->as_array().size() == 1);
}

TEST_CASE("a report without cases says so") {
  const report::Report report = report_of({"x"});
  CHECK(case_table({report, "m1"}) == "<p>No conversation was played.</p>\n");
}

}  // namespace
}  // namespace rondo::pages
