#include "tester/suite.h"

#include <doctest/doctest.h>

#include "json/parse.h"

namespace rondo::tester {
namespace {

Result<Suite> suite_of(std::string_view text) { return read_suite(json::parse(text).value(), {text, "suite.json"}); }

Result<Case> case_of(std::string_view text) { return read_case(json::parse(text).value(), {text, "case.json"}); }

// The first line of a complaint.
std::string wrong(std::string_view text) {
  const auto suite = suite_of(text);
  if (suite.ok()) return "";
  const std::string told = suite.error().to_string();
  return told.substr(0, told.find('\n'));
}

std::string wrong_case(const std::string& members) { return wrong("{\"cases\": [\n{" + members + "}]}"); }

TEST_CASE("a case has what it says and what all have") {
  const auto suite = suite_of(R"({"model": "m", "template": "t", "tokenizer": "v", "mode": "strict",
    "defaults": {"tools": [{"name": "f"}], "kwargs": {"a": 1, "b": 2}, "messages": [{"role": "user", "content": "x"}]},
    "cases": [{"name": "one", "kwargs": {"b": 3}},
              {"messages": [{"role": "assistant", "content": "y"}], "tools": [], "now": "2026-03-14T15:09:26"},
              {"continue": "content", "bos_token": "B"}]})");
  REQUIRE_MESSAGE(suite.ok(), suite.error().to_string());
  const Suite& read = suite.value();
  CHECK(read.model == "m");
  CHECK(read.chat_template == "t");
  CHECK(read.tokenizer == "v");
  CHECK(read.strict == true);
  REQUIRE(read.cases.size() == 3);
  const chat::Conversation& one = read.cases[0].call.conversation;
  CHECK(one.kwargs == json::Object{{"a", 1}, {"b", 3}});
  CHECK(one.tools->as_array().size() == 1);
  CHECK(one.add_generation_prompt);
  CHECK(read.cases[0].states_nothing());
  CHECK(read.cases[0].line == 3);
  CHECK(read.cases[1].name == "case 2");
  CHECK(read.cases[1].call.conversation.tools->as_array().empty());
  CHECK_FALSE(read.cases[1].call.conversation.add_generation_prompt);
  CHECK(read.cases[1].call.now->hour == 15);
  CHECK_FALSE(read.cases[2].call.conversation.add_generation_prompt);
  CHECK(read.cases[2].call.conversation.bos_token == "B");
}

TEST_CASE("expectations in their short and long forms") {
  const auto test = case_of(R"({"rendered": "x", "ids": [1, 2], "sampled": "s", "pieces": false, "roundtrip": true,
    "parsed": {"reasoning": null, "tool_calls": [{"type": "function", "id": "i", "status": "malformed",
      "function": {"name": "f", "arguments": "{}"}}], "place": "call"},
    "bridge": [{"role": "user", "content": "x"}], "grammar": true, "mask": "x", "error": "e"})");
  REQUIRE_MESSAGE(test.ok(), test.error().to_string());
  const Case& read = test.value();
  CHECK_FALSE(read.states_nothing());
  CHECK(read.rendered->value.text == "x");
  CHECK(read.ids->value == std::vector<core::TokenId>{1, 2});
  CHECK(read.parsed->line == 2);
  CHECK(read.parsed->value.reasoning->is_null());
  CHECK(read.parsed->value.calls->front().name == "f");
  CHECK(read.parsed->value.calls->front().status == "malformed");
  CHECK(read.bridge->value.new_messages.size() == 1);
  CHECK(read.grammar->value.accepts_sampled);
  CHECK(read.mask->value.texts == std::vector<std::string>{"x"});
  CHECK(read.error->value.message == "e");
  const auto longer = case_of(R"({"rendered": {"text": "x", "contains": "a", "excludes": ["b", "c"]},
    "bridge": {"new_messages": [], "appended": "y", "may_differ": true}, "tool_choice": "none",
    "mask": {"part": "turn", "roles": ["user"], "texts": []}, "error": {"message": "m", "code": "limit", "line": 3}})");
  REQUIRE_MESSAGE(longer.ok(), longer.error().to_string());
  CHECK(longer.value().rendered->value.excludes.size() == 2);
  CHECK(longer.value().bridge->value.may_differ);
  CHECK(longer.value().mask->value.options.part == render::MaskPart::kTurn);
  CHECK(longer.value().mask->value.options.roles == std::vector<std::string>{"user"});
  CHECK(longer.value().error->value.line == 3);
  CHECK(longer.value().asked.tool_choice == core::ToolChoice::kNone);
}

TEST_CASE("what does not fit has its place") {
  CHECK(wrong("{}") == "suite.json:1:1: a suite needs `cases`");
  CHECK(wrong("[]") == "suite.json:1:1: a suite must be an object, found an array");
  CHECK(wrong("{\"cases\": {}}") == "suite.json:1:11: `cases` must be a list, found an object");
  CHECK(wrong("{\"cases\": [1]}") == "suite.json:1:12: `cases` must be a list of objects, found an integer");
  CHECK(wrong("{\"cases\": [],\n \"modle\": 1}") ==
        "suite.json:2:3: unknown key `modle` in a suite; known are model, template, tokenizer, mode, defaults, cases");
  CHECK(wrong("{\"cases\": [],\n \"defaults\": {\"name\": \"x\"}}") ==
        "suite.json:2:23: `defaults` must not have a `name`");
  CHECK(
      wrong("{\"cases\": [],\n \"defaults\": {\"bridges\": 1}}").starts_with("suite.json:2:16: unknown key `bridges`"));
  CHECK(wrong("{\"mode\": \"x\", \"cases\": []}") == "suite.json:1:10: `mode` must be one of lenient, strict");
  CHECK(
      wrong_case(R"("rendred": "x")").starts_with("suite.json:2:3: unknown key `rendred` in a case; known are name, "));
  CHECK(wrong_case(R"("name": 1)") == "suite.json:2:10: `name` must be a text, found an integer");
  CHECK(wrong_case(R"("messages": [{"role": 1}])").empty());  // is the template's affair
  CHECK(wrong_case(R"("messages": [1])").starts_with("suite.json:2:14: messages[0] must be an object"));
  CHECK(wrong_case(R"("now": "noon")").starts_with("suite.json:2:9: `now` must be a time"));
  CHECK(wrong_case(R"("pieces": 1)") == "suite.json:2:12: `pieces` must be true or false, found an integer");
  CHECK(wrong_case(R"("ids": ["x"])") == "suite.json:2:10: `ids` must be a list of integers");
  CHECK(wrong_case(R"("ids": 1)") == "suite.json:2:9: `ids` must be a list of integers");
  CHECK(wrong_case(R"("kwargs": [])") == "suite.json:2:12: `kwargs` must be an object, found an array");
  CHECK(wrong_case(R"("tool_choice": "x")").starts_with("suite.json:2:17: `tool_choice` must be one of"));
  CHECK(wrong_case(R"("rendered": 1)") == "suite.json:2:14: `rendered` must be an object, found an integer");
  CHECK(wrong_case(R"("rendered": {"contains": [1]})") ==
        "suite.json:2:28: `contains` must be a list of texts, found an integer");
  CHECK(wrong_case(R"("rendered": {"contains": 1})") ==
        "suite.json:2:27: `contains` must be a text or a list of texts, found an integer");
  CHECK(wrong_case(R"("parsed": {"reasoning": 1})") == "suite.json:2:26: the reasoning must be a text, or null");
  CHECK(wrong_case(R"("parsed": {"tool_calls": [{"type": "x"}]})") ==
        "suite.json:2:37: the `type` of a tool call must be function");
  CHECK(wrong_case(R"("bridge": {})") == "suite.json:2:12: `bridge` needs `new_messages`");
  CHECK(wrong_case(R"("bridge": [{"content": 1}])").starts_with("suite.json:2:12: new_messages[0]"));
  CHECK(wrong_case(R"("mask": {})") == "suite.json:2:10: `mask` needs `texts`");
  CHECK(wrong_case(R"("error": {"line": "x"})") == "suite.json:2:20: `line` must be an integer, found a string");
  CHECK(wrong("{\"cases\": [{\"name\": \"a\"},\n{\"name\": \"a\"}]}") == "suite.json:2:1: two cases are called `a`");
}

TEST_CASE("a value that was made has no place") {
  const auto test = read_case(json::Value(json::Object{{"nam", 1}}), {});
  REQUIRE_FALSE(test.ok());
  CHECK(test.error().line == 0);
  CHECK(test.error().to_string().starts_with("unknown key `nam` in a case"));
}

TEST_CASE("a suite's model stands beside it, unless another one is given") {
  Suite suite;
  CHECK_FALSE(model_source(suite, "x.yaml", {}).ok());
  suite.model = "m";
  suite.tokenizer = "/v";
  CHECK(model_source(suite, "a/b/x.yaml", {}).value().path == "a/b/m");
  CHECK(model_source(suite, "x.yaml", {}).value().path == "m");
  CHECK(model_source(suite, "a/x.yaml", {}).value().tokenizer == "/v");
  CHECK(model_source(suite, "a/x.yaml", {.path = "other"}).value().path == "other");
  suite.chat_template = "t.jinja";
  CHECK(model_source(suite, "a/x.yaml", {}).value().chat_template == "a/t.jinja");
  CHECK_FALSE(model_source(suite, "a/x.yaml", {.path = "other"}).value().chat_template);
  const auto given = model_source(suite, "a/x.yaml", {.chat_template = "u.jinja"});
  CHECK(given.value().chat_template == "u.jinja");
  CHECK(given.value().path == "a/m");
}

}  // namespace
}  // namespace rondo::tester
