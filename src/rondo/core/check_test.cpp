#include "core/check.h"

#include <algorithm>

#include "report/report.h"
#include "tests/support/core_models.h"

namespace rondo::core {
namespace {

constexpr const char* kTrimmingTemplate = R"({%- for m in messages %}
{{- '[[' + m.role + '>>' + (m.content or '') | trim + '~fin~' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '[[assistant>>' }}{% endif %})";

report::Report report_of(const Source& source, CheckRequest request) {
  const auto model = testing::made(Model::load(source));
  Call call;
  auto report = check(*model, call, std::move(request));
  REQUIRE_MESSAGE(report.ok(), report.error().to_string());
  return std::move(report).value();
}

TEST_CASE("check plays the scenarios that are asked for, and tells how far it is") {
  std::vector<std::size_t> done;
  std::size_t of = 0;
  const report::Report report =
      report_of({.path = testing::kFolder},
                {.model = "tiny", .scenarios = {"call-user"}, .on_progress = [&](std::size_t n, std::size_t total) {
                   done.push_back(n);
                   of = total;
                 }});
  CHECK(report.model == "tiny");
  CHECK(report.has_tokenizer);
  CHECK(report.template_file.empty());
  REQUIRE_FALSE(report.cases.empty());
  for (const report::Case& played : report.cases) CHECK(played.scenario == "call-user");
  REQUIRE(done.size() == of);
  CHECK(done.back() == of);
  const auto model = testing::made(Model::load({.path = testing::kFolder}));
  Call call;
  CHECK(check(*model, call, {.model = "", .scenarios = {"no such"}}).error().code == ErrorCode::kInvalidArgument);
}

TEST_CASE("check names the template's file where it is one") {
  const report::Report own =
      report_of({.path = testing::kFolder}, {.model = "", .has_file = true, .scenarios = {"call-user"}});
  CHECK(own.template_file == std::string(testing::kFolder) + "/chat_template.jinja");
  CHECK(own.is_own_file);
}

TEST_CASE("check and fix work without a tokenizer, and fail without a template") {
  const Source source{.path = testing::kFolder, .chat_template = kTrimmingTemplate};
  const auto model = std::make_shared<const Model>(
      Model::Parts{"", Loader().template_from_text(kTrimmingTemplate, {}).value(), nullptr, {}, false});
  Call call;
  const auto report = check(*model, call, {.model = "trims", .scenarios = {}});
  REQUIRE(report.ok());
  CHECK_FALSE(report.value().has_tokenizer);
  const auto trims = [](const report::Finding& finding) { return finding.rule == "whitespace-stripped"; };
  CHECK(std::ranges::any_of(report.value().findings, trims));
  const auto fixed = fix(*model, call, "trims", {});
  REQUIRE(fixed.ok());
  CHECK(fixed.value().source.find("trim") == std::string::npos);
  const auto bare = testing::made(Model::load({.path = std::string(testing::kFolder) + "/tokenizer.json"}));
  CHECK(check(*bare, call, {}).error().code == ErrorCode::kUnsupported);
  CHECK(fix(*bare, call, "", {}).error().code == ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace rondo::core
