#include "engine/gbnf_check.h"

#include <doctest/doctest.h>

#include <string>

using rondo::engine::check_gbnf;

namespace {

std::string wrong(const std::string& grammar) {
  const auto status = check_gbnf(grammar);
  return status.ok() ? "" : status.error().message;
}

}  // namespace

TEST_CASE("what llama.cpp reads") {
  CHECK(wrong("root ::= \"a\\n\\x41\" [^\\]\\-a-z-]* (b | \"\")? .{2,3}\nb ::= # c\n  \"x\"\r\n") == "");
  CHECK(wrong("root ::= a{0,5000}\na ::= \"x\" <[12]>") == "");
  CHECK(wrong("root ::= (\"a\"* \"b\"* (\"c\" | [d])?){3}") == "");
  CHECK(wrong("root ::= !<end> (\n\"\\u00e9\" |\n\"\\U0001F600\"\n)+") == "");
}

TEST_CASE("what it would print, and not read") {
  CHECK(wrong("root ::= \"a") == "a text has no end in line 1");
  CHECK(wrong("root ::= \"\\q\"") == "there is no escape `\\q` in line 1");
  CHECK(wrong("root = \"a\"") == "a `::=` is missing in line 1");
  CHECK(wrong("root ::= a\n") == "there is no rule `a` in line 1");
  CHECK(wrong("a ::= \"x\"") == "there is no rule `root` in line 1");
  CHECK(wrong("root ::= *") == "a repetition repeats nothing in line 1");
  CHECK(wrong("root ::= (\"a\"\n\"b\"") == "a `)` is missing in line 2");
  CHECK(wrong("root ::= \"a\" ]") == "a rule continues with something that is not part of one in line 1");
  CHECK(wrong("root ::= \"a\"{x}") == "a number is missing, or too large in line 1");
  CHECK(wrong("root ::= \"\\u12\"") == "an escape has too few digits in line 1");
  CHECK(wrong("root ::= \"a\"{3000}").starts_with("something is repeated 3000 times"));
  CHECK(wrong("root ::= (\"a\" (\"b\" | \"c\")*){1500}").starts_with("something is repeated 1500 times"));
  CHECK(wrong("root ::= " + std::string(300, '(')) == "groups nest too deep in line 1");
}
