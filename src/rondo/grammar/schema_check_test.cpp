#include "grammar/schema_check.h"

#include <doctest/doctest.h>

#include <string>

#include "json/parse.h"

namespace rondo::grammar {
namespace {

// "where: sentence" of the fault; "" if there is none.
std::string fault_in(const std::string& schema) {
  const auto document = json::parse(schema);
  REQUIRE_MESSAGE(document.ok(), schema);
  const auto fault = schema_fault(document.value());
  return fault ? fault->where + ": " + fault->sentence : "";
}

}  // namespace

TEST_CASE("a schema that is none has one fault, with its place") {
  CHECK(fault_in("5") == ": a schema must be an object, found an integer");
  CHECK(fault_in(R"({"type": "strnig"})") == R"(: the type "strnig" is not known)");
  CHECK(fault_in(R"({"type": ["string", 1]})") == ": the type 1 is not known");
  CHECK(fault_in(R"({"type": []})") == ": `type` must not be empty");
  CHECK(fault_in(R"({"type": {}})") == ": `type` must be a string or an array, found an object");
  CHECK(fault_in(R"({"required": "a"})") == ": `required` must be an array, found a string");
  CHECK(fault_in(R"({"required": ["a", 1]})") == ": `required` must name members by strings, found 1");
  CHECK(fault_in(R"({"properties": []})") == ": `properties` must be an object, found an array");
  CHECK(fault_in(R"({"properties": {"a/b": {"items": {"type": "x"}}}})") ==
        R"(/properties/a~1b/items: the type "x" is not known)");
  CHECK(fault_in(R"({"properties": {"a": null}})") == "/properties/a: a schema must be an object, found null");
  CHECK(fault_in(R"({"anyOf": [{}, 1]})") == "/anyOf/1: a schema must be an object, found an integer");
  CHECK(fault_in(R"({"$defs": {"a": {"enum": 1}}})") == "/$defs/a: `enum` must be an array, found an integer");
  CHECK(fault_in(R"({"minLength": -1})") == ": `minLength` must be a whole number, at least 0, found -1");
  CHECK(fault_in(R"({"maxItems": "3"})") == ": `maxItems` must be a number, found a string");
  CHECK(fault_in(R"({"minimum": "3"})") == ": `minimum` must be a number, found a string");
  CHECK(fault_in(R"({"multipleOf": 0})") == ": `multipleOf` must be more than 0, found 0");
  CHECK(fault_in(R"({"nullable": "yes"})") == ": `nullable` must be a boolean, found a string");
  CHECK(fault_in(R"({"pattern": "a("})") == ": the pattern `a(` is not a regular expression: `(` without `)`");
  const auto fault_of_grammar = [](const std::string& members) {
    return fault_in(R"({"properties": {"a": {"x-grammar": )" + members + "}}}");
  };
  CHECK(fault_of_grammar(R"({"syntax": "gbnf", "definition": "root ::= b"})") ==
        "/properties/a/x-grammar: the grammar cannot be read: line 1: the rule `b` is used and not defined");
  CHECK(fault_of_grammar(R"({"syntax": "gbnf"})") == "/properties/a/x-grammar: `definition` is missing");
  CHECK(fault_of_grammar(R"({"syntax": 1, "definition": ""})") ==
        "/properties/a/x-grammar: `syntax` must be a string, found an integer");
  CHECK(fault_of_grammar(R"("root")") == "/properties/a: `x-grammar` must be an object, found a string");
  CHECK(fault_of_grammar(R"x({"syntax": "lark", "definition": "start: \"a\" start"})x").empty());
  CHECK(fault_in(R"({"patternProperties": {"[": {}}})") ==
        "/patternProperties: the pattern `[` is not a regular expression: `[` without `]`");
}

TEST_CASE("what a grammar cannot express, and what nobody knows, is no fault of a schema") {
  for (
      const char* schema :
      {"true", "{}", R"({"type": ["string", "null"], "nullable": true})", R"({"type": "str", "title": 5})",
       R"({"zap": 1, "not": {"type": "string"}, "if": {}, "contains": {}, "uniqueItems": true})",
       R"({"pattern": "(?=a)b\\b", "format": "zap"})", R"({"$ref": "#/nowhere"})", R"({"$ref": "https://a.b/c"})",
       R"({"properties": {"type": {"type": "string"}, "required": {"type": "array", "items": [{}, true]}}})",
       R"({"enum": [{"type": "strnig"}], "const": {"required": 1}, "default": {"type": 1}, "examples": [{"type": 1}]})",
       R"({"minimum": 1, "exclusiveMinimum": true, "maxItems": 3.0, "required": null, "items": null})"}) {
    CHECK_MESSAGE(fault_in(schema) == "", schema);
  }
}

}  // namespace rondo::grammar
