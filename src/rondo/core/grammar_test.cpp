#include "core/grammar.h"

#include "tests/support/core_models.h"

namespace rondo::core {
namespace {

// What read_asked() makes of `request`, or the complaint.
std::string asked(const char* request) {
  const json::Object object = json::parse(request).value().as_object();
  Fields fields(object);
  const Asked read = read_asked(fields);
  if (const Status status = fields.finish(); !status.ok()) return status.error().message;
  constexpr const char* kChoices[] = {"auto", "none", "required", "named "};
  return kChoices[static_cast<std::size_t>(read.tool_choice)] + read.tool_name +
         (read.parallel_tool_calls ? "" : ", one call") +
         (read.response_schema ? ", " + json::to_compact(*read.response_schema) : "");
}

TEST_CASE("what is asked of a model is read from the fields of the public chat APIs") {
  CHECK(asked("{}") == "auto");
  CHECK(asked(R"({"tool_choice": null, "response_schema": null, "parallel_tool_calls": null})") == "auto");
  CHECK(asked(R"({"tool_choice": "none", "parallel_tool_calls": false})") == "none, one call");
  CHECK(asked(R"({"tool_choice": "required"})") == "required");
  CHECK(asked(R"({"tool_choice": {"name": "add"}})") == "named add");
  CHECK(asked(R"({"response_schema": {"type": "object"}})") == R"(auto, {"type":"object"})");
  const std::string neither = "`tool_choice` must be a name or {\"name\": function}";
  CHECK(asked(R"({"tool_choice": {}})") == neither);
  CHECK(asked(R"({"tool_choice": {"name": 1}})") == neither);
  CHECK(asked(R"({"tool_choice": {"name": "add", "type": "function"}})") == neither);
  CHECK(asked(R"({"tool_choice": "any"})") ==
        "`tool_choice` must be one of \"auto\", \"none\", \"required\", found \"any\"");
  CHECK(asked(R"({"tool_choice": 3})") == "`tool_choice` must be a string, found an integer");
  CHECK(asked(R"({"response_schema": true})") == "auto, true");
  CHECK(asked(R"({"response_schema": []})") == "`response_schema` must be an object, found an array");
}

TEST_CASE("the language of a grammar") {
  const auto language = [](const char* request) {
    const json::Object object = json::parse(request).value().as_object();
    Fields fields(object);
    return read_language(fields);
  };
  CHECK(language("{}") == GrammarLanguage::kGbnf);
  CHECK(language(R"({"format": "gbnf"})") == GrammarLanguage::kGbnf);
  CHECK(language(R"({"format": "lark"})") == GrammarLanguage::kLark);
  CHECK(language(R"({"format": "structural_tag"})") == GrammarLanguage::kStructuralTag);
}

GrammarText grammar_of(const Asked& asked, GrammarLanguage language, bool with_tools = true) {
  Call call = testing::user_call();
  if (with_tools) call.conversation.tools = testing::tools();
  auto made = testing::memory_model()->grammar(call, asked, language);
  REQUIRE_MESSAGE(made.ok(), made.error().to_string());
  return std::move(made).value();
}

TEST_CASE("without tools and schema nothing is constrained") {
  for (const GrammarLanguage language :
       {GrammarLanguage::kGbnf, GrammarLanguage::kLark, GrammarLanguage::kStructuralTag}) {
    const GrammarText grammar = grammar_of({}, language, false);
    CHECK(grammar.text.empty());
    CHECK_FALSE(grammar.is_lazy);
    CHECK(grammar.triggers.empty());
  }
}

TEST_CASE("a grammar of calls that may come is lazy: it begins at a word, which is a token as well") {
  const GrammarText grammar = grammar_of({}, GrammarLanguage::kGbnf);
  CHECK(grammar.is_lazy);
  CHECK(grammar.text.find("root") != std::string::npos);
  CHECK(grammar.text.find("add") != std::string::npos);
  REQUIRE(grammar.triggers.size() == 2);
  CHECK(grammar.triggers[0].kind == GrammarTrigger::Kind::kWord);
  CHECK(grammar.triggers[0].value == "{!do");
  CHECK(grammar.triggers[1].kind == GrammarTrigger::Kind::kToken);
  CHECK(grammar.triggers[1].id == 258);
}

TEST_CASE("a grammar of calls that must come is not lazy") {
  Asked required;
  required.tool_choice = ToolChoice::kRequired;
  const GrammarText grammar = grammar_of(required, GrammarLanguage::kGbnf);
  CHECK_FALSE(grammar.is_lazy);
  CHECK(grammar.triggers.empty());
  CHECK(grammar.text.find("add") != std::string::npos);
  Asked named = required;
  named.tool_choice = ToolChoice::kNamed;
  named.tool_name = "add";
  CHECK(grammar_of(named, GrammarLanguage::kGbnf).text == grammar.text);  // there is no other tool
}

TEST_CASE("lark is told about the text before a call, and has no triggers") {
  const GrammarText grammar = grammar_of({}, GrammarLanguage::kLark);
  CHECK_FALSE(grammar.is_lazy);
  CHECK(grammar.triggers.empty());
  CHECK(grammar.text.find("start") != std::string::npos);
}

TEST_CASE("a structural tag is JSON") {
  const GrammarText grammar = grammar_of({}, GrammarLanguage::kStructuralTag);
  const auto tag = json::parse(grammar.text);
  REQUIRE(tag.ok());
  CHECK(tag.value().find_string("type") == "structural_tag");
}

TEST_CASE("a schema of the answer is a grammar without tools too") {
  Asked answer;
  answer.response_schema = testing::object(R"({"type": "object", "properties": {"mood": {"type": "string"}}})");
  const GrammarText grammar = grammar_of(answer, GrammarLanguage::kGbnf, false);
  CHECK(grammar.text.find("mood") != std::string::npos);
}

TEST_CASE("a schema that nothing satisfies is told, in every language") {
  for (const GrammarLanguage language :
       {GrammarLanguage::kGbnf, GrammarLanguage::kStructuralTag, GrammarLanguage::kLark}) {
    for (const char* schema : {R"({"enum": []})", R"({"type": "string", "minLength": 5, "maxLength": 2})",
                               R"({"properties": {"a": false}, "required": ["a"], "type": "object"})"}) {
      Asked answer;
      answer.response_schema = json::parse(schema).value();
      const GrammarText grammar = grammar_of(answer, language, false);
      CHECK(grammar.is_impossible);
      REQUIRE(grammar.warnings.size() == 1);
      CHECK(grammar.warnings[0].find("nothing satisfies the schema") != std::string::npos);
    }
    Asked answer;
    answer.response_schema = json::parse(R"({"properties": {"a": false}, "type": "object"})").value();
    CHECK_FALSE(grammar_of(answer, language, false).is_impossible);
  }
}

TEST_CASE("a grammar as JSON") {
  GrammarText grammar;
  grammar.text = "root ::= \"x\"";
  grammar.is_lazy = true;
  grammar.triggers = {{GrammarTrigger::Kind::kWord, "<w>"},
                      {GrammarTrigger::Kind::kPattern, "^p"},
                      {GrammarTrigger::Kind::kToken, "", 7}};
  grammar.warnings = {"left out"};
  CHECK(
      json::to_compact(to_json(grammar)) ==
      R"({"grammar":"root ::= \"x\"","lazy":true,"triggers":[{"type":"word","value":"<w>"},)"
      R"({"type":"pattern","value":"^p"},{"type":"token","value":7}],"warnings":["left out"],"preserved_tokens":[],)"
      R"("llama_server":{"grammar":"root ::= \"x\"","grammar_lazy":true,"grammar_triggers":[{"type":1,"value":"<w>"},)"
      R"({"type":3,"value":"^p[\\s\\S]*"},{"type":0,"value":"","token":7}],"preserved_tokens":[]}})");
}

}  // namespace
}  // namespace rondo::core
