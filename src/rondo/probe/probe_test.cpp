#include <doctest/doctest.h>

#include <array>

#include "json/print.h"
#include "probe/messages.h"
#include "probe/places.h"
#include "probe/variables.h"
#include "probe/words.h"

namespace rondo::probe {
namespace {

std::shared_ptr<const jinja::Template> compiled(const std::string& source) {
  return jinja::Template::compile(source, {}, "probe").value();
}

std::string shown(const json::Value& value) { return json::to_compact(value); }

TEST_CASE("the words of one set are no parts of each other") {
  const std::vector<std::vector<std::string_view>> sets = {
      {kShortSystem, kShortQuestion, kShortNextQuestion, kShortThought, kShortAnswer, kShortResult},
      {kShortSystem, kShortQuestion, kOlderSystem, kOlderQuestion, kOlderThought, kOlderAnswer, kOlderResult,
       kNewQuestion},
      {kSystemWord, kQuestionWord, kSecondQuestionWord, kThoughtWord, kAnswerWord, kSecondAnswerWord, kResultWord,
       kSecondResultWord, kToolName, kSecondToolName},
      {kQuestionText, kSecondQuestionText, kReasoningText, kContentText, kResultText, kFirstTool, kSecondTool}};
  for (const auto& words : sets) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      for (std::size_t j = 0; j < words.size(); ++j) {
        CAPTURE(words[i]);
        CAPTURE(words[j]);
        CHECK((i == j || words[i].find(words[j]) == std::string_view::npos));
      }
    }
  }
}

TEST_CASE("tools are named by their words") {
  CHECK(shown(small_tool()) ==
        R"({"type":"function","function":{"name":"probe","description":"d","parameters":{"type":"object",)"
        R"("properties":{"z":{"type":"string","description":"d"}},"required":["z"]}}})");
  CHECK(shown(small_arguments(false)) == R"({"z":"Z"})");
  CHECK(small_arguments(true) == json::Value(R"({"z": "Z"})"));
  for (const auto& [text, first, second] :
       {std::array{kWordTools, kToolName, kSecondToolName}, std::array{kTextTools, kFirstTool, kSecondTool}}) {
    const json::Value tools = parsed_tools(text);
    REQUIRE(tools.as_array().size() == 2);
    CHECK(tools.as_array()[0].find("function")->find_string("name") == first);
    CHECK(tools.as_array()[1].find("function")->find_string("name") == second);
  }
}

TEST_CASE("messages have their members in order") {
  CHECK(shown(plain_message("user", kQuestionWord)) == R"({"role":"user","content":"question-one"})");
  CHECK(shown(tool_message("i", "n", "t")) == R"({"role":"tool","tool_call_id":"i","name":"n","content":"t"})");
  CHECK(shown(tool_call("i", "n", json::Object{})) ==
        R"({"id":"i","type":"function","function":{"name":"n","arguments":{}}})");
  CHECK(shown(tool_call(std::nullopt, "n", nullptr)) ==
        R"({"type":"function","function":{"name":"n","arguments":null}})");
}

TEST_CASE("an assistant message has the shape of the format") {
  format::InputShape shape;
  const Saying silent;
  const Saying full{"why", "what", {{"f", json::Object{{"a", 1}}, "id1"}}};
  CHECK(shown(assistant_message(shape, silent)) == R"({"role":"assistant","content":""})");
  CHECK(shown(assistant_message(shape, full)) ==
        R"({"role":"assistant","content":"what","tool_calls":[{"id":"id1","type":"function","function":)"
        R"({"name":"f","arguments":{"a":1}}}]})");
  shape.no_content = format::NoContent::kNull;
  shape.reasoning_field = "thinking";
  shape.arguments_as_text = true;
  CHECK(shown(assistant_message(shape, silent)) == R"({"role":"assistant","content":null})");
  CHECK(shown(assistant_message(shape, full)) ==
        R"({"role":"assistant","content":"what","thinking":"why","tool_calls":[{"id":"id1","type":"function",)"
        R"("function":{"name":"f","arguments":"{\"a\": 1}"}}]})");
  shape = {};
  shape.no_content = format::NoContent::kAbsent;
  shape.reasoning_part = "thinking";
  CHECK(shown(assistant_message(shape, silent)) == R"({"role":"assistant"})");
  CHECK(shown(assistant_message(shape, {"why", "", {}})) ==
        R"({"role":"assistant","content":[{"type":"thinking","thinking":"why"}]})");
  CHECK(shown(assistant_message(shape, {"why", "what", {}})) ==
        R"({"role":"assistant","content":[{"type":"thinking","thinking":"why"},{"type":"text","text":"what"}]})");
}

TEST_CASE("contents become parts") {
  const json::Array messages = {plain_message("user", "a"), plain_message("user", nullptr),
                                plain_message("user", json::Array{text_part("b")}), json::Object{{"role", "user"}}};
  CHECK(shown(with_parts(messages)) ==
        R"([{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"user","content":[]},)"
        R"({"role":"user","content":[{"type":"text","text":"b"}]},{"role":"user"}])");
}

TEST_CASE("ids have nine letters and digits, or the name that the format has in them") {
  CHECK(call_id(0) == "abcdef000");
  CHECK(made_up_id(7) == "rondo0007");
  CHECK(made_up_id(1234) == "rondo0234");
  format::Format format;
  CHECK(id_of(format, "f", 2, call_id(2)) == "abcdef002");
  format.calls.pieces.push_back({format::CallPiece::Kind::kNameInId, ""});
  CHECK(id_of(format, "f", 2, call_id(2)) == "functions.f:2");
}

TEST_CASE("a template's own variables are those that nobody sets") {
  const auto chat_template =
      compiled("{{ messages }}{{ tools }}{{ style }}{{ bos_token }}{{ mood }}{% set x = 1 %}{{ x }}");
  CHECK(own_variables(*chat_template) == std::vector<std::string>{"mood", "style"});
  constexpr std::array<std::string_view, 1> kKnown = {"mood"};
  CHECK(own_variables(*chat_template, kKnown) == std::vector<std::string>{"style"});
  CHECK(reads_variable(*chat_template, "tools"));
  CHECK_FALSE(reads_variable(*chat_template, "x"));
  json::Object variables{{"mood", 1}};
  add_missing(variables, stand_ins({"mood", "style"}, "text"));
  CHECK(shown(variables) == R"({"mood":1,"style":"text"})");
}

TEST_CASE("what stands where in a render") {
  const auto chat_template = compiled("[{{ messages[0].content[0].text }}]{{ messages[0].role }}.");
  const json::Array messages{plain_message("user", json::Array{text_part("word")})};
  const auto rendered = chat_template->render(json::Object{{"messages", messages}}, {}).value();
  REQUIRE(rendered.text.bytes() == "[word]user.");
  CHECK(slice(rendered, 1, 5) == "word");
  const Spot spot = spot_at(rendered, 3);
  REQUIRE(spot.run != nullptr);
  CHECK(spot.begin == 1);
  CHECK(message_field(rendered.origins.paths, spot.run->path()) == "content");
  CHECK(message_field(rendered.origins.paths, spot_at(rendered, 0).run->path()).empty());
  CHECK(spot_at(rendered, 11).run == nullptr);
  CHECK_FALSE(shows_reasoning(rendered, 0));
  CHECK(input_from(rendered, 0, 8).begin == 1);
  CHECK(input_from(rendered, 5, 8).begin == 6);
  CHECK(input_from(rendered, 10, 8).run == nullptr);
  CHECK(spot_at(rendered, 1).begin == 1);
  CHECK(spot_at(rendered, 5).begin == 5);
  CHECK(input_from(rendered, 0, 1).begin == 1);
  CHECK(input_from(rendered, 0, 0).run == nullptr);
  CHECK(input_from(rendered, 4, 0).begin == 1);  // the run contains the byte
}

TEST_CASE("a field is a message's own, and reasoning that of its message") {
  const auto chat_template = compiled(
      "{{ tools[0].function.name }}{% for m in messages %}<{{ m.thinking }}>{{ m.role }}{{ m }}{% endfor %}{{ thinking "
      "}}");
  const json::Array messages{json::Object{{"role", "user"}}, json::Object{{"role", "assistant"}, {"thinking", "why"}}};
  const json::Object variables{{"messages", messages}, {"tools", parsed_tools(kWordTools)}, {"thinking", "apart"}};
  const auto rendered = chat_template->render(variables, {}).value();
  std::string fields;
  for (const text::Run& run : rendered.text.runs()) {
    if (run.kind == text::RunKind::kData)
      fields += std::string(message_field(rendered.origins.paths, run.path())) + ";";
  }
  CHECK(fields == ";role;role;role;thinking;role;role;role;thinking;thinking;;");
  CHECK_FALSE(shows_reasoning(rendered, 0));
  CHECK(shows_reasoning(rendered, 1));
  CHECK_FALSE(shows_reasoning(rendered, 2));
}

}  // namespace
}  // namespace rondo::probe
