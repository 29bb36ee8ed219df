#include "template/shape.h"

#include <doctest/doctest.h>

#include "json/parse.h"
#include "json/print.h"

namespace rondo::tmpl {
namespace {

struct Outcome {
  std::string messages;  // without the brackets of the array
  std::string changes;   // one per line
};

Outcome shaped(std::string_view text, const MessageRules& rules, const ShapingContext& context = {}) {
  json::Array messages = json::parse(text).value().as_array();
  const Shaping shaping = shape(messages, rules, context);
  json::Array again = messages;
  CHECK(shape(again, rules, context).changes.empty());
  CHECK(again == messages);
  Outcome out;
  for (const json::Value& message : messages) out.messages += json::to_compact(message);
  for (const std::string& sentence : sentences(shaping)) out.changes += sentence + "\n";
  return out;
}

}  // namespace

TEST_CASE("bug: beside an empty list of calls, absent content was not given as the template needs it") {
  MessageRules rules;
  rules.takes_empty_calls = true;
  rules.no_content = format::NoContent::kAbsent;
  rules.assistant.empty = RoleRules::Empty::kText;
  CHECK(shaped(R"([{"role":"assistant","tool_calls":[]}])", rules).messages ==
        R"({"role":"assistant","tool_calls":[],"content":""})");
}

TEST_CASE("without rules messages stay as they were sent") {
  const std::string_view messages =
      R"([{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]},{"role":"tool"},7])";
  const Outcome out = shaped(messages, {});
  CHECK("[" + out.messages.substr(0, 20) == messages.substr(0, 21));
  CHECK(out.changes.empty());
}

TEST_CASE("003:243-272: arguments are given as the template takes them") {
  MessageRules rules;
  rules.arguments = MessageRules::Arguments::kObject;
  rules.fills_arguments = true;
  const auto arguments = [&](std::string_view given) {
    return shaped(R"([{"role":"assistant","tool_calls":[{"function":{"name":"f")" + std::string(given) + "}}]}]",
                  rules);
  };
  CHECK(arguments(R"(,"arguments":"{\"a\": 1}")").messages ==
        R"({"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]})");
  CHECK(arguments(R"(,"arguments":"{\"a\": 1}")").changes ==
        "messages[0].tool_calls[0].function.arguments: given as an object\n");
  CHECK(arguments(R"(,"arguments":{"a":1})").changes.empty());
  for (const char* none : {"", R"(,"arguments":null)", R"(,"arguments":"")"}) {
    CHECK(arguments(none).messages ==
          R"({"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{}}}]})");
  }
  // A value that is not an object keeps its text.
  CHECK(arguments(R"(,"arguments":"{\"a\": ")").messages ==
        R"({"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"arguments":"{\"a\": "}}}]})");
  rules.arguments = MessageRules::Arguments::kText;
  CHECK(arguments(R"(,"arguments":{"a":1})").messages ==
        R"({"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{\"a\": 1}"}}]})");
  CHECK(arguments(R"(,"arguments":"{\"a\":")").changes.empty());
}

TEST_CASE("a call is given as an object with a type and a function") {
  MessageRules rules;
  rules.types_calls = rules.wraps_calls = true;
  const Outcome out = shaped(R"([{"role":"assistant","tool_calls":[{"name":"f","parameters":{"a":1}}]}])", rules);
  CHECK(out.messages.find(R"("type":"function","function":{"name":"f","arguments":{"a":1}}})") != std::string::npos);
  CHECK(out.changes.find("messages[0].tool_calls[0].parameters: given inside of `function`\n") != std::string::npos);
  // A template that accepts bare calls still knows arguments by one name only.
  CHECK(shaped(R"([{"role":"assistant","tool_calls":[{"name":"f","parameters":{"a":1}}]}])", {}).messages ==
        R"({"role":"assistant","tool_calls":[{"name":"f","parameters":{"a":1},"arguments":{"a":1}}]})");
}

TEST_CASE("contents are given as text or as parts") {
  MessageRules rules;
  rules.user = {.content = RoleRules::Content::kText, .empty = RoleRules::Empty::kText};
  rules.system = {.content = RoleRules::Content::kParts, .empty = RoleRules::Empty::kList};
  const auto user = [&](std::string_view content) {
    return shaped(R"([{"role":"user")" + std::string(content) + "}]", rules).messages;
  };
  CHECK(user(R"(,"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}])") ==
        R"({"role":"user","content":"ab"})");
  CHECK(user(R"(,"content":null)") == R"({"role":"user","content":""})");
  CHECK(user("") == R"({"role":"user","content":""})");
  // An image has no text to be joined.
  const std::string image = R"({"role":"user","content":[{"type":"image_url","image_url":{}}]})";
  CHECK(shaped("[" + image + "]", rules).messages == image);
  CHECK(shaped(R"([{"role":"system","content":"a"}])", rules).messages ==
        R"({"role":"system","content":[{"type":"text","text":"a"}]})");
  CHECK(shaped(R"([{"role":"system"}])", rules).messages == R"({"role":"system","content":[]})");
}

TEST_CASE("no content beside calls is said in the template's way") {
  MessageRules rules;
  const auto content = [&](std::string_view given, format::NoContent wanted) {
    rules.no_content = wanted;
    return shaped(R"([{"role":"assistant",)" + std::string(given) + R"("tool_calls":[{}]}])", rules).messages;
  };
  using enum format::NoContent;
  for (const char* none : {"", R"("content":null,)", R"("content":"",)"}) {
    CHECK(content(none, kAbsent) == R"({"role":"assistant","tool_calls":[{}]})");
    CHECK(content(none, kEmpty).find(R"("content":"")") != std::string::npos);
  }
  CHECK(content(R"("content":"",)", kNull) == R"({"role":"assistant","content":null,"tool_calls":[{}]})");
  CHECK(content("", kNull) == R"({"role":"assistant","tool_calls":[{}],"content":null})");
  CHECK(content(R"("content":"Hi",)", kNull) == R"({"role":"assistant","content":"Hi","tool_calls":[{}]})");
}

TEST_CASE("reasoning is given where the template looks for it") {
  const std::string_view message = R"([{"role":"assistant","reasoning":"R","content":"C"}])";
  MessageRules rules;
  rules.reasoning_field = "plan";
  CHECK(shaped(message, rules).messages == R"({"role":"assistant","reasoning":"R","content":"C","plan":"R"})");
  rules = {};
  rules.reasoning_part = "thinking";
  CHECK(
      shaped(message, rules).messages ==
      R"({"role":"assistant","reasoning":"R","content":[{"type":"thinking","thinking":"R"},{"type":"text","text":"C"}]})");
  const auto with_parts = [&](const std::string& parts) {
    return shaped(R"([{"role":"assistant","reasoning":"R","content":[)" + parts + "]}]", rules);
  };
  CHECK(
      with_parts(R"({"type":"text","text":"C"})").messages ==
      R"({"role":"assistant","reasoning":"R","content":[{"type":"thinking","thinking":"R"},{"type":"text","text":"C"}]})");
  CHECK(with_parts(R"({"type":"thinking","thinking":"R"},{"type":"text","text":"C"})").changes.empty());
  CHECK(with_parts(R"({"type":"thinking","thinking":"R"})").changes.empty());
  rules = {};
  rules.reasoning_in_content = true;
  rules.reasoning_open = "<<";
  rules.reasoning_close = ">>";
  CHECK(shaped(message, rules).messages == R"({"role":"assistant","reasoning":"R","content":"<<R>>C"})");
  CHECK(shaped(message, rules).changes == "messages[0].reasoning: given in front of the content\n");
  CHECK(shaped(R"([{"role":"assistant","reasoning":"","content":"C"}])", rules).changes.empty());
  // Reasoning would stand where the calls belong.
  rules.content_hides_calls = true;
  const std::string calls = R"({"role":"assistant","reasoning":"R","tool_calls":[{"function":{"name":"f"}}]})";
  CHECK(shaped("[" + calls + "]", rules).messages == calls);
  CHECK(shaped(message, rules).messages == R"({"role":"assistant","reasoning":"R","content":"<<R>>C"})");
  // Texts in parts are joined with it; a part without text is unchanged.
  CHECK(shaped(R"([{"role":"assistant","reasoning":"R","content":[{"type":"text","text":"C"}]}])", rules).messages ==
        R"({"role":"assistant","reasoning":"R","content":"<<R>>C"})");
  const std::string image = R"({"role":"assistant","reasoning":"R","content":[{"type":"image_url","image_url":{}}]})";
  CHECK(shaped("[" + image + "]", rules).messages == image);
  // The change that put something in front is found among the message's changes.
  json::Array messages =
      json::parse(R"([{"role":"assistant","content":"A","tool_calls":[{"name":"f","arguments":"{}"}]},
          {"role":"assistant","reasoning":"R","content":"C"}])")
          .value()
          .as_array();
  rules.arguments = MessageRules::Arguments::kObject;
  const Shaping shaping = shape(messages, rules);
  CHECK(front_of_content(shaping, 0) == nullptr);
  REQUIRE(front_of_content(shaping, 1) != nullptr);
  CHECK(front_of_content(shaping, 1)->sent == "reasoning");
}

TEST_CASE("an id of nine letters and digits is kept, any other is cut to nine") {
  MessageRules rules;
  rules.ids = MessageRules::Ids::kNineLetters;
  const auto is_kept = [&](const std::string& id) {
    const std::string call = R"({"role":"assistant","tool_calls":[{"id":")" + id + R"(","function":{"name":"f"}}]})";
    return shaped("[" + call + "]", rules).changes.empty();
  };
  CHECK(is_kept("abcXYZ019"));
  CHECK_FALSE(is_kept("abcXYZ01"));
  CHECK_FALSE(is_kept("abcXYZ0199"));
  CHECK_FALSE(is_kept("abc_YZ019"));
  CHECK_FALSE(is_kept("abc XYZ01"));
}

TEST_CASE("a result gets the id and the name of its call") {
  MessageRules rules;
  rules.ids = MessageRules::Ids::kNineLetters;
  rules.names_results = true;
  const Outcome out = shaped(
      R"([{"role":"assistant","tool_calls":[{"id":"call_one","function":{"name":"f"}},{"function":{"name":"g"}}]},
          {"role":"tool","tool_call_id":"call_one","content":"1"},{"role":"tool","content":"2"}])",
      rules);
  const json::Array messages =
      json::parse("[" + out.messages.substr(0, out.messages.find("}{\"role\":\"tool\"") + 1) + "]").value().as_array();
  const json::Array& calls = messages[0].find("tool_calls")->as_array();
  const std::string first(*calls[0].find_string("id"));
  const std::string second(*calls[1].find_string("id"));
  CHECK(first.size() == 9);
  CHECK(second.size() == 9);
  CHECK(out.messages.find(R"({"role":"tool","tool_call_id":")" + first + R"(","content":"1","name":"f"})") !=
        std::string::npos);
  CHECK(out.messages.find(R"({"role":"tool","content":"2","name":"g","tool_call_id":")" + second + R"("})") !=
        std::string::npos);
}

TEST_CASE("results are put in the order of their calls where nothing else tells them apart") {
  MessageRules rules;
  rules.orders_results = true;
  json::Array messages = json::parse(R"([{"role":"assistant","tool_calls":[{"id":"a"},{"id":"b"},{"id":"c"}]},
      {"role":"tool","tool_call_id":"c"},{"role":"tool","tool_call_id":"a"},{"role":"user","content":"u"}])")
                             .value()
                             .as_array();
  const Shaping shaping = shape(messages, rules);
  CHECK(messages[1].find_string("tool_call_id") == "a");
  CHECK(messages[2].find_string("tool_call_id") == "c");
  CHECK(shaping.order == std::vector<std::size_t>{0, 2, 1, 3});
  CHECK(sent_index(shaping, 1) == 2);
  // Only new messages, after calls that are known.
  json::Array results(messages.begin() + 1, messages.begin() + 3);
  std::swap(results[0], results[1]);
  CHECK(shape(results, rules, {{{"a", ""}, {"b", ""}, {"c", ""}}, 0}).order == std::vector<std::size_t>{1, 0});
}

TEST_CASE("other roles, nulls and values are given as the template knows them") {
  MessageRules rules;
  rules.knows_developer = false;
  rules.takes_nulls = false;
  rules.tool.dumps_values = true;
  CHECK(shaped(R"([{"role":"developer","content":"d","name":null}])", rules).messages ==
        R"({"role":"system","content":"d"})");
  CHECK(shaped(R"([{"role":"tool","content":{"a":[1,true]}}])", rules).messages ==
        R"({"role":"tool","content":"{\"a\": [1, true]}"})");
}

TEST_CASE("of a turn that stands as it was sampled only the calls are shaped") {
  MessageRules rules;
  rules.assistant.content = RoleRules::Content::kParts;
  rules.reasoning_in_content = true;
  rules.reasoning_close = ">>";
  rules.arguments = MessageRules::Arguments::kObject;
  const std::string_view messages = R"([{"role":"assistant","reasoning":"R","content":"C","tool_calls":[
      {"function":{"name":"f","arguments":"{}"}}]}])";
  ShapingContext context;
  context.sampled = {0};
  CHECK(shaped(messages, rules, context).changes ==
        "messages[0].tool_calls[0].function.arguments: given as an object\n");
}

TEST_CASE("a path leads to where the value was sent") {
  json::Array messages =
      json::parse(
          R"([{"role":"assistant","reasoning":"R","tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}}]}])")
          .value()
          .as_array();
  MessageRules rules;
  rules.arguments = MessageRules::Arguments::kObject;
  rules.reasoning_part = "thinking";
  const Shaping shaping = shape(messages, rules);
  CHECK(sent_path(shaping, 0, "tool_calls[0].function.arguments.a") == "tool_calls[0].function.arguments");
  CHECK(sent_path(shaping, 0, "content[0].thinking") == "reasoning");
  CHECK(sent_path(shaping, 0, "content[0].thinkings") == "content[0].thinkings");
  CHECK(sent_path(shaping, 1, "content[0].thinking") == "content[0].thinking");
  CHECK(change_at(shaping, 0, "tool_calls[0].function.name") == nullptr);
}

TEST_CASE("an empty list of calls is left out where the template takes it for calls") {
  MessageRules rules;
  const std::string_view sent = R"([{"role":"assistant","content":"a","tool_calls":[]}])";
  CHECK(shaped(sent, rules).changes.empty());
  rules.takes_empty_calls = false;
  CHECK(shaped(sent, rules).messages == R"({"role":"assistant","content":"a"})");
  CHECK(shaped(sent, rules).changes == "messages[0].tool_calls: left out, since it is empty\n");
}

TEST_CASE("calls of older clients are calls, their results are results") {
  const std::string_view sent =
      R"([{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"a\": 1}"}},)"
      R"({"role":"function","name":"f","content":"r"}])";
  CHECK(shaped(sent, {}).changes.empty());
  MessageRules rules;
  rules.takes_function_calls = rules.knows_function_role = false;
  rules.arguments = MessageRules::Arguments::kObject;
  const Outcome out = shaped(sent, rules);
  CHECK(
      out.messages ==
      R"({"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"f","arguments":{"a":1}}}]})"
      R"({"role":"tool","name":"f","content":"r"})");
  CHECK(out.changes ==
        "messages[0].function_call: given as a call in `tool_calls`\n"
        "messages[1].role: given as the role `tool`\n"
        "messages[0].tool_calls[0].function.arguments: given as an object\n");
}

TEST_CASE("a refusal is content where there is none") {
  MessageRules rules;
  rules.takes_refusals = false;
  rules.assistant.content = RoleRules::Content::kParts;
  const Outcome out = shaped(R"([{"role":"assistant","content":null,"refusal":"No."}])", rules);
  CHECK(out.messages == R"({"role":"assistant","content":[{"type":"text","text":"No."}]})");
  CHECK(out.changes ==
        "messages[0].refusal: given as the content\nmessages[0].refusal: given as a list with one part\n");
  CHECK(shaped(R"([{"role":"assistant","content":[{"type":"text","text":"Yes"}],"refusal":"No."}])", rules)
            .changes.empty());
  CHECK(shaped(R"([{"role":"user","content":[],"refusal":"No."}])", rules).changes.empty());
}

TEST_CASE("reasoning among the parts of a content is reasoning where the template knows no such part") {
  const std::string_view sent =
      R"([{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"a"}]}])";
  MessageRules rules;
  rules.assistant.content = RoleRules::Content::kText;
  const Outcome out = shaped(sent, rules);
  CHECK(out.messages == R"({"role":"assistant","content":"a","reasoning_content":"t"})");
  CHECK(
      out.changes.starts_with("messages[0].content: the reasoning among its parts is given as `reasoning_content`\n"));
  // A field with the template's own name is reported with the place at which it was sent.
  rules.reasoning_field = "plan";
  CHECK(shaped(sent, rules).changes.find("messages[0].content: given as `plan`\n") != std::string::npos);
  rules = {};
  rules.reasoning_part = "thinking";
  CHECK(shaped(sent, rules).changes.empty());
}

TEST_CASE("results that are numbers or lists of data are given as JSON text") {
  MessageRules rules;
  rules.tool.dumps_lists = rules.tool.dumps_scalars = true;
  const auto result = [&](std::string_view content) {
    return shaped(R"([{"role":"tool","content":)" + std::string(content) + "}]", rules).messages;
  };
  CHECK(result("41.50") == R"({"role":"tool","content":"41.5"})");
  CHECK(result("true") == R"({"role":"tool","content":"true"})");
  CHECK(result(R"(["a",{"b":1}])") == R"({"role":"tool","content":"[\"a\", {\"b\": 1}]"})");
  CHECK(result(R"([{"type":"text","text":"a"}])") == R"({"role":"tool","content":[{"type":"text","text":"a"}]})");
}

TEST_CASE("bug: a call got its id as the last member, where a template may print it") {
  MessageRules rules;
  rules.ids = MessageRules::Ids::kNeeded;
  CHECK(
      shaped(R"([{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f"}}]}])", rules).messages ==
      R"({"role":"assistant","tool_calls":[{"id":"call_0","type":"function","function":{"name":"f"}}]})");
}

TEST_CASE("bug: a result that is an object was no part where the template reads parts") {
  MessageRules rules;
  rules.tool.dumps_values = true;
  rules.tool.content = RoleRules::Content::kParts;
  const Outcome out = shaped(R"([{"role":"tool","content":{"a":1}}])", rules);
  CHECK(out.messages == R"({"role":"tool","content":[{"type":"text","text":"{\"a\": 1}"}]})");
  CHECK(out.changes == "messages[0].content: given as JSON text\nmessages[0].content: given as a list with one part\n");
}

TEST_CASE("bug: a result with an id of no call was placed without a note where the template writes no ids") {
  const std::string said = R"([{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f"}}]},)";
  const std::string result = R"({"role":"tool","tool_call_id":"x","content":"r"}])";
  const std::string doubt =
      "messages[1].tool_call_id: no call has this id; the template writes no ids, so the result answers by its place\n";
  CHECK(shaped(said + result, {}).changes == doubt);
  CHECK(shaped(R"([{"role":"assistant","tool_calls":[{"function":{"name":"f"}}]},)" + result, {}).changes == doubt);
  CHECK(shaped(R"([{"role":"user","content":"u"},)" + result, {}).changes == doubt);
  CHECK(shaped(said + R"({"role":"tool","tool_call_id":"a","content":"r"}])", {}).changes.empty());
  CHECK(shaped(said + R"({"role":"tool","content":"r"}])", {}).changes.empty());
  MessageRules writes_ids;
  writes_ids.ids = MessageRules::Ids::kNeeded;
  CHECK(shaped(said + result, writes_ids).changes.empty());
  // A bridge says what fits the calls of its completion.
  CHECK(shaped("[" + result, {}, {.open_calls = {{std::nullopt, "f"}}}).changes.empty());
}

}  // namespace rondo::tmpl
