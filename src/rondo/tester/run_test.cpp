#include "tester/run.h"

#include <doctest/doctest.h>

#include "json/parse.h"
#include "tests/support/core_models.h"

namespace rondo::tester {
namespace {

using core::testing::memory;
using core::testing::memory_model;

// The result of one case, with the template of core's tests.
std::string run(const std::string& text, const std::shared_ptr<const core::Model>& model = memory_model()) {
  const auto test = read_case(json::parse(text).value(), {});
  REQUIRE_MESSAGE(test.ok(), test.error().to_string());
  return to_text(run_case(model, test.value()));
}

std::shared_ptr<const core::Model> model_of(const char* chat_template) {
  return core::testing::made(core::Model::from_memory(memory(chat_template), {}));
}

std::shared_ptr<const core::Model> bare(const char* chat_template) {
  const auto loaded = core::Loader().template_from_text(chat_template, {});
  return std::make_shared<const core::Model>(
      core::Model::Parts{.name = "bare", .templates = loaded.value(), .tokenizer = nullptr, .corrections = {}});
}

constexpr const char* kHi = R"("messages": [{"role": "user", "content": "Hi"}])";

TEST_CASE("a prompt is what it is said to be, or the template's line is told") {
  CHECK(run(std::string("{") + kHi + R"(, "rendered": "<bos>[[user>>Hi~fin~[[assistant>>"})").empty());
  const std::string failed = run(std::string("{") + kHi + R"(, "rendered": "<bos>[[user>>Ho~fin~[[assistant>>"})");
  CHECK(failed.starts_with("rendered: the prompt is another text\n"));
  CHECK(failed.find("^ messages[0].content, written by template line 7: {{- m.content or '' }}") != std::string::npos);
}

TEST_CASE("what a model wrote is read, in any pieces, bridged and accepted") {
  const std::string test = std::string("{") + kHi + R"(, "sampled": "(*mull so mull*)Hello~fin~",
    "parsed": {"content": "Hello", "reasoning": "so", "tool_calls": [], "complete": true, "place": "ended"},
    "bridge": [{"role": "user", "content": "And now?"}], "grammar": true})";
  CHECK(run(test).empty());
  CHECK(run(test, bare(core::testing::kTemplate)).empty());
}

TEST_CASE("ids need a tokenizer of the model's own") {
  CHECK(run(std::string("{") + kHi + R"(, "ids": [1]})", bare(core::testing::kTemplate)) ==
        "ids: the model brings no tokenizer\n");
  const std::string failed = run(std::string("{") + kHi + R"(, "ids": [1]})");
  CHECK(failed.find("the ids differ from index 0 on") != std::string::npos);
}

TEST_CASE("a case that expects nothing checks the turns that are there") {
  const auto test = read_case(json::parse(R"({"name": "n", "messages": [{"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "Bye"}]})")
                                  .value(),
                              {});
  const CaseResult result = run_case(memory_model(), test.value());
  CHECK_MESSAGE(result.passed(), to_text(result));
  CHECK(result.checks == std::vector<std::string>{"rendered", "roundtrip", "pieces", "grammar", "bridge"});
  CHECK(result.notes.empty());
}

TEST_CASE("a template that loses what a message says is found by its laws") {
  constexpr const char* kLossy =
      "{%- for m in messages %}[[{{ m.role }}>>{{ m.content | replace('l', 'L') }}~fin~{% endfor %}"
      "{%- if add_generation_prompt %}[[assistant>>{% endif %}";
  const std::string failed = run(R"({"messages": [{"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hello"}]})",
                                 model_of(kLossy));
  CHECK(failed.starts_with("roundtrip: messages[1]: the message that is read from its own turn is another one\n"));
  CHECK(failed.find("- content: Hello") != std::string::npos);
  CHECK(failed.find("+ content: HeLLo") != std::string::npos);
}

TEST_CASE("words with which only the prompt begins the reasoning are no part of the message") {
  constexpr const char* kBegun =
      "{%- for m in messages %}[[{{ m.role }}>>{% if m.reasoning_content %}(*mull {{ m.reasoning_content }} mull*)"
      "{% endif %}{{ m.content }}~fin~{% endfor %}"
      "{%- if add_generation_prompt %}[[assistant>>(*mull Step by step: {% endif %}";
  const auto failed = run(std::string("{") + kHi + "}", model_of(kBegun));
  CHECK_MESSAGE(failed.empty(), failed);
}

TEST_CASE("a bridge that is not the re-render is told with the template's line") {
  constexpr const char* kCounting =
      "{%- for m in messages %}[[{{ m.role }} {{ loop.revindex }}>>{{ m.content }}~fin~{% endfor %}"
      "{%- if add_generation_prompt %}[[assistant 0>>{% endif %}";
  const std::string failed = run(std::string("{") + kHi + R"(, "sampled": "Hello~fin~",
    "bridge": [{"role": "user", "content": "Bye"}]})",
                                 model_of(kCounting));
  CHECK(failed.starts_with("bridge: "));
  CHECK(failed.find("template line 1") != std::string::npos);
}

TEST_CASE("a template that fails is a failure, unless that is expected") {
  constexpr const char* kStrict = "{{ raise_exception('no') if messages | length > 1 else 'x' }}";
  const std::string two = R"("messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])";
  CHECK(run("{" + two + "}", model_of(kStrict)).starts_with("rendered: the template fails\n"));
  CHECK(run("{" + two + R"(, "error": {"message": "no", "code": "template_raised", "line": 1}})", model_of(kStrict))
            .empty());
  CHECK(run("{" + two + R"(, "error": {"message": "yes", "code": "limit", "line": 2}})", model_of(kStrict))
            .find("the error is of template line 1, expected line 2") != std::string::npos);
  CHECK(run(R"({"messages": [], "error": "no"})", model_of(kStrict))
            .starts_with("error: the template fails with no error"));
}

TEST_CASE("a suite is run, filtered, with a time, and told as JSON") {
  Suite suite;
  for (const char* text : {R"({"name": "one", "rendered": "2026"})", R"({"name": "two", "rendered": "x"})"})
    suite.cases.push_back(read_case(json::parse(text).value(), {}).value());
  const auto model = model_of("{{ strftime_now('%Y') }}");
  RunOptions options;
  options.now = core::parse_time("2026-03-14T15:09:26");
  const auto results = run_suite(model, suite, options);
  REQUIRE(results.size() == 2);
  CHECK(results[0].passed());
  const json::Value told = to_json("s", results);
  CHECK(told.find("passed")->to_int64() == 1);
  CHECK(told.find("failed")->to_int64() == 1);
  const json::Value& failure = told.find("cases")->as_array()[1].find("failures")->as_array()[0];
  CHECK(failure.find_string("check") == "rendered");
  CHECK(failure.find("shown")->as_array().size() == 4);
  options.filter = "tw";
  CHECK(run_suite(model, suite, options).size() == 1);
}

}  // namespace
}  // namespace rondo::tester
