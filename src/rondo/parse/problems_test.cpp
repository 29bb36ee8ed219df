// Tests the faults of arguments that can be read: tags that differ from the format's own, and what the tool's schema
// refuses.
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "base/files.h"
#include "json/parse.h"
#include "parse/parser.h"
#include "parse/schema_check.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

using format::CallPiece;
using format::Format;
using format::ValueStyle;
using format::ValueType;

const std::string kTools = R"json([{"type": "function", "function": {"name": "find", "parameters": {"type": "object",
  "properties": {"q": {"type": "string"}, "n": {"type": "integer"}, "deep": {"type": "boolean"}}}}}])json";

format::ValueForm form(ValueType type, ValueStyle style, const std::string& open = "", const std::string& close = "") {
  return {type, style, open, close, ""};
}

Format tags() {
  Format format;
  format.header = "[bot]";
  format.stops.content = {"<eot>"};
  format.calls.present = true;
  format.calls.call_open = "<call>";
  format.calls.call_close = "</call>";
  format.calls.pieces = {
      {CallPiece::Kind::kName, ""}, {CallPiece::Kind::kLiteral, ">"}, {CallPiece::Kind::kArguments, ""}};
  format.calls.arguments = format::ArgumentStyle::kParameters;
  format.calls.parameters.open = "<p=";
  format.calls.parameters.key_close = ">";
  format.calls.parameters.close = "</p>";
  format.calls.parameters.forms = {form(ValueType::kString, ValueStyle::kRaw),
                                   form(ValueType::kInteger, ValueStyle::kJson),
                                   form(ValueType::kObject, ValueStyle::kJson)};
  return format;
}

// A format in which the tag has the type after the name.
Format typed_tags() {
  Format format = tags();
  format.calls.parameters.open = "<p name=\"";
  format.calls.parameters.key_close = "\"";
  format.calls.parameters.forms = {form(ValueType::kString, ValueStyle::kRaw, " text=\"yes\">"),
                                   form(ValueType::kInteger, ValueStyle::kJson, " text=\"no\">"),
                                   form(ValueType::kObject, ValueStyle::kJson, " text=\"no\">")};
  return format;
}

// A format in which keys and values have tags of their own.
Format pairs() {
  Format format = tags();
  format.calls.parameters.open = "<k>";
  format.calls.parameters.key_close = "</k>";
  format.calls.parameters.close = "</v>";
  for (format::ValueForm& one : format.calls.parameters.forms) one.open = "<v>";
  return format;
}

Options with_tools(const std::string& tools = kTools) {
  Options options;
  options.tools = json::parse(tools).value();
  return options;
}

// Returns the calls of the text, each with its problems.
std::string problems(const Format& format, const std::string& text, const Options& options = with_tools()) {
  const auto shared = std::make_shared<const Format>(format);
  REQUIRE_FALSE(format.verify());
  const std::string whole = testing::in_any_chunks(shared, text, options);
  const chat::AssistantMessage message = parse(shared, options, text).value();
  std::string out = message.content;
  for (const chat::ToolCall& call : message.tool_calls) {
    out += call.arguments + " " + std::string(chat::to_string(call.status));
    for (const chat::CallProblem& problem : call.problems)
      out += "; " + std::string(chat::to_string(problem.kind)) + " of " + problem.parameter + ": " + problem.sentence;
  }
  return out;
}

TEST_CASE("a value that holds the tag of the next parameter") {
  CHECK(problems(tags(), "<call>find><p=q>Oslo<p=n>3</p></call>") ==
        R"({"q":"Oslo<p=n>3"} malformed; swallowed_tag of q: the value of `q` holds the tag of `n`)");
  CHECK(problems(tags(), "<call>find><p=q>Oslo<p=n>3</p></call>", {}) ==
        R"({"q":"Oslo<p=n>3"} malformed; swallowed_tag of q: the value of `q` holds the tag of `n`)");
  CHECK(problems(tags(), "<call>find><p=n>3\n<p=q>Oslo</p></call>") ==
        R"({"n":"3\n<p=q>Oslo"} malformed; swallowed_tag of n: the value of `n` holds the tag of `q`; )"
        "wrong_type of n: `n` is a string, and the tool's schema wants an integer");
  CHECK(problems(pairs(), "<call>find><k>q</k><v>Oslo<k>n</k><v>3</v></call>") ==
        R"({"q":"Oslo<k>n</k><v>3"} malformed; swallowed_tag of q: the value of `q` holds the tag of `n`)");
  CHECK(
      problems(typed_tags(), R"(<call>find><p name="q" text="yes">Oslo<p name="n" text="no">3</p></call>)") ==
      R"({"q":"Oslo<p name=\"n\" text=\"no\">3"} malformed; swallowed_tag of q: the value of `q` holds the tag of `n`)");
}

TEST_CASE("bug: a pair of tags inside a value was a tag that it had swallowed, where closing tags have names") {
  Format format = tags();
  format.calls.parameters.open = "<";
  format.calls.parameters.key_in_close = "</";
  format.calls.parameters.close = ">";
  CHECK(problems(format, "<call>find><q><n> & </n></q></call>") == R"({"q":"<n> & </n>"} ok)");
  CHECK(problems(format, "<call>find><q>x<n>3</q></call>") ==
        R"({"q":"x<n>3"} malformed; swallowed_tag of q: the value of `q` holds the tag of `n`)");
}

TEST_CASE("a value that quotes a tag is none that swallowed one") {
  // A whole parameter, a parameter that is given elsewhere, and one that the tool does not have.
  CHECK(problems(tags(), "<call>find><p=q>write <p=n>3</p> so</p></call>") == R"({"q":"write <p=n>3</p> so"} ok)");
  CHECK(problems(tags(), "<call>find><p=q>open <p=n> first</p><p=n>3</p></call>") ==
        R"({"q":"open <p=n> first","n":3} ok)");
  CHECK(problems(tags(), "<call>find><p=q>open <p=x> first</p></call>") == R"({"q":"open <p=x> first"} ok)");
  CHECK(problems(tags(), "<call>find><p=q>a <p= and <p=></p></call>") == R"({"q":"a <p= and <p=>"} ok)");
  // White space that the format does not write.
  CHECK(problems(tags(), "<call>find><p=q>a <p= n ></p></call>") == R"({"q":"a <p= n >"} ok)");
  Format spaced = tags();
  spaced.calls.parameters.open = "<p= ";
  CHECK(problems(spaced, "<call>find><p= q>a <p= n></p></call>") ==
        R"({"q":"a <p= n>"} malformed; swallowed_tag of q: the value of `q` holds the tag of `n`)");
}

TEST_CASE("bug: a parameter was lost whose tag lacked the attribute that tells the value's type") {
  Format format = typed_tags();
  format.calls.parameters.key_close = "\" text=\"";
  for (format::ValueForm& one : format.calls.parameters.forms)
    one.open = one.type == ValueType::kString ? "yes\">" : "no\">";
  const std::string damaged = " malformed; unknown_attribute of q: the tag of `q` is not as the format writes it";
  CHECK(problems(format, R"(<call>find><p name="q" text="yes">Oslo</p></call>)") == R"({"q":"Oslo"} ok)");
  CHECK(problems(format, R"(<call>find><p name="q">Oslo</p><p name="n" text="no">3</p></call>)") ==
        R"({"q":"Oslo","n":3})" + damaged);
  CHECK(problems(format, R"(<call>find><p name="q" kind="x">a="b">c</p></call>)") == R"({"q":"a=\"b\">c"})" + damaged);
  CHECK(problems(format, R"(<call>find><p name="n">3</p></call>)") ==
        R"({"n":3} malformed; unknown_attribute of n: the tag of `n` is not as the format writes it)");
  CHECK(problems(format, R"(<call>find><p name="q>Oslo</p></call>)") ==
        "{} malformed; unreadable_parameter of : the name of a parameter cannot be read");
}

TEST_CASE("bug: behind a parameter that cannot be read, a call that was only thought of hid the end of the reasoning") {
  Format format = tags();
  format.reasoning = {true, "<think>", "</think>", false};
  const std::string thought = "<think>Maybe <call>find> is wrong.</think><call>find><p=q>Oslo</p></call>";
  CHECK(problems(format, thought) == R"({"q":"Oslo"} ok)");
  CHECK(testing::in_any_chunks(std::make_shared<const Format>(format), thought, with_tools()) ==
        R"(R(Maybe <call>find> is wrong.) C() find{"q":"Oslo"})");
  CHECK(problems(format, "<think>Maybe <call>find> x <p=q>Oslo</p></call>") ==
        R"({"q":"Oslo"} malformed; unreadable_parameter of : a parameter is expected)");
}

TEST_CASE("bug: a number went on behind its closing tag where the format has nothing of what follows") {
  const std::string lost = "malformed; unreadable_parameter of : a parameter is expected";
  CHECK(problems(tags(), "<call>find><p=n>3</p>x<p=q>Oslo</p></call>") == R"({"n":3,"q":"Oslo"} )" + lost);
  CHECK(problems(tags(), "<call>find><p=deep>\ntrue\n</p> so </call>") == R"({"deep":true} )" + lost);
  CHECK(problems(tags(), "<call>find><p=q>3</p>x</p></call>") == R"({"q":"3</p>x"} ok)");
  CHECK(problems(tags(), "<call>find><p=n>many</p>x</p></call>") ==
        R"({"n":"many</p>x"} malformed; wrong_type of n: `n` is a string, and the tool's schema wants an integer)");
}

TEST_CASE("bug: the closing bracket of the tag with a tool's name was missing, and the call was text of the answer") {
  Format format = tags();
  format.calls.call_open = "<call=";
  const std::string damaged =
      " malformed; unknown_attribute of : the tag of the call of `find` is not as the format writes it";
  CHECK(problems(format, "<call=find\n<p=q>Oslo</p></call>") == R"({"q":"Oslo"})" + damaged);
  CHECK(problems(format, "<call=find <p=q>Oslo</p><p=n>3</p></call>") == R"({"q":"Oslo","n":3})" + damaged);
  CHECK(problems(format, "<call=other\n<p=q>Oslo</p></call>") == "<call=other\n<p=q>Oslo</p></call>");
  CHECK(problems(format, "<call=find\n<p=q>Oslo</p></call>", {}) == "<call=find\n<p=q>Oslo</p></call>");
}

TEST_CASE("a tag with an attribute that the format lacks") {
  const std::string damaged = "malformed; unknown_attribute of q: the tag of `q` is not as the format writes it";
  CHECK(problems(tags(), "<call>find><p=q type=string>Oslo</p></call>") == R"({"q":"Oslo"} )" + damaged);
  CHECK(problems(tags(), R"(<call>find><p=q type="string" x='1'>Oslo</p></call>)") == R"({"q":"Oslo"} )" + damaged);
  CHECK(problems(typed_tags(), R"(<call>find><p name="q" text="yes" x="1">Oslo</p></call>)") ==
        R"({"q":"Oslo"} )" + damaged);
  CHECK(problems(typed_tags(), R"(<call>find><p name="q" x="1" text="yes">Oslo</p></call>)") ==
        R"({"q":"Oslo"} )" + damaged);
  CHECK(problems(typed_tags(), R"(<call>find><p name="q" text="maybe">Oslo</p></call>)") ==
        R"({"q":"Oslo"} )" + damaged);
  CHECK(problems(typed_tags(), R"(<call>find><p name="q">Oslo</p></call>)") == R"({"q":"Oslo"} )" + damaged);
  CHECK(problems(pairs(), R"(<call>find><k>q</k><v type="x">Oslo</v></call>)") == R"({"q":"Oslo"} )" + damaged);
  CHECK(problems(pairs(), R"(<call>find><k>q</k>Oslo</v></call>)") == R"({"q":"Oslo"} )" + damaged);
  CHECK(problems(typed_tags(), R"(<call>find><p name="q" text="yes">a="b">c</p></call>)") == R"({"q":"a=\"b\">c"} ok)");
  CHECK(problems(tags(), "<call>find><p=two words>1</p></call>", {}) == R"({"two words":1} ok)");
}

TEST_CASE("bug: a call whose own tag had another attribute or other quotes was text") {
  Format format = tags();
  format.calls.call_open = "<call name=\"";
  format.calls.pieces[1].text = "\">";
  const std::string damaged =
      R"({"q":"x"} malformed; unknown_attribute of : the tag of the call of `find` is not as the format writes it)";
  CHECK(problems(format, R"(<call name="find"><p=q>x</p></call>)") == R"({"q":"x"} ok)");
  CHECK(problems(format, R"(<call name="find" why="a b"><p=q>x</p></call>)") == damaged);
  CHECK(problems(format, "<call name='find'><p=q>x</p></call>") == damaged);
  CHECK(problems(format, "<call name=find><p=q>x</p></call>") == damaged);
  CHECK(problems(format, R"(<call name="find"/>)") == "{} ok");
  CHECK(problems(format, R"(<call name="find" why="a" />)") == "{} ok");
  CHECK(problems(format, R"(<call name="find" and more)") == R"(<call name="find" and more)");
}

TEST_CASE("bug: arguments that could not be read vanished without a problem") {
  Format format = tags();
  format.calls.pieces[1].text = "(";
  format.calls.call_close = ")</call>";
  format.calls.parameters.open = "";
  format.calls.parameters.key_close = "=";
  format.calls.parameters.close = "";
  format.calls.parameters.separator = ", ";
  CHECK(problems(format, "<call>find(1, q=2)</call>") ==
        "{} malformed; unreadable_parameter of : the name of a parameter cannot be read");
}

TEST_CASE("bug: a value that nothing closes took the next call with it, and its call was ok") {
  const std::string unclosed = " malformed; unclosed_value of q: nothing closes the value of `q`";
  const std::string next = "<call>find><p=n>3</p></call>";
  CHECK(problems(tags(), "<call>find><p=q>Oslo</call>" + next) == R"({"q":"Oslo"})" + unclosed + R"({"n":3} ok)");
  CHECK(problems(tags(), "<call>find><p=q>Oslo\n</call>\n" + next) == R"({"q":"Oslo\n"})" + unclosed + R"({"n":3} ok)");
  CHECK(problems(tags(), "<call>find><p=q>Oslo</call>") == R"({"q":"Oslo"})" + unclosed);
  CHECK(problems(tags(), "<call>find><p=q>Oslo</call>\n<eot>") == R"({"q":"Oslo"})" + unclosed);
  CHECK(problems(tags(), "<call>find><p=n>3</call>" + next) ==
        R"({"n":3} malformed; unclosed_value of n: nothing closes the value of `n`{"n":3} ok)");
  // What is quoted: a whole call, a close before other text, a call of a tool that is not there.
  CHECK(problems(tags(), "<call>find><p=q>so: <call>find></call><call>find></call> </p></call>") ==
        R"({"q":"so: <call>find></call><call>find></call> "} ok)");
  CHECK(problems(tags(), "<call>find><p=q>the </call> tag</p></call>") == R"({"q":"the </call> tag"} ok)");
  CHECK(problems(tags(), "<call>find><p=q></call><call>lost></p></call>") == R"({"q":"</call><call>lost>"} ok)");
  CHECK(problems(tags(), "<call>find><p=q></call>" + next, {}) ==
        R"({"q":"</call><call>find><p=n>3"} )"
        "malformed; swallowed_tag of q: the value of `q` holds the tag of `n`");
}

TEST_CASE("bug: one tag that cannot be read hid all parameters behind it") {
  const std::string unreadable = " malformed; unreadable_parameter of : ";
  CHECK(problems(tags(), R"(<call>find><p name="q">Oslo</p><p=n>3</p></call>)") ==
        R"({"n":3})" + unreadable + "a parameter is expected");
  CHECK(problems(tags(), "<call>find><p=q\n>Oslo</p><p='>x</p><p=n>3</p></call>") ==
        R"({"q":"Oslo","n":3})" + unreadable + "the name of a parameter cannot be read");
  CHECK(problems(pairs(), "<call>find><k>q</k><k>n</k><v>3</v></call>") ==
        R"({"q":"<k>n</k><v>3"} malformed; )"
        "unknown_attribute of q: the tag of `q` is not as the format writes it; "
        "swallowed_tag of q: the value of `q` holds the tag of `n`");
  CHECK(problems(tags(), "<call>find>\n<") == "{} unclosed; unreadable_parameter of : a parameter is expected");
  CHECK(problems(tags(), "<call>find>Oslo</call>") == "{}" + unreadable + "a parameter is expected");
}

// Calls in Python's syntax, whose strings have quotes and no escapes.
Format quoted_strings() {
  Format format = tags();
  format.calls.section_open = "[";
  format.calls.section_close = "]";
  format.calls.call_open.clear();
  format.calls.call_close = ")";
  format.calls.separator = ", ";
  format.calls.pieces[1].text = "(";
  format.calls.parameters = {};
  format.calls.parameters.key_close = "=";
  format.calls.parameters.separator = ", ";
  format.calls.parameters.forms = {form(ValueType::kString, ValueStyle::kRaw, "'", "'"),
                                   form(ValueType::kInteger, ValueStyle::kJson)};
  return format;
}

TEST_CASE("bug: a quote before a bracket ended a string, and the rest of the call became content") {
  CHECK(problems(quoted_strings(), "[find(q='print('a') # x')]") == R"({"q":"print('a') # x"} ok)");
  CHECK(problems(quoted_strings(), "[find(q='a'), find(q='('b'), c', n=2)]") ==
        R"({"q":"a"} ok{"q":"('b'), c","n":2} ok)");
  CHECK(problems(quoted_strings(), "[find(q='a'), find(n=1)]") == R"({"q":"a"} ok{"n":1} ok)");
  CHECK(problems(quoted_strings(), "[find(q='a')") == R"({"q":"a"} ok)");
}

TEST_CASE("bug: a reference with escapes led nowhere, and a number was none of the texts that may be chosen") {
  const Options options = with_tools(R"json([{"type": "function", "function": {"name": "find", "parameters": {
    "type": "object", "$defs": {"a/b": {"type": "string"}}, "properties": {
      "q": {"$ref": "#/$defs/a~1b"}, "n": {"enum": ["7", 8]}}}}}])json");
  CHECK(problems(tags(), "<call>find><p=q>null</p><p=n>7</p></call>", options) == R"({"q":"null","n":"7"} ok)");
  CHECK(problems(tags(), "<call>find><p=n>8</p></call>", options) == R"({"n":8} ok)");
}

TEST_CASE("null is read as null where the schema allows it, however it says so") {
  const auto read = [](const std::string& schema) {
    return problems(
        tags(), "<call>find><p=q>null</p></call>",
        with_tools(R"([{"function": {"name": "find", "parameters": {"properties": {"q": )" + schema + "}}}}]"));
  };
  CHECK(read(R"({"type": "string", "nullable": true})") == R"({"q":null} ok)");
  CHECK(read(R"({"type": ["string", "null"]})") == R"({"q":null} ok)");
  CHECK(read(R"({"type": "string", "nullable": false})") == R"({"q":"null"} ok)");
}

std::string judged(const std::string& schema, const std::string& arguments) {
  std::string out;
  for (const chat::CallProblem& problem : schema_problems(json::parse(arguments).value(), json::parse(schema).value()))
    out += (out.empty() ? "" : "; ") + problem.sentence;
  return out;
}

TEST_CASE("values that the declared type refuses") {
  const auto typed = [](const std::string& type) { return R"({"properties": {"a": )" + type + "}}"; };
  CHECK(judged(typed(R"({"type": "integer"})"), R"({"a": "1"})") ==
        "`a` is a string, and the tool's schema wants an integer");
  CHECK(judged(typed(R"({"type": "integer"})"), R"({"a": 1.5})") ==
        "`a` is a float, and the tool's schema wants an integer");
  CHECK(judged(typed(R"({"type": ["string", "null"]})"), R"({"a": []})") ==
        "`a` is an array, and the tool's schema wants a string or null");
  CHECK(judged(typed(R"({"anyOf": [{"type": "number"}, {"type": "boolean"}]})"), R"({"a": {}})") ==
        "`a` is an object, and the tool's schema wants a number or a boolean");
  CHECK(judged(typed(R"({"type": "array", "items": {"type": "object", "properties": {"b": {"type": "string"}}}})"),
               R"({"a": [{"b": "x"}, {"b": 1}]})") == "`a[1].b` is an integer, and the tool's schema wants a string");
  CHECK(judged(typed(R"({"enum": ["a", "b"]})"), R"({"a": 1})") ==
        "`a` is an integer, and the tool's schema wants a string");
  CHECK(judged(R"({"type": "object"})", "[1]") ==
        "what is passed to the tool is an array, and the tool's schema wants an object");
  CHECK(judged(R"({"properties": {"a": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"type": "string"}}})", R"({"a": 1})") ==
        "`a` is an integer, and the tool's schema wants a string");
  CHECK(judged(R"({"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}}]})",
               R"({"a": 1, "b": 2})")
            .empty());
}

TEST_CASE("values that fit their declared type, and schemas that say nothing") {
  const auto fits = [](const std::string& type, const std::string& value) {
    return judged(R"({"type": "object", "properties": {"a": )" + type + "}}", R"({"a": )" + value + "}").empty();
  };
  CHECK(fits(R"({"type": "integer"})", "1.0"));
  CHECK(fits(R"({"type": "integer"})", "1e3"));
  CHECK(fits(R"({"type": "integer"})", "12345678901234567890123"));
  CHECK(fits(R"({"type": "number"})", "1"));
  CHECK(fits(R"({"type": "string", "nullable": true})", "null"));
  CHECK(fits(R"({"type": ["string", "null"]})", "null"));
  CHECK(fits(R"({"anyOf": [{"type": "string"}, {}]})", "1"));
  CHECK(fits(R"({"oneOf": [{"type": "string"}, {"type": "integer"}]})", "1"));
  CHECK(fits(R"({"enum": [1, 2.5, "x"]})", "7"));
  CHECK(fits(R"({"const": 1})", "1.0"));
  CHECK(fits(R"({"type": "STRING"})", "1"));
  CHECK(fits(R"({"type": "any"})", "{}"));
  CHECK(fits(R"({"type": []})", "{}"));
  CHECK(fits(R"({"$ref": "elsewhere.json"})", "1"));
  CHECK(fits(R"({"$ref": "#"})", "{}"));
  CHECK(fits(R"({"items": {"type": "string"}})", "1"));
  CHECK(fits(R"({"type": "object", "additionalProperties": {"type": "string"}})", R"({"b": "x"})"));
  CHECK_FALSE(fits(R"({"type": "object", "additionalProperties": {"type": "string"}})", R"({"b": 1})"));
  CHECK(fits("true", "1"));
  CHECK(fits("5", "1"));
}

TEST_CASE("parameters that the schema does not have") {
  const std::string none = "the tool has no parameter `x`";
  CHECK(judged(R"({"type": "object", "properties": {"a": {}}})", R"({"x": 1})") == none);
  CHECK(judged(R"({"type": "object", "properties": {}})", R"({"x": 1})") == none);
  CHECK(judged(R"({"properties": {"a": {}}, "additionalProperties": false})", R"({"a": 1, "x": 1})") == none);
  CHECK(judged(R"({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]})", R"({"a": 1, "b": 2, "x": 1})") ==
        none);
  for (const char* open :
       {R"({"type": "object"})", "null", "{}", R"({"properties": {"a": {}}, "additionalProperties": true})",
        R"({"properties": {"a": {}}, "additionalProperties": {"type": "integer"}})",
        R"({"properties": {"a": {}}, "patternProperties": {"^x": {}}})",
        R"({"anyOf": [{"properties": {"x": {}}}, {"properties": {}}]})",
        R"({"$ref": "#/$defs/x", "$defs": {"x": {"properties": {"x": {}}}}})",
        R"({"$ref": "other.json", "properties": {"a": {}}})"})
    CHECK_MESSAGE(judged(open, R"({"x": 1})").empty(), open);
  CHECK(judged(R"({"properties": {}, "required": ["x"]})", R"({"x": 1})").empty());
  CHECK(judged(R"({"properties": {"a": {}}, "additionalProperties": {"type": "string"}})", R"({"x": 1})") ==
        "`x` is an integer, and the tool's schema wants a string");
}

TEST_CASE("alternatives that refer to each other end") {
  const std::string circle =
      R"({"properties": {"a": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"anyOf": [{"$ref": "#/$defs/t"},
    {"$ref": "#/$defs/t"}, {"$ref": "#/$defs/t"}, {"type": "string"}]}}})";
  CHECK(judged(circle, R"({"a": "x"})").empty());
  (void)judged(circle, R"({"a": 1})");
}

// Options with a tool `find` whose parameter `u` has that schema.
Options with_union(const std::string& schema) {
  return with_tools(
      R"([{"type": "function", "function": {"name": "find", "parameters": {"type": "object", "properties": {"u": )" +
      schema + "}}}}]");
}

TEST_CASE("bug: a value that fits an alternative as a text was read as another type that fits none") {
  const auto read = [](const std::string& schema, const std::string& value) {
    return problems(tags(), "<call>find><p=u>" + value + "</p></call>", with_union(schema));
  };
  for (const char* schema :
       {R"({"anyOf": [{"type": "string"}, {"type": "integer"}]})",
        R"({"oneOf": [{"type": "integer"}, {"type": "string"}]})", R"({"type": ["string", "integer"]})"}) {
    CAPTURE(schema);
    CHECK(read(schema, "42") == R"({"u":42} ok)");
    CHECK(read(schema, "1.5") == R"({"u":"1.5"} ok)");
    CHECK(read(schema, "abc") == R"({"u":"abc"} ok)");
    CHECK(read(schema, "true") == R"({"u":"true"} ok)");
  }
  const std::string list = R"({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}]})";
  CHECK(read(list, R"(["a"])") == R"({"u":["a"]} ok)");
  CHECK(read(list, "[1]") == R"({"u":"[1]"} ok)");
  // Where no alternative is a string, the value keeps its type and is reported.
  CHECK(read(R"({"anyOf": [{"type": "integer"}, {"type": "null"}]})", "1.5").starts_with(R"({"u":1.5} malformed)"));
  // An alternative that says nothing allows everything.
  CHECK(read(R"({"anyOf": [{"type": "string"}, {}]})", "42") == R"({"u":42} ok)");
}

TEST_CASE("bug: the last value kept the white space that closes its call") {
  Format format = tags();
  format.calls.call_open = "<|tool|>";
  format.calls.pieces = {{format::CallPiece::Kind::kName, ""}, {format::CallPiece::Kind::kArguments, ""}};
  format.calls.call_close = "\n";
  format.calls.parameters.open = "\n<|p|>";
  format.calls.parameters.key_close = "\n";
  format.calls.parameters.close = "";
  CHECK(problems(format, "<|tool|>find\n<|p|>q\nOslo\n<eot>") == R"({"q":"Oslo"} ok)");
  CHECK(problems(format, "<|tool|>find\n<|p|>q\nOslo\n\n<eot>") == R"({"q":"Oslo\n"} ok)");
  CHECK(problems(format, "<|tool|>find\n<|p|>q\nOslo\n") == R"({"q":"Oslo"} ok)");
  CHECK(problems(format, "<|tool|>find\n<|p|>q\nOslo\n<|p|>n\n3\n<eot>") == R"({"q":"Oslo","n":3} ok)");
}

TEST_CASE("bug: text without the format's own quotes made a string of the whole object") {
  Format format = tags();
  format.calls.parameters.open = "";
  format.calls.parameters.key_close = ":";
  format.calls.parameters.close = "";
  format.calls.parameters.separator = ",";
  format.calls.pieces[1].text = "{";
  format.calls.call_close = "}</call>";
  format.calls.parameters.forms = {
      form(ValueType::kString, ValueStyle::kRaw, "<|q|>", "<|q|>"), form(ValueType::kInteger, ValueStyle::kJson),
      form(ValueType::kObject, ValueStyle::kNested), form(ValueType::kArray, ValueStyle::kNested)};
  const auto read = [&](const std::string& schema, const std::string& value) {
    return problems(format, "<call>find{u:" + value + "}</call>", with_union(schema));
  };
  const std::string object = R"({"type": "object"})";
  CHECK(read(object, "{a:<|q|>x<|q|>,b:New York,n:1}") == R"({"u":{"a":"x","b":"New York","n":1}} ok)");
  CHECK(read(object, "{at:12:30,to:http://x.y/z}") == R"({"u":{"at":"12:30","to":"http://x.y/z"}} ok)");
  CHECK(read(R"({"type": "array"})", "[Oslo,true,2 x]") == R"({"u":["Oslo",true,"2 x"]} ok)");
}

TEST_CASE("bug: a call without the mark between name and arguments stayed text") {
  Format format = tags();
  format.calls.call_open = "[CALLS]";
  format.calls.call_close = "";
  format.calls.pieces[1].text = "[ARGS]";
  format.calls.arguments = format::ArgumentStyle::kJson;
  const std::string find = R"({"q":"x"} ok)";
  CHECK(problems(format, R"([CALLS]find[ARGS]{"q":"x"})") == find);
  CHECK(problems(format, R"([CALLS]find{"q":"x"})") == find);
  CHECK(problems(format, R"(Hi.[CALLS]find {"q":"x"}[CALLS]find{"q":"x"})") == "Hi." + find + find);
  CHECK(problems(format, R"([CALLS]lost{"q":"x"})") == R"([CALLS]lost{"q":"x"})");
}

TEST_CASE("a call that JSON carries is held to its tool's schema too") {
  Format format;
  format.header = "[bot]";
  format.stops.content = {"<eot>"};
  format.calls.present = true;
  format.calls.call_open = "<call>";
  format.calls.call_close = "</call>";
  format.calls.envelope = format::Envelope::kJsonObject;
  format.calls.roles = {{"name"}, {"arguments"}, {}, false};
  CHECK(problems(format, R"(<call>{"name": "find", "arguments": {"q": "x", "n": 1.0}}</call>)") ==
        R"({"q": "x", "n": 1.0} ok)");
  CHECK(problems(format, R"(<call>{"name": "find", "arguments": {"n": "x", "u": 1}}</call>)") ==
        R"({"n": "x", "u": 1} malformed; wrong_type of n: `n` is a string, and the tool's schema wants an integer; )"
        "unknown_parameter of u: the tool has no parameter `u`");
  CHECK(problems(format, R"(<call>{"name": "find", "arguments": {"n": "x", "u": 1}}</call>)", {}) ==
        R"({"n": "x", "u": 1} ok)");
  // Worse damage hides the problems.
  CHECK(problems(format, R"(<call>{"name": "find", "arguments": {"n": 'x'}}</call>)") == R"({"n": 'x'} invalid_json)");
  CHECK(problems(format, R"(<call>{"name": "lost", "arguments": {"n": "x"}}</call>)") == R"({"n": "x"} unknown_tool)");
  Options strict = with_tools();
  strict.strict = true;
  const auto refused = parse(std::make_shared<const Format>(format), strict,
                             R"(Hi<call>{"name": "find", "arguments": {"u": 1}}</call>)");
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message == "the tool has no parameter `u`");
  CHECK(refused.error().offset == 2);
}

TEST_CASE("an answer of white space only") {
  const Format format = tags();
  CHECK(problems(format, "\n\n<eot>") == "\n\n");
  CHECK(problems(format, " \n <call>find></call>") == " \n {} ok");
  CHECK(problems(format, "<call>find></call>\n <eot>") == "{} ok");
  Format thinking = tags();
  thinking.reasoning = {true, "<muse>\n", "\n</muse>\n\n", false, false};
  thinking.calls.call_open = "\n<call>";
  CHECK(problems(thinking, "<muse>\nhm\n</muse>\n\n<eot>").empty());
  CHECK(problems(thinking, "<muse>\nhm\n</muse>\n\n \n<eot>") == " \n");
  CHECK(problems(thinking, "<muse>\nhm\n</muse>\n\n\n<call>find></call>") == "{} ok");
  CHECK(problems(thinking, "<muse>\nhm\n</muse>\n\n\n\n<call>find></call>") == "\n{} ok");
}

TEST_CASE("problems: the documents name each kind") {
  const std::string root = RONDO_SOURCE_DIR;
  for (const auto& [kind, name] : chat::kProblemNames) {
    const std::string quoted = "`" + std::string(name) + "`";
    CHECK_MESSAGE(files::read(root + "/docs/parse.md").value().find("| " + quoted + " |") != std::string::npos, name);
    CHECK_MESSAGE(files::read(root + "/docs/batch.md").value().find(quoted) != std::string::npos, name);
    const std::string binding = files::read(root + "/src/rondo/python/bind_values.cpp").value();
    CHECK_MESSAGE(binding.find("\"" + std::string(name) + "\"") != std::string::npos, name);
  }
}

}  // namespace
}  // namespace rondo::parse
