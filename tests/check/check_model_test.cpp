// rondo::Model::check, and the replies of the op `check` against their schema.
#include <doctest/doctest.h>

#include "json/parse.h"
#include "json/print.h"
#include "pages/check_files.h"
#include "protocol/service.h"
#include "rondo/model.h"
#include "tests/support/markup.h"
#include "tests/support/schema.h"

namespace rondo {
namespace {

constexpr const char* kModel = RONDO_SOURCE_DIR "/tests/golden/batch/model";

// Cuts white space off what the model says, and drops its reasoning once another message follows.
constexpr const char* kFaulty = R"({%- for m in messages %}
{{- '<|' + m.role + '|>' }}
{%- if m.role == 'assistant' and m.reasoning_content and loop.last %}{{ '<r>' + m.reasoning_content + '</r>' }}{% endif %}
{{- (m.content or '') | trim }}
{{- '<|end|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %})";

json::Value checked(const json::Object& more) {
  const protocol::Service service({});
  json::Object request{{"op", "check"}, {"mode", "lenient"}, {"now", "2026-03-14T15:09:26"}};
  for (const json::Member& member : more) request.set(member.key, member.value);
  auto reply = service.run(request);
  REQUIRE_MESSAGE(reply.ok(), reply.error().to_string());
  return std::move(reply).value();
}

TEST_CASE("Model::check tells findings with their lines, and all the rest as JSON") {
  const auto model = Model::load(kModel);
  REQUIRE(model.ok());
  Chat chat;
  chat.now = "2026-03-14T15:09:26";
  const auto checked = model.value().check(chat);
  REQUIRE_MESSAGE(checked.ok(), checked.error().to_string());
  const json::Value report = json::parse(checked.value().json).value();
  CHECK(test::objection(report, test::read_schema("docs/check.schema.json")) == "");
  CHECK(report.find_string("worst") == checked.value().worst);
  const json::Array& findings = report.find("findings")->as_array();
  REQUIRE(checked.value().findings.size() == findings.size());
  REQUIRE(checked.value().notes.size() == report.find("notes")->as_array().size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const CheckFinding& finding = checked.value().findings[i];
    CHECK(finding.rule == findings[i].find_string("rule"));
    CHECK(finding.level == findings[i].find_string("level"));
    CHECK(finding.sentence == findings[i].find_string("sentence"));
    CHECK(finding.remedies.size() == findings[i].find("remedies")->as_array().size());
    const json::Value* place = findings[i].find("place");
    CHECK(finding.line == (place == nullptr ? 0 : place->find("line")->to_int64()));
  }
  chat.kwargs = "[]";
  CHECK(!model.value().check(chat).ok());
}

TEST_CASE("the op check: its reply follows the schema, and blames the lines that are to blame") {
  const json::Value schema = test::read_schema("docs/check.schema.json");
  const json::Value report = checked({{"template", kFaulty}, {"model", "faulty"}});
  CHECK(test::objection(report, schema) == "");
  CHECK(test::objection(json::Object{{"reports", json::Array{report, report}}}, schema) == "");
  CHECK(report.find_string("model") == "faulty");
  CHECK(report.find_string("template_file") == "");
  const auto line_of = [&](std::string_view rule) -> std::int64_t {
    for (const json::Value& finding : report.find("findings")->as_array()) {
      if (finding.find_string("rule") == rule && finding.find("place") != nullptr)
        return finding.find("place")->find("line")->to_int64().value();
    }
    return 0;
  };
  CHECK(line_of("reasoning-dropped") == 3);
  CHECK(line_of("whitespace-stripped") == 4);
}

TEST_CASE("the op check: a model's own template file is named") {
  const json::Value report = checked({{"template_file", kModel}, {"tokenizer", kModel}});
  CHECK(test::objection(report, test::read_schema("docs/check.schema.json")) == "");
  CHECK(report.find_string("template_file") == std::string(kModel) + "/chat_template.jinja");
  CHECK(report.find("is_own_file")->as_bool());
  // With a tokenizer a break shows the tokens around it: what is shared, then what differs.
  for (const json::Value& played : report.find("cases")->as_array()) {
    const json::Value* broken = played.find("break");
    if (broken == nullptr || played.find_string("token_prefix") != "breaks") continue;
    const json::Value* tokens = broken->find("tokens");
    REQUIRE(tokens != nullptr);
    const json::Array& kept = tokens->find("kept")->as_array();
    const json::Array& now = tokens->find("rerendered")->as_array();
    CHECK((kept.empty() || now.empty() || kept.front() != now.front()));
    CHECK(kept.size() + now.size() > 0);
  }
}

TEST_CASE("files of checks: made of replies, refused for anything else") {
  pages::Checks checks;
  checks.reports.push_back(checked({{"template", kFaulty}, {"model", "a"}}));
  checks.failures.push_back(json::Object{{"model", "b"}, {"message", "there is no such file"}});
  CHECK(test::objection(checks.to_json(), test::read_schema("docs/check.schema.json")) == "");
  const auto page = pages::check_html(checks);
  REQUIRE(page.ok());
  const test::Markup document = test::read_markup(page.value(), test::Dialect::kHtml);
  CHECK(document.objection == "");
  CHECK(document.has_text("b could not be checked: there is no such file"));
  const auto sarif = pages::check_sarif(checks, "1.2.3");
  REQUIRE(sarif.ok());
  const json::Value log = json::parse(sarif.value()).value();
  CHECK(test::objection(log, test::read_schema("tests/golden/check/sarif.schema.json")) == "");
  const auto failures = [&](const char* level) {
    const auto junit = pages::check_junit(checks, level);
    REQUIRE(junit.ok());
    const test::Markup suites = test::read_markup(junit.value(), test::Dialect::kXml);
    CHECK(suites.objection == "");
    CHECK(suites.count("error") == 1);
    return suites.count("failure");
  };
  CHECK(failures("never") == 0);
  CHECK(failures("warning") > 0);
  CHECK(failures("note") >= failures("warning"));
  for (const pages::Checks& wrong :
       {pages::Checks{{json::Object{{"cases", 1}}}, {}}, pages::Checks{{}, {json::Object{}}}}) {
    CHECK_FALSE(pages::check_html(wrong).ok());
    CHECK_FALSE(pages::check_sarif(wrong, "").ok());
    CHECK_FALSE(pages::check_junit(wrong, "never").ok());
  }
}

}  // namespace
}  // namespace rondo
