// Tests that a call may have the parameters that its tool's schema lists, and others only where the schema says so.
#include <doctest/doctest.h>

#include <string>

#include "format/format.h"
#include "grammar/matcher.h"
#include "grammar/turn.h"
#include "json/parse.h"

namespace rondo::grammar {
namespace {

// Returns the grammar of a call of the tool `find`, with the schema of its parameters, in a format with those calls.
Grammar call_of(const std::string& calls, const std::string& schema) {
  const auto format = format::from_json(
      json::parse(R"({"header": "[bot]", "stops": {"content": ["<eot>"]}, "calls": {"present": true, )" + calls + "}}")
          .value());
  REQUIRE(format.ok());
  TurnOptions options;
  options.tools = json::parse(R"([{"name": "find", "parameters": )" + schema + "}]").value();
  options.choice = ToolChoice::kRequired;
  auto turn = turn_grammar(format.value(), options);
  REQUIRE(turn.ok());
  CHECK(turn.value().warnings.empty());
  return std::move(turn.value().grammar);
}

const std::string kJsonFind = R"("call_open": "<call>", "call_close": "</call>", "envelope": "json_object",
  "arguments": "json", "roles": {"name": ["name"], "arguments": ["args"]})";
const std::string kTaggedFind = R"("call_open": "<call>", "call_close": "</call>", "envelope": "tags",
  "pieces": [{"kind": "name"}, {"kind": "literal", "text": ">"}, {"kind": "arguments"}], "arguments": "parameters",
  "parameters": {"open": "<p=", "key_close": ">", "close": "</p>", "forms": [{"type": "string", "style": "raw"},
  {"type": "integer", "style": "json"}]})";

std::string in_json(const std::string& arguments) {
  return R"(<call>{"name": "find", "args": )" + arguments + "}</call>";
}

TEST_CASE("a parameter by a grammar has one of its texts, in quotes and without") {
  const std::string schema =
      R"x({"type": "object", "additionalProperties": false, "required": ["q"], "properties": {"q":
      {"type": "string", "x-grammar": {"syntax": "gbnf", "definition": "root ::= \"(\" root \")\" | [\\\"<a]"}}}})x";
  const Grammar json = call_of(kJsonFind, schema);
  CHECK(accepts(json, in_json(R"x({"q": "((\"))"})x")));
  CHECK(!accepts(json, in_json(R"x({"q": "((a)"})x")));
  const Grammar tagged = call_of(kTaggedFind, schema);
  CHECK(accepts(tagged, "<call>find><p=q>((\"))</p></call>"));
  CHECK(!accepts(tagged, "<call>find><p=q>((a)</p></call>"));
  CHECK(!accepts(tagged, "<call>find><p=q>(<)</p></call>"));  // no text may begin the close
}

TEST_CASE("bug: a call could have parameters that its tool's schema does not list, which the parser calls unknown") {
  const std::string plain = R"({"type": "object", "properties": {"q": {"type": "string"}}})";
  CHECK(accepts(call_of(kJsonFind, plain), in_json(R"({"q": "x"})")));
  CHECK(!accepts(call_of(kJsonFind, plain), in_json(R"({"q": "x", "z": 1})")));
  CHECK(accepts(call_of(kTaggedFind, plain), "<call>find><p=q>x</p></call>"));
  CHECK(!accepts(call_of(kTaggedFind, plain), "<call>find><p=z>x</p></call>"));
  CHECK(!accepts(call_of(kJsonFind, R"({"properties": {}})"), in_json(R"({"z": 1})")));
  // Objects inside of arguments are as JSON Schema says.
  CHECK(accepts(call_of(kJsonFind, R"({"properties": {"o": {"properties": {"a": {}}}}})"),
                in_json(R"({"o": {"z": 1}})")));
}

TEST_CASE("a schema that allows other parameters, or lists none, has them") {
  for (const char* schema :
       {R"({"properties": {"q": {}}, "additionalProperties": true})",
        R"({"properties": {"q": {}}, "additionalProperties": {"type": "integer"}})", R"({"type": "object"})"}) {
    CHECK(accepts(call_of(kJsonFind, schema), in_json(R"({"z": 1})")));
    CHECK(accepts(call_of(kTaggedFind, schema), "<call>find><p=z>1</p></call>"));
  }
}

TEST_CASE("each alternative of a schema may have the parameters of the others, and no more") {
  const std::string either = R"({"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]},
    {"properties": {"b": {"type": "string"}}, "required": ["b"]}]})";
  const Grammar json = call_of(kJsonFind, either);
  CHECK(accepts(json, in_json(R"({"a": "x", "b": "y"})")));
  CHECK(accepts(json, in_json(R"({"b": "y"})")));
  CHECK(!accepts(json, in_json(R"({"a": "x", "z": 1})")));
  const Grammar tagged = call_of(kTaggedFind, either);
  CHECK(accepts(tagged, "<call>find><p=a>x</p><p=b>y</p></call>"));
  CHECK(!accepts(tagged, "<call>find><p=a>x</p><p=z>y</p></call>"));
}

}  // namespace
}  // namespace rondo::grammar
