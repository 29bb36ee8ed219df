// Tests what a grammar lets stand before calls and behind them, and words inside of values.
#include <doctest/doctest.h>

#include <string>

#include "format/format.h"
#include "grammar/matcher.h"
#include "grammar/turn.h"
#include "json/parse.h"

namespace rondo::grammar {
namespace {

// Returns the grammar of a turn that must call the tool `look`, in a format with those members.
Grammar call_of_look(const std::string& members) {
  const auto document = json::parse(R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, )" + members + "}");
  REQUIRE(document.ok());
  const auto format = format::from_json(document.value());
  if (!format.ok()) FAIL(format.error().to_string());
  TurnOptions options;
  options.tools = json::parse(R"([{"name": "look", "parameters": {"properties": {"q": {"type": "string"},
    "l": {"type": "array"}}}}])")
                      .value();
  options.choice = ToolChoice::kRequired;
  auto turn = turn_grammar(format.value(), options);
  REQUIRE(turn.ok());
  return std::move(turn.value().grammar);
}

TEST_CASE("bug: content was refused before calls whose opener is a bracket and a number") {
  const Grammar grammar =
      call_of_look(R"("calls": {"present": true, "call_open": "\n[\u001a] ", "call_close": "\n[end]",
    "envelope": "tags", "arguments": "json", "pieces": [{"kind": "name"}, {"kind": "literal", "text": ": "},
    {"kind": "arguments"}]})");
  const std::string calls = "\n[1] look: {\"q\": \"x\"}\n[end]";
  CHECK(accepts(grammar, calls + "<eot>"));
  CHECK(accepts(grammar, "Let me [look] there." + calls + "\n[2] look: {}\n[end]<eot>"));
  CHECK(!accepts(grammar, "Let me look.<eot>"));
}

TEST_CASE("bug: content that is an object of JSON was refused before calls in JSON") {
  const Grammar grammar = call_of_look(R"("content": {"open": "{\"text\": \"", "close": "\"}\n", "escapes":
    [{"text": "\"", "written": "\\\""}, {"text": "\\", "written": "\\\\"}, {"text": "\n", "written": "\\n"}]},
    "calls": {"present": true, "call_close": "\n", "envelope": "json_object", "arguments": "json",
    "roles": {"name": ["name"], "arguments": ["args"]}})");
  const std::string call = R"({"name": "look", "args": {"q": "x"}})"
                           "\n";
  CHECK(accepts(grammar, call + "<eot>"));
  CHECK(accepts(grammar, R"({"text": "Say \"x\"}.\n"})"
                         "\n" +
                             call + "<eot>"));
  CHECK(!accepts(grammar, R"({"text": "x"})"
                          "\n<eot>"));
  CHECK(!accepts(grammar, R"({"text": "x" "y"})"
                          "\n" +
                              call));
}

TEST_CASE("bug: reasoning was refused behind calls where the template writes it last") {
  const Grammar grammar = call_of_look(R"("reasoning": {"present": true, "open": "<why>", "close": "</why>",
    "behind_content": true}, "calls": {"present": true, "call_open": "<call>", "call_close": "</call>",
    "envelope": "tags", "arguments": "json", "pieces": [{"kind": "name"}, {"kind": "literal", "text": ":"},
    {"kind": "arguments"}]})");
  const std::string call = R"(<call>look:{"q": "x"}</call>)";
  CHECK(accepts(grammar, "Ok." + call + "<eot>"));
  CHECK(accepts(grammar, "Ok." + call + call + "<why>Hm.</why><eot>"));
  CHECK(!accepts(grammar, "Ok." + call + "<why>Hm.<eot>"));
}

TEST_CASE("bug: a name could follow the word before it without a blank, and could not with one") {
  const Grammar grammar = call_of_look(R"("calls": {"present": true, "section_open": "\ncall ", "section_close": ".",
    "call_close": " ", "separator": "+ ", "envelope": "tags", "arguments": "json", "pieces": [{"kind": "name"},
    {"kind": "literal", "text": "/"}, {"kind": "arguments"}]})");
  CHECK(accepts(grammar, "\ncall look/{} .<eot>"));
  CHECK(accepts(grammar, "Ok.\ncall look/{} + look/{} .<eot>"));
  CHECK(accepts(grammar, "Ok.\ncall look/{} + call look/{} .<eot>"));
  CHECK(!accepts(grammar, "\ncalllook/{} .<eot>"));
  CHECK(!accepts(grammar, "Ok.\ncall look/{} + calllook/{} .<eot>"));
}

TEST_CASE("bug: the words of Python that a template writes for values were refused inside of lists") {
  const Grammar grammar = call_of_look(R"("calls": {"present": true, "call_open": "<call>", "call_close": ")</call>",
    "envelope": "tags", "arguments": "parameters", "pieces": [{"kind": "name"}, {"kind": "literal", "text": "("},
    {"kind": "arguments"}], "parameters": {"key_close": "=", "separator": ", ", "forms": [
    {"type": "string", "style": "json"}, {"type": "true", "style": "constant", "constant": "True"},
    {"type": "null", "style": "constant", "constant": "None"}, {"type": "array", "style": "nested"}]}})");
  CHECK(accepts(grammar, R"(<call>look(l=["a", True, None], q="x")</call><eot>)"));
  CHECK(!accepts(grammar, R"(<call>look(l=["a", Nothing], q="x")</call><eot>)"));
}

TEST_CASE("bug: a call without parameters needed the blank that parts its name from the first of them") {
  const Grammar grammar = call_of_look(R"("calls": {"present": true, "call_open": "<do ", "call_close": "/>",
    "envelope": "tags", "arguments": "parameters", "pieces": [{"kind": "name"}, {"kind": "literal", "text": " "},
    {"kind": "arguments"}], "parameters": {"key_close": "=", "separator": " ", "forms": [
    {"type": "string", "style": "json"}]}})");
  CHECK(accepts(grammar, "<do look/><eot>"));
  CHECK(accepts(grammar, R"(<do look q="x"/><eot>)"));
  CHECK(!accepts(grammar, R"(<do lookq="x"/><eot>)"));
  const Grammar words = call_of_look(R"("calls": {"present": true, "call_open": "<do ", "call_close": "done>",
    "envelope": "tags", "arguments": "parameters", "pieces": [{"kind": "name"}, {"kind": "literal", "text": "!with "},
    {"kind": "arguments"}], "parameters": {"open": "<", "key_close": ">", "close": ";", "forms": [
    {"type": "string", "style": "json"}]}})");
  CHECK(accepts(words, "<do look!with done><eot>"));
  CHECK(!accepts(words, "<do look!withdone><eot>"));
}

}  // namespace
}  // namespace rondo::grammar
