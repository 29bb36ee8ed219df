// Tests grammars of whole turns in made-up formats: what they accept, and what they refuse.
#include "grammar/turn.h"

#include <doctest/doctest.h>

#include "format/escapes.h"
#include "format/format.h"
#include "grammar/gbnf.h"
#include "grammar/lark.h"
#include "grammar/matcher.h"
#include "json/parse.h"

namespace rondo::grammar {
namespace {

const char* const kTools = R"([{"type": "function", "function": {"name": "find", "parameters": {"type": "object",
  "additionalProperties": false, "required": ["q"], "properties": {"q": {"type": "string"}, "k": {"type": "array"}}}}}])";

// Returns the grammar of a turn that must have a call, for a format that is given as JSON.
Grammar required_call(const std::string& format_text, const char* tools = kTools) {
  const auto document = json::parse(format_text);
  REQUIRE(document.ok());
  const auto format = format::from_json(document.value());
  if (!format.ok()) FAIL(format.error().to_string());
  TurnOptions options;
  options.tools = json::parse(tools).value();
  options.choice = ToolChoice::kRequired;
  auto turn = turn_grammar(format.value(), options);
  if (!turn.ok()) FAIL(turn.error().to_string());
  return std::move(turn.value().grammar);
}

const std::string kTagged = R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true,
  "call_open": "<call>", "call_close": "</call>", "envelope": "tags", "arguments": "json",
  "pieces": [{"kind": "name"}, {"kind": "literal", "text": "<args>"}, {"kind": "arguments"}])";

TEST_CASE("text behind calls is for formats that write content there") {
  const std::string call = R"(<call>find<args>{"q": "x"}</call>)";
  const Grammar closed = required_call(kTagged + "}}");
  CHECK(accepts(closed, "Let me look." + call + "\n<eot>"));
  CHECK(accepts(closed, call + call));
  CHECK(!accepts(closed, call + "Done.<eot>"));
  CHECK(!accepts(closed, call + "<ca ll>find<args>{}</call>"));
  const Grammar open = required_call(kTagged + R"(, "content_behind": true}})");
  CHECK(accepts(open, call + "Done.<eot>"));
  CHECK(!accepts(open, call + R"(<call>find<args>{"k": 1}</call>)"));
  CHECK(!accepts(open, call + "Done.<call>nobody<args>{}</call>"));
}

TEST_CASE("an id stands beside the object of a call in JSON") {
  const std::string calls = R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true,
    "envelope": "json_object", "roles": {"name": ["name"], "arguments": ["args"]}, )";
  const Grammar before = required_call(calls + R"("call_open": "<call id=\"", "call_close": "</call>", "pieces": [
    {"kind": "id"}, {"kind": "literal", "text": "\">"}, {"kind": "object"}]}})");
  CHECK(accepts(before, "Ok.<call id=\"c1\">{\"name\": \"find\", \"args\": {\"q\": \"x\"}}</call><eot>"));
  CHECK(accepts(before, "<call id=\"c1\">\n{\"args\":{\"q\":\"x\"},\"name\":\"find\"}\n</call>"));
  CHECK(!accepts(before, "<call id=\"\">{\"name\": \"find\", \"args\": {\"q\": \"x\"}}</call>"));
  CHECK(!accepts(before, "<call id=\"c1\">{\"name\": \"nobody\", \"args\": {\"q\": \"x\"}}</call>"));
  const Grammar behind = required_call(calls + R"("call_open": "<call>", "call_close": ">", "pieces": [
    {"kind": "object"}, {"kind": "literal", "text": "</call of="}, {"kind": "id"}]}})");
  const std::string call = "<call>{\"name\": \"find\", \"args\": {\"q\": \"x\"}}</call of=c1>";
  CHECK(accepts(behind, call + "\n" + call));
  CHECK(!accepts(behind, "<call>{\"name\": \"find\", \"args\": {\"q\": \"x\"}}</call>"));
}

TEST_CASE("names and arguments are taken as the template escapes them") {
  const std::string escapes = R"([{"text": "&", "written": "&amp;"}, {"text": "\"", "written": "&quot;"}])";
  const Grammar grammar = required_call(
      kTagged + ", \"name_escapes\": " + escapes + ", \"argument_escapes\": " + escapes + "}}",
      R"([{"name": "R&D", "parameters": {"type": "object", "required": ["q"], "additionalProperties": false,
      "properties": {"q": {"type": "string"}, "a&b": {"enum": ["x&y"]}}}}])");
  CHECK(accepts(grammar, "<call>R&amp;D<args>{&quot;q&quot;: &quot;a &amp; b\\&quot;&quot;}</call>"));
  CHECK(accepts(grammar,
                "<call>R&amp;D<args>{&quot;q&quot;: &quot;&quot;, &quot;a&amp;b&quot;: &quot;x&amp;y&quot;}</call>"));
  CHECK(!accepts(grammar, "<call>R&D<args>{&quot;q&quot;: &quot;a&quot;}</call>"));
  CHECK(!accepts(grammar, "<call>R&amp;D<args>{\"q\": \"a\"}</call>"));
  CHECK(!accepts(grammar, "<call>R&amp;D<args>{&quot;q&quot;: &quot;a & b&quot;}</call>"));
  CHECK(!accepts(grammar, "<call>R&amp;D<args>{&quot;n&quot;: &quot;a&quot;}</call>"));
}

TEST_CASE("the end of a mark that the prompt opens with begins no other one") {
  const auto format =
      format::from_json(json::parse(R"({"header": "[bot]", "reasoning": {"present": true, "open": "@@muse@@",
    "close": "@@/muse@@"}, "content": {"open": "@@say@@", "close": "@@/say@@"}, "stops": {"content": ["<eot>"]}, "calls":
    {"present": true, "envelope": "json_object", "roles": {"name": ["name"], "arguments": ["arguments"]}}})")
                            .value());
  REQUIRE(format.ok());
  TurnOptions options;
  options.tools = json::parse(kTools).value();
  options.choice = ToolChoice::kRequired;
  options.prompt_tail = "[bot]@@muse@@";
  const auto made = turn_grammar(format.value(), options);
  REQUIRE(made.ok());
  CHECK(accepts(made.value().grammar, R"(Hm.@@/muse@@{"name": "find", "arguments": {"q": "x"}}<eot>)"));
  CHECK(accepts(made.value().grammar,
                R"(Hm.@@/muse@@@@say@@Yes.@@/say@@{"name": "find", "arguments": {"q": "x"}}<eot>)"));
  CHECK(!accepts(made.value().grammar, R"(Hm.@@/muse@@{"name": "find"}<eot>)"));
}

TEST_CASE("tools whose names begin alike are told apart, and none is text") {
  const Grammar grammar = required_call(kTagged + "}}", R"([{"name": "find", "parameters": {"type": "object",
    "required": ["q"], "properties": {"q": {"type": "string"}}}}, {"name": "find_more", "parameters": {"type": "object",
    "required": ["n"], "properties": {"n": {"type": "integer"}}}}])");
  const std::string find = R"(<call>find<args>{"q": "x"}</call>)";
  const std::string more = R"(<call>find_more<args>{"n": 1}</call>)";
  CHECK(accepts(grammar, find + more));
  CHECK(accepts(grammar, "Both: " + more + find));
  CHECK(!accepts(grammar, R"(<call>find_more<args>{"q": "x"}</call>)"));
  CHECK(!accepts(grammar, R"(<call>find_more<args>{"q": "x"}</call>)" + find));
  CHECK(!accepts(grammar, R"(<call>find<args>{"n": 1}</call>)" + more));
}

TEST_CASE("values that the template writes as words of its own are held to their schemas") {
  const Grammar grammar =
      required_call(R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true,
    "call_open": "<call>", "call_close": "</call>", "envelope": "tags", "arguments": "parameters",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": ";"}, {"kind": "arguments"}],
    "parameters": {"open": "<", "key_close": ">", "close": "</>", "forms": [
      {"type": "true", "style": "constant", "constant": "yes"}, {"type": "false", "style": "constant", "constant": "no"},
      {"type": "null", "style": "constant", "constant": "nothing"}]}}})",
                    R"([{"name": "f", "parameters": {"type": "object", "additionalProperties": false, "properties": {
          "any": {"type": "boolean"}, "on": {"type": "boolean", "enum": [true]}, "or": {"type": ["null", "integer"]}}}}])");
  const auto takes = [&](const std::string& key, const std::string& value) {
    return accepts(grammar, "<call>f;<" + key + ">" + value + "</></call>");
  };
  CHECK(takes("any", "yes"));
  CHECK(takes("any", "no"));
  CHECK(!takes("any", "true"));
  CHECK(!takes("any", "nothing"));
  CHECK(takes("on", "yes"));
  CHECK(!takes("on", "no"));
  CHECK(takes("or", "nothing"));
  CHECK(takes("or", "12"));
  CHECK(!takes("or", "yes"));
}

TEST_CASE("a word at the end of an opener and a name stay apart") {
  const Grammar grammar =
      required_call(R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true,
    "section_open": "<s>\n```run\n", "section_close": "\n```\n</s>", "separator": "\n", "envelope": "tags", "arguments": "json",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": "<args>"}, {"kind": "arguments"}]}})");
  CHECK(accepts(grammar, "<s>\n```run\nfind<args>{\"q\": \"x\"}\n```\n</s>"));
  CHECK(accepts(grammar, "<s>```run find<args>{\"q\": \"x\"}```</s>"));
  CHECK(!accepts(grammar, "<s>\n```runfind<args>{\"q\": \"x\"}\n```\n</s>"));
}

// A format in tags whose calls have `more` members; `forms` says how it writes values.
std::string with_parameters(const std::string& calls, const std::string& parameters,
                            const std::string& forms = R"({"type": "string", "style": "json"})") {
  return R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true, "envelope": "tags",
    "arguments": "parameters", )" +
         calls + R"(, "parameters": {)" + parameters + R"(, "forms": [)" + forms + "]}}}";
}

TEST_CASE("bug: a name could run into the word before it, which a parser takes for another word") {
  const std::string pieces =
      R"("pieces": [{"kind": "name"}, {"kind": "literal", "text": " with "}, {"kind": "arguments"}])";
  const Grammar call = required_call(R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true,
    "call_open": "<<do ", "call_close": " >>", "envelope": "tags", "arguments": "json", )" +
                                     pieces + "}}");
  CHECK(accepts(call, "<<do find with {\"q\": \"x\"} >>"));
  CHECK(accepts(call, "Well. <<do\nfind with{\"q\": \"x\"}>>"));
  CHECK(!accepts(call, "<<dofind with {\"q\": \"x\"} >>"));
  CHECK(!accepts(call, "<<do findwith {\"q\": \"x\"} >>"));
  const Grammar keys = required_call(with_parameters(
      R"("call_open": "<do ", "call_close": "</do>", "pieces": [{"kind": "name"}, {"kind": "arguments"}])",
      R"("open": "\n%key ", "key_close": " %text ", "close": " %end")", R"({"type": "string", "style": "raw"})"));
  CHECK(accepts(keys, "<do find\n%key q %text x %end</do>"));
  CHECK(!accepts(keys, "<do find\n%keyq %text x %end</do>"));
  CHECK(!accepts(keys, "<do find\n%key q %textx %end</do>"));
}

TEST_CASE("bug: values and parameters that only a line end parts were taken without it") {
  const std::string calls =
      R"("call_open": "<do ", "call_close": "</do>", "pieces": [{"kind": "name"}, {"kind": "literal", "text": "\n"},
         {"kind": "arguments"}])";
  const Grammar closed = required_call(with_parameters(calls, R"("key_close": " = ", "close": "\n")"));
  CHECK(accepts(closed, "<do find\nq = \"x\"\nk = [1]\n</do>"));
  CHECK(!accepts(closed, "<do find\nq = \"x\" k = [1]\n</do>"));
  CHECK(!accepts(closed, "<do findq = \"x\"\n</do>"));
  const Grammar opened = required_call(with_parameters(
      R"("call_open": "<do ", "call_close": "\n</do>", "pieces": [{"kind": "name"}, {"kind": "arguments"}])",
      R"("open": "\n- ", "key_close": ": ")"));
  CHECK(accepts(opened, "<do find\n- q: \"x\"\n- k: [1]\n</do>"));
  CHECK(!accepts(opened, "<do find\n- q: \"x\" - k: [1]\n</do>"));
  CHECK(!accepts(opened, "<do find\n- q: \"x\"</do>"));
}

TEST_CASE("bug: a call in JSON could have any members, which a parser takes for misplaced arguments") {
  const std::string roles = R"("roles": {"name": ["name"], "arguments": ["arguments"]}}})";
  const std::string marked = R"({"header": "[bot]", "calls": {"present": true, "call_open": "<c>", "call_close": "</c>",
    "envelope": "json_object", )";
  const Grammar grammar = required_call(marked + roles);
  CHECK(accepts(grammar, R"(<c>{"type": "function", "id": "a", "name": "find", "arguments": {"q": ""}}</c>)"));
  CHECK(!accepts(grammar, R"(<c>{"q": "x", "name": "find", "arguments": {"q": ""}}</c>)"));
  const Grammar constant = required_call(marked + R"("roles": {"name": ["name"], "arguments": ["arguments"],
    "constants": [{"path": ["v"], "value": "2"}, {"path": ["step"], "value": ""}]}}})");
  CHECK(accepts(constant, R"(<c>{"v": 2, "name": "find", "arguments": {"q": ""}, "step": "a"}</c>)"));
  CHECK(accepts(constant, R"(<c>{"name": "find", "arguments": {"q": ""}}</c>)"));
  CHECK(!accepts(constant, R"(<c>{"v": 3, "name": "find", "arguments": {"q": ""}}</c>)"));
  // Where nothing announces the call, an object that begins with an id is none.
  const Grammar bare =
      required_call(R"({"header": "[bot]", "calls": {"present": true, "envelope": "json_object", )" + roles);
  CHECK(accepts(bare, R"({"type": "function", "name": "find", "arguments": {"q": ""}})"));
  CHECK(!accepts(bare, R"({"id": "a", "name": "find", "arguments": {"q": ""}})"));
}

TEST_CASE("bug: a call that is alone had to be a list where only several calls are one") {
  const std::string list = R"({"header": "[bot]", "calls": {"present": true, "section_open": "<many>",
    "section_close": "</many>", "envelope": "json_array", "lone_is_bare": true,
    "roles": {"name": ["name"], "arguments": ["arguments"]})";
  const std::string call = R"({"name": "find", "arguments": {"q": ""}})";
  const Grammar shared = required_call(list + "}}");
  const Grammar own = required_call(list + R"(, "call_open": "<one>", "call_close": "</one>"}})");
  for (const Grammar* grammar : {&shared, &own}) {
    CHECK(accepts(*grammar, "<many>[" + call + ", " + call + "]</many>"));
    CHECK(accepts(*grammar, "<many>" + call + "</many>") == (grammar == &shared));
    CHECK(accepts(*grammar, "<one>" + call + "</one>") == (grammar == &own));
    CHECK(!accepts(*grammar, "<one>[" + call + "]</one>"));
    CHECK(!accepts(*grammar, "<one>" + call + "</many>"));
  }
}

TEST_CASE("bug: a name behind a bare bracket was text where text may follow the calls") {
  const Grammar grammar = required_call(R"({"header": "[bot]", "calls": {"present": true, "call_open": "\n[[",
    "call_close": "[[/]]", "content_behind": true, "envelope": "tags", "arguments": "json",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": "]]\n"}, {"kind": "arguments"}]}})");
  CHECK(accepts(grammar, "\n[[find]]\n{\"q\": \"\"}[[/]]\n[[find]]\n{\"q\": \"\"}[[/]]So."));
  // A lexer takes the longest text: the next call is one token with its name.
  CHECK(to_lark(grammar).find(R"x({0,64}\[\[)/)x") == std::string::npos);
}

TEST_CASE("bug: arguments in a string of JSON were any text") {
  const Grammar grammar = required_call(R"({"header": "[bot]", "calls": {"present": true, "call_open": "<c>",
    "call_close": "</c>", "envelope": "json_object", "arguments": "json_text",
    "roles": {"name": ["name"], "arguments": ["arguments"]}}})");
  CHECK(accepts(grammar, R"(<c>{"name": "find", "arguments": {"q": "x"}}</c>)"));
  CHECK(accepts(grammar, R"(<c>{"name": "find", "arguments": "{\"q\": \"a\\n\\\"b\\\"\"}"}</c>)"));
  CHECK(!accepts(grammar, R"(<c>{"name": "find", "arguments": ""}</c>)"));
  CHECK(!accepts(grammar, R"(<c>{"name": "find", "arguments": "{\"q\": 1}"}</c>)"));
  // A lexer must not take the backslash of a quote for the beginning of more white space.
  CHECK(to_lark(grammar).find(R"(\\n|\\r|\\t)){0,)") == std::string::npos);
}

TEST_CASE("bug: an object whose signs the template escapes was any text") {
  const char* tools = R"([{"name": "find", "parameters": {"type": "object", "additionalProperties": false,
    "required": ["o"], "properties": {"o": {"type": "object", "additionalProperties": false,
    "properties": {"n": {"type": "string"}}}}}}])";
  const Grammar grammar = required_call(
      with_parameters(
          R"("call_open": "<do:", "call_close": "</do>", "pieces": [{"kind": "name"}, {"kind": "literal", "text": ">"},
             {"kind": "arguments"}])",
          R"("open": "<p:", "key_close": ">", "close": "</p>")",
          R"({"type": "object", "style": "json", "escapes": [{"text": "<", "written": "&lt;"}]})"),
      tools);
  CHECK(accepts(grammar, R"(<do:find><p:o>{"n": "a &lt; b"}</p></do>)"));
  CHECK(!accepts(grammar, R"(<do:find><p:o>{"n": "a < b"}</p></do>)"));
  CHECK(!accepts(grammar, R"(<do:find><p:o>{"m": "a"}</p></do>)"));
  CHECK(!accepts(grammar, R"(<do:find><p:o>text</p></do>)"));
}

TEST_CASE("bug: the next turn's header could follow calls without the stop before it") {
  const std::string call = R"(<call>find<args>{"q": "x"}</call>)";
  const Grammar grammar = required_call(kTagged + "}}");
  CHECK(accepts(grammar, call));
  CHECK(accepts(grammar, call + "<eot>[bot]"));
  CHECK(!accepts(grammar, call + "[bot]"));
}

TEST_CASE("bug: behind text a tool's name began a call, which nobody reads there") {
  const Grammar grammar = required_call(R"({"header": "[bot]", "calls": {"present": true, "envelope": "tags",
    "arguments": "json", "pieces": [{"kind": "name"}, {"kind": "literal", "text": " => "}, {"kind": "arguments"}]}})");
  CHECK(accepts(grammar, "find => {\"q\": \"x\"}"));
  CHECK(!accepts(grammar, "Well, find => {\"q\": \"x\"}"));
}

TEST_CASE("a call of an unknown tool is not text before the calls, also where only its name tells it from text") {
  const Grammar grammar = required_call(R"({"header": "[bot]", "stops": {"content": ["<eot>"]},
    "content": {"open": " to=you<|>"}, "calls": {"present": true, "call_open": " to=",
    "call_close": "</call>", "separator": "<next>", "envelope": "tags", "arguments": "json",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": "<|><call>"}, {"kind": "arguments"}]}})");
  const std::string call = R"( to=find<|><call>{"q": "x"}</call>)";
  CHECK(accepts(grammar, call));
  CHECK(accepts(grammar, " to=you<|>Let me look.<next>" + call));
  CHECK(!accepts(grammar, R"( to=fin<|><call>{"q": "x"}</call><next>)" + call));
}

TEST_CASE("markup inside a value closes its own constructs of the same name first") {
  const Grammar grammar =
      required_call(R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true,
    "call_open": "<call>", "call_close": "</call>", "envelope": "tags", "arguments": "parameters",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": ";"}, {"kind": "arguments"}],
    "parameters": {"open": "<", "key_close": ">", "key_in_close": "</", "close": ">", "item_open": "<item>",
      "item_close": "</item>", "forms": [{"type": "string", "style": "raw"}, {"type": "array", "style": "nested"},
      {"type": "object", "style": "nested"}]}}})");
  CHECK(accepts(grammar, "<call>find;<q>x</q></call>"));
  CHECK(accepts(grammar, "<call>find;<q>x</q><k><item><k>1</k></item><item><k>2</k></item></k></call>"));
  CHECK(!accepts(grammar, "<call>find;<q>x</q><k><item><k>1</item></k></call>"));
}

TEST_CASE(
    "a value that nothing closes goes up to the next marker, on a line of its own where the template writes one") {
  const auto grammar_of = [](const std::string& open, const std::string& close) {
    return required_call(R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true,
      "call_open": "<call>", "call_close": ")" +
                         close + R"(", "envelope": "tags", "arguments": "parameters",
      "pieces": [{"kind": "name"}, {"kind": "arguments"}], "parameters": {"open": ")" +
                         open + R"(", "key_close": ":",
      "forms": [{"type": "string", "style": "raw"}, {"type": "array", "style": "json"}]}}})");
  };
  const Grammar lines = grammar_of("\\n-- ", "\\n</call>");
  CHECK(accepts(lines, "<call>find\n-- q:a -- b\n-- k:[1]\n</call>"));
  CHECK(!accepts(lines, "<call>find\n-- q:a</call>"));
  const Grammar marks = grammar_of("@", "</call>");
  CHECK(accepts(marks, "<call>find@q:a - b @k:[1]</call>"));
  CHECK(!accepts(marks, "<call>find@q:a@b</call>"));
}

TEST_CASE("a value in which the template escapes the closing ends at the first one") {
  const Grammar grammar =
      required_call(R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true,
    "call_open": "<call:", "call_close": " />", "envelope": "tags", "arguments": "parameters",
    "pieces": [{"kind": "name"}, {"kind": "arguments"}], "parameters": {"open": " ", "key_close": "=\"", "close": "\"",
    "forms": [{"type": "string", "style": "raw", "escapes": [{"text": "\"", "written": "&quot;"}]}]}}})");
  CHECK(accepts(grammar, R"(<call:find q="a &quot;b&quot;" />)"));
  CHECK(!accepts(grammar, R"(<call:find q="a "b" />)"));
}

TEST_CASE("an opener of ordinary letters triggers together with a tool's name only") {
  const auto document = json::parse(R"({"header": "<h>bot ", "content": {"open": "answer<m>", "close": "<e>"}, "calls":
    {"present": true, "call_open": "tool ", "call_close": "<e>", "envelope": "tags", "arguments": "json",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": "<m>"}, {"kind": "arguments"}]}, "stops": {"content": ["<eot>"]}})");
  const auto format = format::from_json(document.value());
  REQUIRE(format.ok());
  TurnOptions options;
  options.tools = json::parse(kTools).value();
  options.laziness = Laziness::kAnyTrigger;
  const auto turn = turn_grammar(format.value(), options);
  REQUIRE(turn.ok());
  REQUIRE(turn.value().is_lazy);
  for (const Trigger& trigger : turn.value().triggers) CHECK(trigger.value.find("find") != std::string::npos);
}

TEST_CASE("an answer in the shape of a schema is escaped where content is a string of JSON") {
  const auto document = json::parse(
      R"({"header": "[bot]", "content": {"open": "{\"say\": \"", "close": "\"}"}, "stops": {"content": ["<eot>"]}})");
  auto format = format::from_json(document.value());
  REQUIRE(format.ok());
  format.value().content.escapes = format::json_escapes();
  TurnOptions options;
  options.response_schema =
      json::parse(R"({"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"],
    "additionalProperties": false})")
          .value();
  const auto turn = turn_grammar(format.value(), options);
  REQUIRE(turn.ok());
  CHECK(accepts(turn.value().grammar, R"({"say": "{\"s\": \"a\"}"}<eot>)"));
  CHECK(accepts(turn.value().grammar, R"({"say": "{\n\"s\": \"a \\\"b\\\"\"}"}<eot>)"));
  CHECK(!accepts(turn.value().grammar, R"({"say": "{"s": "a"}"}<eot>)"));
  CHECK(!accepts(turn.value().grammar, R"({"say": "{}"}<eot>)"));
}

// Returns the grammar of an answer with a number `n`, behind a prompt that ends with `tail`.
Grammar answer_behind(const std::string& format_text, const std::string& tail, bool has_tools = false) {
  const auto format = format::from_json(json::parse(format_text).value());
  if (!format.ok()) FAIL(format.error().to_string());
  TurnOptions options;
  options.prompt_tail = tail;
  if (has_tools) options.tools = json::parse(kTools).value();
  options.response_schema = json::parse(R"({"type": "object", "properties": {"n": {"type": "integer"}},
    "required": ["n"], "additionalProperties": false})")
                                .value();
  auto turn = turn_grammar(format.value(), options);
  if (!turn.ok()) FAIL(turn.error().to_string());
  return std::move(turn.value().grammar);
}

TEST_CASE("bug: an answer could not go on with an opener that the prompt has begun") {
  const std::string format = R"({"header": "[bot]", "content": {"open": ">>>all\n"}, "stops": {"content": ["<eot>"]},
    "reasoning": {"present": true, "open": ">>>muse\n", "close": "</muse>"}, "calls": {"present": true,
    "call_open": ">>>", "envelope": "tags", "arguments": "json",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": "\n"}, {"kind": "arguments"}]}})";
  for (const bool has_tools : {false, true}) {
    const Grammar begun = answer_behind(format, "[bot]>>>", has_tools);
    CHECK(accepts(begun, "all\n{\"n\": 1}<eot>"));
    CHECK(!accepts(begun, ">>>all\n{\"n\": 1}"));
    CHECK(!accepts(begun, "{\"n\": 1}"));
    CHECK(accepts(begun, "muse\nHm.</muse>>>>all\n{\"n\": 1}"));
    CHECK(accepts(begun, "find\n{\"q\": \"x\"}") == has_tools);
    CHECK(accepts(begun, "muse\nHm.</muse>>>>find\n{\"q\": \"x\"}") == has_tools);
    const Grammar whole = answer_behind(format, "[bot]", has_tools);
    CHECK(accepts(whole, ">>>all\n{\"n\": 1}"));
    CHECK(accepts(whole, "{\"n\": 1}"));
  }
}

TEST_CASE("bug: an answer could not have the mark that a template writes in place of reasoning") {
  const auto format = [](const std::string& more) {
    return R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, )" + more + "}";
  };
  const std::string muse = R"("reasoning": {"present": true, "open": "<muse>", "close": "</muse>")";
  const Grammar closed = answer_behind(format(muse + "}"), "[bot]");
  CHECK(accepts(closed, "</muse>{\"n\": 1}<eot>"));
  CHECK(accepts(closed, "\n</muse>\n{\"n\": 1}"));
  CHECK(accepts(closed, "{\"n\": 1}"));
  CHECK(accepts(closed, "<muse>Hm.</muse>{\"n\": 1}"));
  CHECK(!accepts(closed, "</muse></muse>{\"n\": 1}"));
  CHECK(!accepts(answer_behind(format(muse + "}"), "[bot]<muse></muse>"), "</muse>{\"n\": 1}"));
  CHECK(accepts(answer_behind(format(muse + R"(, "absent": "<no muse>"})"), "[bot]"), "<no muse>{\"n\": 1}"));
  CHECK(!accepts(answer_behind(format(muse + R"(}, "content": {"open": "<say>", "close": "</muse>"})"), "[bot]"),
                 "</muse>{\"n\": 1}"));
}

TEST_CASE("bug: a required call could not end reasoning that only a heading of the answer closes") {
  const std::string format = R"({"header": "[bot]", "stops": {"content": ["<eot>"]},
    "reasoning": {"present": true, "open": "Thought: ", "close": "CLOSE"}, "calls": {"present": true,
    "call_open": "Action: ", "envelope": "tags", "arguments": "json",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": "\nInput: "}, {"kind": "arguments"}]}})";
  const auto grammar = [&](const std::string& close) {
    std::string text = format;
    return required_call(text.replace(text.find("CLOSE"), 5, close));
  };
  const std::string call = "Action: find\nInput: {\"q\": \"x\"}<eot>";
  const Grammar headed = grammar("\\nAnswer: ");
  CHECK(accepts(headed, call));
  CHECK(accepts(headed, "Thought: t\n" + call));
  CHECK(accepts(headed, "Thought: t\nAnswer: so\n" + call));
  CHECK(!accepts(headed, "Thought: t\nAnswer: so"));
  CHECK(!accepts(headed, "Thought: t\nAction: nobody\nInput: {}"));
  CHECK(!accepts(grammar("</thought>"), "Thought: t\n" + call));
}

TEST_CASE("bug: white space that a separator of parameters ends with was refused where nothing closes a value") {
  const Grammar grammar = required_call(
      R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true,
    "section_open": "[", "section_close": "]", "call_close": "\u0029", "separator": ", ", "envelope": "tags",
    "arguments": "parameters", "pieces": [{"kind": "name"}, {"kind": "literal", "text": "("}, {"kind": "arguments"}],
    "parameters": {"key_close": "=", "separator": ", ", "forms": [{"type": "string", "style": "raw"},
    {"type": "integer", "style": "json"}]}}})",
      R"([{"name": "mul", "parameters": {"type": "object", "required": ["a", "b"], "additionalProperties": true,
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "string"}}}}])");
  CHECK(accepts(grammar, "[mul(a=3, b=4)]<eot>"));
  CHECK(accepts(grammar, "[mul(a=3,b=4), mul(c=x y, b=1, a=2)]"));
  CHECK(accepts(grammar, "[mul(a=3, b=4, d=x)]"));
  CHECK(!accepts(grammar, "[mul(a=3 b=4)]"));
}

TEST_CASE("bug: a lexer took the white space before an answer's opener for that of another opener alone") {
  const std::string lark = to_lark(answer_behind(R"({"header": "[bot]", "content": {"open": " to=you<|>"}, "stops":
    {"content": ["<eot>"]}, "reasoning": {"present": true, "open": " to=self<|>", "close": "<e>"}})",
                                                 "[bot]"));
  // Each opener is one terminal with the white space before it.
  for (const char* const opener : {"{0,64}to=self<\\|>)/", "{0,64}to=you<\\|>)/"})
    CHECK_MESSAGE(lark.find(opener) != std::string::npos, lark);
}

// A format with a tag for each parameter, and a tool that must have `q` and may have `n`.
Grammar tagged_parameters(const std::string& parameters, const std::string& others = "") {
  return required_call(
      R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true,
    "call_open": "<call>", "call_close": "</call>", "envelope": "tags", "arguments": "parameters",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": ">"}, {"kind": "arguments"}],
    "parameters": {)" +
          parameters + R"(, "forms": [{"type": "string", "style": "raw"}, {"type": "integer", "style": "json"}]}}})",
      (R"([{"name": "find", "parameters": {"type": "object", "required": ["q"],
    "additionalProperties": false, "properties": {"q": {"type": "string"}, "n": {"type": "integer"}}}})" +
       others + "]")
          .c_str());
}

TEST_CASE("bug: a text without quotes could hold the tag of a parameter that the call lacks") {
  const Grammar grammar = tagged_parameters(R"("open": "\n<p= ", "key_close": " >", "close": "</p>")");
  CHECK(accepts(grammar, "<call>find><p= q >Oslo</p><p= n >3</p></call>"));
  CHECK(!accepts(grammar, "<call>find><p= q >Oslo<p= n >3</p></call>"));
  CHECK(!accepts(grammar, "<call>find><p= q >Oslo<p=n>3</p></call>"));
  CHECK(!accepts(grammar, "<call>find><p= q >Oslo<p=n>3</p><p= n >3</p></call>"));
  // These are text: the parameter is there, the tool has none of that name, nothing closes the name.
  CHECK(accepts(grammar, "<call>find><p= q >Oslo<p= q >3</p></call>"));
  CHECK(accepts(grammar, "<call>find><p= q >Oslo<p= x >3</p></call>"));
  CHECK(accepts(grammar, "<call>find><p= q >Oslo<p= n</p></call>"));
}

TEST_CASE("a text whose close has the parameter's name may hold others as a whole") {
  const Grammar grammar = tagged_parameters(R"("open": "<", "key_close": ">", "key_in_close": "</", "close": ">")");
  CHECK(accepts(grammar, "<call>find><q>x</q><n>3</n></call>"));
  CHECK(accepts(grammar, "<call>find><q>a <n>b</n> <b> <n></n></q></call>"));
  CHECK(!accepts(grammar, "<call>find><q>x<n>3</q></call>"));
  CHECK(!accepts(grammar, "<call>find><q>x<n>3</q></n></q></call>"));
}

TEST_CASE("bug: a text that ends with its close could have that twice where nothing opens parameters") {
  const Grammar grammar = tagged_parameters(R"("open": "\n", "key_close": ":=", "close": ";")");
  CHECK(accepts(grammar, "<call>find>\nq:=a, b;\nn:=3;</call>"));
  CHECK(!accepts(grammar, "<call>find>\nq:=a;;</call>"));
}

TEST_CASE("bug: a text could begin with the next parameter where white space closes its name and nothing the text") {
  const Grammar grammar = tagged_parameters(R"("open": "\n-- ", "key_close": "\n")");
  CHECK(accepts(grammar, "<call>find>\n-- q\nOslo\n-- n\n3\n</call>"));
  CHECK(accepts(grammar, "<call>find>\n-- q\n \nOslo</call>"));
  CHECK(!accepts(grammar, "<call>find>\n-- q\t\n-- n\nOslo</call>"));
}

TEST_CASE("bug: the last word of a call's close could run into the word behind it") {
  const std::string begin = R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true,
    "section_open": "<calls>", "section_close": "done>", "call_open": "<call>", "envelope": "tags", "arguments": "json",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": ":"}, {"kind": "arguments"}], "call_close": ")";
  const Grammar grammar = required_call(begin + "<end \"}}");
  CHECK(accepts(grammar, R"(<calls><call>find:{"q": "x"}<end done>)"));
  CHECK(!accepts(grammar, R"(<calls><call>find:{"q": "x"}<enddone>)"));
  CHECK(accepts(required_call(begin + "<end\"}}"), R"(<calls><call>find:{"q": "x"}<enddone>)"));
}

TEST_CASE("bug: the last word of a section's close or of reasoning's could run into the word behind it") {
  const Grammar grammar = required_call(R"({"header": "[bot]", "stops": {"content": ["end*"]}, "reasoning":
    {"present": true, "open": "<why>", "close": "/why "}, "calls": {"present": true, "section_open": "<calls>",
    "section_close": "/calls ", "call_open": "<call>", "call_close": ";", "envelope": "tags", "arguments": "json",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": ":"}, {"kind": "arguments"}]}})");
  const std::string calls = R"(<calls><call>find:{"q": "x"};/calls)";
  CHECK(accepts(grammar, "<why>Hm/why So: " + calls + " end*"));
  CHECK(accepts(grammar, "<why>Hm/why " + calls));
  CHECK(!accepts(grammar, "<why>Hm/whySo: " + calls + " end*"));
  CHECK(!accepts(grammar, calls + "end*"));
}

TEST_CASE("bug: names ran into the words before them: a header, an id, the close of a parameter") {
  const std::string begin = R"({"header": "[bot] says ", "stops": {"content": ["<eot>"]}, "reasoning":
    {"present": true, "open": "<why>", "close": "</why>"}, "calls": {"present": true, "envelope": "tags", )";
  const Grammar bare = required_call(begin + R"("arguments": "json", "call_close": ";",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": "!"}, {"kind": "arguments"}]}})");
  CHECK(accepts(bare, R"(<why>Hm</why>[bot] says find!{"q": "x"};)"));
  CHECK(accepts(bare, R"(<why>Hm</why>find!{"q": "x"};)"));
  CHECK(!accepts(bare, R"(<why>Hm</why>[bot] saysfind!{"q": "x"};)"));
  const std::string parameters = R"(, "forms": [{"type": "string", "style": "json"}]}}})";
  const Grammar in_id =
      required_call(begin + R"("arguments": "parameters", "call_open": "<call>", "call_close": "</call>",
    "pieces": [{"kind": "name_in_id"}, {"kind": "literal", "text": "\n"}, {"kind": "arguments"}],
    "parameters": {"key_close": ":", "close": "\n")" +
                    parameters);
  CHECK(accepts(in_id, "<call>api.find:0\nq:\"x\"\n</call>"));
  CHECK(!accepts(in_id, "<call>api.find:0q:\"x\"\n</call>"));
  const Grammar closed =
      required_call(begin + R"("arguments": "parameters", "call_open": "<call>", "call_close": "</call>",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": ">"}, {"kind": "arguments"}],
    "parameters": {"open": "arg ", "key_close": "=", "close": " end\n")" +
                        parameters,
                    R"([{"name": "find", "parameters": {"type": "object"}}])");
  CHECK(accepts(closed, "<call>find>arg q=\"x\" end\narg n=\"y\" end\n</call>"));
  CHECK(accepts(closed, "<call>find>arg q=\"x\" end</call>"));
  CHECK(!accepts(closed, "<call>find>arg q=\"x\" endarg n=\"y\" end\n</call>"));
}

TEST_CASE("bug: calls that punctuation opens could end reasoning, and reasoning could hold a call with its close") {
  const auto grammar = [](const std::string& section, const std::string& call_close) {
    return required_call(R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "reasoning": {"present": true,
      "open": "|aside ", "close": " |"}, "calls": {"present": true, "section_open": ")" +
                         section + R"(", "call_open": "<call>", "call_close": ")" + call_close +
                         R"(", "envelope": "tags", "arguments": "json",
      "pieces": [{"kind": "name"}, {"kind": "literal", "text": ":"}, {"kind": "arguments"}]}})");
  };
  const std::string call = R"(<call>find:{"q": "x"})";
  const Grammar bare = grammar("[", "</call>");
  CHECK(accepts(bare, "|aside x|[" + call + "</call>"));
  CHECK(!accepts(bare, "|aside x[" + call + "</call>"));
  const Grammar shared = grammar("", "|");
  CHECK(accepts(shared, "|aside x" + call + "|"));
  CHECK(accepts(shared, "|aside x|" + call + "|"));
  CHECK(!accepts(shared, "|aside x<call>find:{|" + call + "|"));
  CHECK(accepts(grammar("", "</call>"), "|aside x<call>find:{|" + call + "</call>"));
}

TEST_CASE("bug: arguments in a string with Python's quotes were refused") {
  const std::string format = R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true,
    "call_open": "<call>{'name': '", "call_close": "}</call>", "envelope": "tags", "arguments": "json_text",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": "', 'arguments': "}, {"kind": "arguments"}]}})";
  const Grammar grammar = required_call(format);
  const auto call = [](const std::string& arguments) {
    return "<call>{'name': 'find', 'arguments': " + arguments + "}</call>";
  };
  CHECK(accepts(grammar, call(R"('{"q": "it\'s\\n"}')")));
  CHECK(accepts(grammar, call(R"("{\"q\": \"it's\"}")")));
  CHECK(accepts(grammar, call(R"({"q": "it's"})")));
  CHECK(!accepts(grammar, call(R"('{"q": "it's"}')")));
  CHECK(!accepts(grammar, call(R"('{"q": 1}')")));
}

}  // namespace
}  // namespace rondo::grammar
