// Tests GBNF as people and engines write it: what is read, and what is refused.
#include "grammar/gbnf.h"

#include <doctest/doctest.h>

#include <string>

#include "grammar/gbnf_reader.h"
#include "grammar/matcher.h"

namespace rondo::grammar {
namespace {

Grammar read(const std::string& text) {
  auto grammar = read_gbnf(text);
  REQUIRE_MESSAGE(grammar.ok(), (grammar.ok() ? "" : grammar.error().to_string()));
  return std::move(grammar).value();
}

// Returns those of `texts` that the grammar accepts.
std::string taken(const std::string& text, const std::vector<std::string>& texts) {
  const Grammar grammar = read(text);
  const Grammar printed = read(to_gbnf(grammar));
  std::string out;
  for (const std::string& one : texts) {
    const bool is_taken = accepts(grammar, one);
    CHECK(accepts(printed, one) == is_taken);
    if (is_taken) out += one + ";";
  }
  return out;
}

std::string refusal(const std::string& text) {
  const auto grammar = read_gbnf(text);
  return grammar.ok() ? "" : grammar.error().to_string();
}

TEST_CASE("rules, groups, classes and repetitions are read") {
  CHECK(taken("root ::= \"a\" b?\nb ::= [x-z] | \"\\\"\" # two\n", {"a", "ax", "ay", "a\"", "b", "axx"}) ==
        "a;ax;ay;a\";");
  CHECK(taken("root ::= (\n  \"a\" |\n  \"b\"\n)+", {"", "a", "ab", "ba", "c"}) == "a;ab;ba;");
  CHECK(taken("root ::= \"a\"\n  | \"b\"", {"a", "b", "ab"}) == "a;b;");
  CHECK(taken("root ::= [^a\\]-]*", {"", "b", "bc", "a", "]", "-"}) == ";b;bc;");
  CHECK(taken("root ::= [-a] .", {"-x", "ax", "bx", "-"}) == "-x;ax;");
  CHECK(taken("root ::= \"\\x41\\u00e9\\U0001F600\\n\\r\\t\\\\\\[\"", {"A\u00e9\U0001F600\n\r\t\\["}) != "");
  CHECK(taken("root ::= \"a\"{2}", {"a", "aa", "aaa"}) == "aa;");
  CHECK(taken("root ::= \"a\"{1,2}", {"", "a", "aa", "aaa"}) == "a;aa;");
  CHECK(taken("root ::= \"a\"{2,}", {"a", "aa", "aaa"}) == "aa;aaa;");
  CHECK(taken("root ::= \"a\"{0}", {"", "a"}) == ";");
  CHECK(taken("root ::= \"ab\"* \"\xC3\xA9\"+", {"\u00e9", "ab\u00e9", "aba", "abab\u00e9\u00e9"}) ==
        "\u00e9;ab\u00e9;abab\u00e9\u00e9;");
  CHECK(taken("root ::= \"a\"\n  \"b\" c\n  c?\n c\t::= \"\\'\\-\"", {"ab'-", "ab'-'-", "ab"}) == "ab'-;ab'-'-;");
  CHECK(taken("# nothing yet\n\nroot ::= a_1 a-2\na_1 ::= \"x\"\r\na-2 ::= \"y\"", {"xy", "x"}) == "xy;");
}

TEST_CASE("what is no grammar is refused with its line") {
  CHECK(refusal("") == "line 1: there is no rule `root`");
  CHECK(refusal("a ::= \"x\"\n\n") == "line 3: there is no rule `root`");
  CHECK(refusal("root ::= a |\n  b\na ::= b\n") == "line 2: the rule `b` is used and not defined");
  CHECK(refusal("root ::= b") == "line 1: the rule `b` is used and not defined");
  CHECK(refusal("root ::= \"a\"\nroot ::= \"b\"") == "line 2: the rule `root` is defined twice");
  CHECK(refusal("root\n::= \"a\"") == "line 1: expected `name ::=`");
  CHECK(refusal("::= \"a\"") == "line 1: expected `name ::=`");
  CHECK(refusal("root ::= \"a\" )") == "line 1: expected `name ::=`");
  CHECK(refusal("root ::= (\"a\"\n") == "line 2: `(` without `)`");
  CHECK(refusal("root ::= \"a") == "line 1: the text ends inside a literal or class");
  CHECK(refusal("root ::= [a") == "line 1: the text ends inside a literal or class");
  CHECK(refusal("root ::= \"\\q\"") == "line 1: an unknown escape");
  CHECK(refusal("root ::= \"\\") == "line 1: an unknown escape");
  CHECK(refusal("root ::= \"\\x4\"") == "line 1: an escape without enough digits");
  CHECK(refusal("root ::= \"\\uD800\"") == "line 1: an escape of what is no character");
  CHECK(refusal("root ::= [z-a]") == "line 1: a range whose ends are out of order");
  CHECK(refusal("root ::= <think> \"a\"") == "line 1: a token, which is not read here: spell its text");
  CHECK(refusal("root ::= \"a\"{x}") == "line 1: expected a number");
  CHECK(refusal("root ::= \"a\"{1") == "line 1: `{` without `}`");
  CHECK(refusal("root ::= \"a\"{2,1}") == "line 1: a repetition whose bounds are out of order");
  const auto nested = [](std::size_t depth) {
    return "root ::= " + std::string(depth, '(') + "\"a\"" + std::string(depth, ')');
  };
  CHECK(refusal(nested(200)) == "");
  CHECK(refusal(nested(201)) == "line 1: groups nest too deep");
}

TEST_CASE("names of rules are those that every engine reads") {
  Grammar g;
  const auto rule = [&](std::string_view name) {
    const RuleId id = g.declare(name);
    g.define(id, g.literal(name));
    return g.reference(id);
  };
  const RuleId root = g.declare("what it is");
  g.define(root, g.sequence({rule("a b__c"), rule("a-b-c"), rule("root"), rule("\u00e9"), rule("9x"), rule("-a-")}));
  g.set_root(root);
  CHECK(rule_names(g) == std::vector<std::string>{"root", "a-b-c", "a-b-c-1", "root-1", "r", "r9x", "a"});
}

}  // namespace
}  // namespace rondo::grammar
