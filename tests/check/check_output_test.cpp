// What is written about reports: JSON with its schema, SARIF, JUnit, the page.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "json/print.h"
#include "pages/check_page.h"
#include "report/junit.h"
#include "report/report.h"
#include "report/sarif.h"
#include "report/summary.h"
#include "tests/support/golden.h"
#include "tests/support/markup.h"
#include "tests/support/sample_report.h"
#include "tests/support/schema.h"

namespace rondo {
namespace {

using report::Level;
using report::Report;

const std::vector<report::Unchecked> kUnchecked = {{"no/such model", "there is no such file " + test::kHostile}};

std::vector<Report> samples() { return {test::sample_report("plain"), test::sample_report(test::kHostile), Report{}}; }

TEST_CASE("a report survives its JSON") {
  for (const Report& report : samples()) {
    const json::Value written = report::to_json(report);
    const auto read = report::report_from_json(written);
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    CHECK(report::to_json(read.value()) == written);
    // Text that is no UTF-8 is replaced where it is printed; from there on nothing changes.
    const std::string printed = json::to_compact(written);
    const auto again = report::report_from_json(json::parse(printed).value());
    CHECK(json::to_compact(report::to_json(again.value())) == printed);
  }
}

TEST_CASE("a report that does not fit is refused with the place") {
  const auto refused = [](const char* text) {
    const auto read = report::report_from_json(json::parse(text).value());
    return read.ok() ? "" : read.error().message;
  };
  CHECK(refused("[]") == "report must be an object, found an array");
  CHECK(refused(R"({"model": 1})") == "report.model must be a string, found an integer");
  CHECK(refused(R"({"cases": [{}, {"token_prefix": "maybe"}]})") ==
        "report.cases[1].token_prefix: unknown value `maybe`");
  CHECK(refused(R"({"findings": [{"place": {"line": 99999999999}}]})") ==
        "report.findings[0].place.line: 99999999999 is out of range");
  CHECK(refused(R"({"cases": [{"break": {"tokens": {"kept": [3]}}}]})") ==
        "report.cases[0].break.tokens.kept[0] must be an object, found an integer");
  CHECK(refused(R"({"notes": [{"scenarios": ["a", 1]}]})") ==
        "report.notes[0].scenarios[1] must be a string, found an integer");
  CHECK(refused(R"({"of another version": true})").empty());
}

TEST_CASE("docs/check.schema.json describes what is written") {
  const json::Value schema = test::read_schema("docs/check.schema.json");
  for (const Report& report : samples()) CHECK(test::objection(report::to_json(report), schema) == "");
  // Every rule's and cause's name is allowed, as is every verdict, level and kind of remedy.
  Report report = test::sample_report("x");
  for (int kind = 0; kind <= static_cast<int>(causes::CauseKind::kCondition); ++kind) {
    report.cases.front().broken->cause.kind = static_cast<causes::CauseKind>(kind);
    CHECK(test::objection(report::to_json(report), schema) == "");
  }
  for (int kind = 0; kind <= static_cast<int>(report::Remedy::Kind::kBridge); ++kind) {
    report.findings.back().remedies.front().kind = static_cast<report::Remedy::Kind>(kind);
    CHECK(test::objection(report::to_json(report), schema) == "");
  }
}

TEST_CASE("docs/check.schema.json knows no member that is never written") {
  const json::Value schema = test::read_schema("docs/check.schema.json");
  std::set<std::string> written;
  const auto collect = [&](const json::Value& value, const auto& self) -> void {
    if (value.is_array()) {
      for (const json::Value& element : value.as_array()) self(element, self);
    } else if (value.is_object()) {
      for (const json::Member& member : value.as_object()) {
        written.insert(member.key);
        self(member.value, self);
      }
    }
  };
  collect(report::to_json(test::sample_report("x")), collect);
  for (const json::Member& definition : schema.find("$defs")->as_object()) {
    const json::Value* properties = definition.value.find("properties");
    if (properties == nullptr) continue;
    for (const json::Member& member : properties->as_object()) CHECK_MESSAGE(written.contains(member.key), member.key);
  }
}

TEST_CASE("docs/check.md explains every rule, with its level") {
  const auto text = files::read(RONDO_SOURCE_DIR "/docs/check.md");
  REQUIRE(text.ok());
  for (const report::Rule& rule : report::rules()) {
    const std::string head =
        "**`" + std::string(rule.name) + "`** (" + std::string(report::to_string(rule.level)) + ")";
    CHECK_MESSAGE(text.value().find(head) != std::string::npos, head);
  }
}

// A report whose findings lack what those of the sample have: places, proofs, fields, lost tokens; and one with many cases.
Report bare_report() {
  Report report = test::sample_report("bare");
  report.template_file = "./m\xC3\xA9/T-1_x.y~z:*.jinja";
  report.cases[0].broken.reset();
  report.cases[2].broken.reset();
  report.findings[1].place.line = 1;
  report.findings[1].scenarios = {"a / default", "b / default", "c / default", "d / default",
                                  "e / default", "f / default", "g / default"};
  report.findings[1].lost_tokens = 1;
  report.findings.insert(report.findings.end(), 2, report.findings[0]);
  report.findings[2].place = {};
  report.findings[3].place = {0, 0, "no line"};
  return report;
}

TEST_CASE("what is written of reports is what it was") {
  const std::vector<Report> reports = {test::sample_report("plain"), bare_report()};
  const json::Value log = report::to_sarif(reports, kUnchecked, "1.2.3");
  const json::Value& run = log.find("runs")->as_array().front();
  const json::Value found = json::Object{{"invocations", *run.find("invocations")}, {"results", *run.find("results")}};
  test::check_golden("check/samples.sarif.json", json::to_pretty(found) + "\n");
  test::check_golden("check/samples_errors.xml", report::to_junit(reports, kUnchecked, Level::kError));
  test::check_golden("check/samples_warnings.xml", report::to_junit(reports, {}, Level::kWarning));
}

// --- SARIF

TEST_CASE("SARIF has what its specification requires") {
  const json::Value schema = test::read_schema("tests/golden/check/sarif.schema.json");
  const std::vector<Report> reports = samples();
  CHECK(test::objection(report::to_sarif(reports, {}, "1.2.3"), schema) == "");
  CHECK(test::objection(report::to_sarif({}, kUnchecked, "1.2.3"), schema) == "");
}

TEST_CASE("SARIF: a result has its rule, its place in code points and a reference that is a URI") {
  const std::vector<Report> reports = {test::sample_report("plain")};
  const json::Value log = report::to_sarif(reports, {}, "1.2.3");
  const json::Value& run = log.find("runs")->as_array().front();
  const json::Array& results = run.find("results")->as_array();
  REQUIRE(results.size() == 3);
  const json::Value& result = results[1];
  CHECK(result.find_string("ruleId") == "whitespace-stripped");
  CHECK(result.find_string("level") == "warning");
  const json::Array& rules = run.find("tool")->find("driver")->find("rules")->as_array();
  const auto index = static_cast<std::size_t>(result.find("ruleIndex")->to_int64().value());
  CHECK(rules[index].find_string("id") == "whitespace-stripped");
  const json::Value& place = *result.find("locations")->as_array().front().find("physicalLocation");
  CHECK(place.find("artifactLocation")->find_string("uri") == "models/a%20b/chat_template.jinja");
  CHECK(place.find("region")->find("startLine")->to_int64() == 3);
  CHECK(place.find("region")->find("startColumn")->to_int64() == 6);
  const std::string message(result.find("message")->find_string("text").value());
  for (const char* part : {"cuts white space off content plain", "32 tokens", "messages[*].content",
                           "remedy, verified: set", "remedy, not tried: keep", "seen in call-result / default"})
    CHECK_MESSAGE(message.find(part) != std::string::npos, part);
  CHECK(results[2].find("ruleIndex") == nullptr);  // a rule that this program does not list
}

TEST_CASE("SARIF: a template inside another file has no line there") {
  std::vector<Report> reports = {test::sample_report("plain")};
  reports[0].template_file = "/models/tokenizer_config.json";
  reports[0].is_own_file = false;
  const json::Value log = report::to_sarif(reports, {}, "1");
  const json::Value& result = log.find("runs")->as_array().front().find("results")->as_array().front();
  const json::Value& location = result.find("locations")->as_array().front();
  CHECK(location.find("physicalLocation")->find("region") == nullptr);
  CHECK(location.find("physicalLocation")->find("artifactLocation")->find_string("uri") ==
        "file:///models/tokenizer_config.json");
  CHECK(location.find("logicalLocations")->as_array().front().find_string("fullyQualifiedName") ==
        "model plain, chat template, line 4");
}

std::vector<std::string> fingerprints(const std::vector<Report>& reports) {
  std::vector<std::string> out;
  const json::Value log = report::to_sarif(reports, {}, "1");
  for (const json::Value& result : log.find("runs")->as_array().front().find("results")->as_array())
    out.emplace_back(result.find("partialFingerprints")->find_string("rondoFinding/v1").value());
  return out;
}

TEST_CASE("SARIF: fingerprints stay when lines move, and tell results apart") {
  std::vector<Report> reports = {test::sample_report("plain")};
  const std::vector<std::string> before = fingerprints(reports);
  CHECK(std::set<std::string>(before.begin(), before.end()).size() == before.size());
  reports[0].findings[1].place.line += 10;
  reports[0].findings[1].lost_tokens = 1;
  CHECK(fingerprints(reports) == before);
  reports[0].findings[1].place.source += " ";
  CHECK(fingerprints(reports) != before);
  const std::vector<std::string> twice = fingerprints({reports[0], reports[0]});
  CHECK(std::set<std::string>(twice.begin(), twice.end()).size() == twice.size());
}

// --- JUnit

TEST_CASE("JUnit is well-formed whatever the texts are") {
  const std::vector<Report> reports = samples();
  const std::string xml = report::to_junit(reports, {}, Level::kWarning);
  const test::Markup document = test::read_markup(xml, test::Dialect::kXml);
  CHECK(document.objection == "");
  CHECK(utf8::is_valid(xml));
  CHECK(document.count("testsuite") == 3);
  // The reader has undone the references: what was there is still there.
  CHECK(document.has_text("<b>&\"'</script><!-- ]]> \u2401\u241B[31m\x7F\r\n\t "));
}

TEST_CASE("a model that could not be checked is told everywhere") {
  const std::vector<Report> reports = {test::sample_report("plain")};
  const test::Markup suites =
      test::read_markup(report::to_junit(reports, kUnchecked, std::nullopt), test::Dialect::kXml);
  CHECK(suites.objection == "");
  CHECK(suites.all("testsuites").front().attributes.at("errors") == "1");
  REQUIRE(suites.count("error") == 1);
  CHECK(suites.all("error").front().attributes.at("message").starts_with("there is no such file <b>"));
  CHECK(suites.all("testcase").back().attributes.at("classname") == "no/such model");

  const json::Value log = report::to_sarif(reports, kUnchecked, "1");
  const json::Value& invocation = log.find("runs")->as_array().front().find("invocations")->as_array().front();
  CHECK_FALSE(invocation.find("executionSuccessful")->as_bool());
  const json::Value& notification = invocation.find("toolExecutionNotifications")->as_array().front();
  CHECK(notification.find("message")->find_string("text").value().starts_with("no/such model could not be checked: "));

  const test::Markup page = test::read_markup(pages::check_page(reports, kUnchecked), test::Dialect::kHtml);
  CHECK(page.objection == "");
  CHECK(page.has_text("no/such model could not be checked: there is no such file <b>"));
}

TEST_CASE("JUnit: what fails is what the level says") {
  const std::vector<Report> reports = {test::sample_report("plain")};
  const auto counts = [&](std::optional<Level> level) {
    const test::Markup document = test::read_markup(report::to_junit(reports, {}, level), test::Dialect::kXml);
    const test::Element suite = document.all("testsuite").front();
    CHECK(document.count("testcase") == 8);
    CHECK(suite.attributes.at("tests") == "8");
    CHECK(suite.attributes.at("failures") == std::to_string(document.count("failure")));
    CHECK(suite.attributes.at("skipped") == std::to_string(document.count("skipped")));
    return std::pair(document.count("failure"), document.count("skipped"));
  };
  // Cases: one breaks at level warning, one is not read back (a warning), one breaks under any template, one was skipped.
  CHECK(counts(std::nullopt) == std::pair<std::size_t, std::size_t>(0, 2));
  CHECK(counts(Level::kError) == std::pair<std::size_t, std::size_t>(1, 2));
  CHECK(counts(Level::kWarning) == std::pair<std::size_t, std::size_t>(4, 2));
  CHECK(counts(Level::kNote) == std::pair<std::size_t, std::size_t>(5, 2));
}

TEST_CASE("JUnit: a finding without proof has no empty line in its place") {
  Report report = test::sample_report("plain");
  report.findings.resize(1);
  report.findings[0].proof = "";
  report.findings[0].remedies.clear();
  report.findings[0].place = {4, 1, "{%- endfor %}"};
  CHECK(report::to_junit({&report, 1}, {}, Level::kError).find("line 4: {%- endfor %}&#10;</") != std::string::npos);
}

TEST_CASE("JUnit: a failure has cause, place, texts and remedies") {
  const std::vector<Report> reports = {test::sample_report("plain")};
  const test::Markup document = test::read_markup(report::to_junit(reports, {}, Level::kWarning), test::Dialect::kXml);
  const test::Element played = document.all("testcase").front();
  CHECK(played.attributes.at("name") == "call-result / default");
  CHECK(played.attributes.at("classname") == "model plain");
  CHECK(played.attributes.at("file") == "models/a b/chat_template.jinja");
  CHECK(played.attributes.at("line") == "3");
  const test::Element failure = document.all("failure").front();
  CHECK(failure.attributes.at("type") == "whitespace-stripped");
  CHECK(failure.attributes.at("message") ==
        "string prefix, token prefix, render of parse: line 3 cuts white space off plain");
  CHECK(document.has_text("seen:        \"\\n\\n  Let me look. plain\"\nwritten now: \"Let me look.plain\"\n"));
  CHECK(document.has_text("verified: set `keep_thinking` to true plain\nnot tried: keep the ids"));
}

// --- The page

TEST_CASE("the page is well-formed, self-contained, and no text becomes markup") {
  const std::vector<Report> reports = samples();
  const std::string page = pages::check_page(reports, {});
  CHECK(page.starts_with("<!doctype html>"));
  CHECK(utf8::is_valid(page));
  const test::Markup document = test::read_markup(page, test::Dialect::kHtml);
  CHECK(document.objection == "");
  CHECK(document.count("script") == 1);
  CHECK(document.count("style") == 1);
  CHECK(document.count("b") ==
        test::read_markup(
            pages::check_page(std::vector{test::sample_report("plain"), test::sample_report("plain"), Report{}}, {}),
            test::Dialect::kHtml)
            .count("b"));
  for (const char* loaded : {"img", "link", "iframe", "object", "embed", "base", "video", "audio", "svg"})
    CHECK_MESSAGE(document.count(loaded) == 0, loaded);
  for (const test::Element& element : document.elements) {
    for (const auto& [name, value] : element.attributes) {
      CHECK_MESSAGE(!name.starts_with("on"), name);
      CHECK_MESSAGE(name != "src", value);
      if (name == "href") CHECK_MESSAGE(value.starts_with("#"), value);
    }
  }
  CHECK(page.find("default-src 'none'") != std::string::npos);
}

TEST_CASE("the page: every link leads somewhere, and every id is there once") {
  const std::vector<Report> reports = samples();
  const test::Markup document = test::read_markup(pages::check_page(reports, {}), test::Dialect::kHtml);
  std::set<std::string> ids;
  for (const test::Element& element : document.elements) {
    if (const auto id = element.attributes.find("id"); id != element.attributes.end())
      CHECK_MESSAGE(ids.insert(id->second).second, id->second);
  }
  std::size_t links = 0;
  for (const test::Element& element : document.all("a")) {
    ++links;
    CHECK_MESSAGE(ids.contains(element.attributes.at("href").substr(1)), element.attributes.at("href"));
  }
  CHECK(links > 20);
  // A finding leads to its line, and the line to the finding.
  CHECK(ids.contains("m1-L3"));
  CHECK(ids.contains("m1-f1"));
}

TEST_CASE("the page marks what differs, and nothing else") {
  const std::vector<Report> reports = {test::sample_report("plain")};
  const std::string page = pages::check_page(reports, {});
  const test::Markup document = test::read_markup(page, test::Dialect::kHtml);
  const auto texts = [&](const char* name) {
    std::vector<std::string> out;
    for (const test::Element& element : document.all(name)) out.push_back(element.text);
    return out;
  };
  // The texts of the first case, then its tokens.
  const std::vector<std::string> removed = texts("del");
  REQUIRE(removed.size() >= 5);
  CHECK(removed[0] == "\u21B5\n\u21B5\n  ");
  CHECK(removed[1] == " ");
  CHECK(removed[2] == "\u21B5\n\u21B5\n");
  CHECK(removed[3] == " Let");
  CHECK(removed[4] == "\\xE2\\x82");
  const std::vector<std::string> added = texts("ins");
  CHECK(added[0] == "Let");
  CHECK(added[1] == "plain");
  CHECK(page.find("<b>whitespace-stripped</b>") != std::string::npos);
  CHECK(page.find("\u2713 verified") != std::string::npos);
  // The line to blame, from the column of the finding to the end of the tag.
  CHECK(texts("mark").front() == "{{- m.content.strip() }}");
}

TEST_CASE("the page cuts a long line from tag to tag, and links lead to the piece") {
  Report report = test::sample_report("plain");
  const std::string begin = "{% if x %}" + std::string(150, 'a') + "\xC3\xA9{%- endif %}b";
  report.template_lines[2] = begin + "{{ m.content.strip() }} c";
  report.findings[1].place.column = static_cast<std::int32_t>(begin.size()) + 4;
  const std::vector<Report> reports = {report};
  const test::Markup document = test::read_markup(pages::check_page(reports, {}), test::Dialect::kHtml);
  const std::string id = "m1-L3-" + std::to_string(begin.size() + 1);
  const auto pieces = document.all("div");
  const auto piece = std::ranges::find_if(pieces, [&](const test::Element& element) {
    const auto found = element.attributes.find("id");
    return found != element.attributes.end() && found->second == id;
  });
  REQUIRE(piece != pieces.end());
  CHECK(piece->text == ":" + std::to_string(begin.size()) + "{{ m.content.strip() }} cwhitespace-stripped ");
  CHECK(document.all("mark").front().text == "m.content.strip() }}");
  const auto links = document.all("a");
  CHECK(std::ranges::any_of(links, [&](const test::Element& link) {
    return link.attributes.at("href") == "#" + id && link.text == "line 3:" + std::to_string(begin.size() + 3);
  }));
}

TEST_CASE("the page of several templates begins with an index, that of one has none") {
  const std::vector<Report> one = {test::sample_report("plain")};
  CHECK(test::read_markup(pages::check_page(one, {}), test::Dialect::kHtml).count("nav") == 0);
  const std::vector<Report> two = {test::sample_report("plain"), Report{}};
  const test::Markup document = test::read_markup(pages::check_page(two, {}), test::Dialect::kHtml);
  CHECK(document.count("nav") == 1);
  CHECK(document.has_text("2 of 3 hold"));
  CHECK(document.has_text("no finding"));
  CHECK(document.count("section") >
        test::read_markup(pages::check_page(one, {}), test::Dialect::kHtml).count("section"));
}

TEST_CASE("the page of many templates folds each") {
  const std::vector<Report> reports(5, test::sample_report("plain"));
  const test::Markup document = test::read_markup(pages::check_page(reports, {}), test::Dialect::kHtml);
  CHECK(document.objection == "");
  const auto folds = document.all("details");
  CHECK(std::ranges::count_if(folds, [](const test::Element& element) {
          const auto found = element.attributes.find("class");
          return found != element.attributes.end() && found->second == "model";
        }) == 5);
}

}  // namespace
}  // namespace rondo
