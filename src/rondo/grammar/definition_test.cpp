#include "grammar/definition.h"

#include <doctest/doctest.h>

#include "grammar/gbnf.h"
#include "grammar/lark.h"
#include "grammar/matcher.h"

namespace rondo::grammar {
namespace {

bool takes(std::string_view lark, std::string_view text) {
  const auto grammar = read_definition("lark", lark);
  REQUIRE_MESSAGE(grammar.ok(), (grammar.ok() ? "" : grammar.error().message));
  return accepts(grammar.value(), text);
}

std::string wrong(std::string_view definition, std::string_view syntax = "lark") {
  const auto grammar = read_definition(syntax, definition);
  return grammar.ok() ? "" : grammar.error().to_string();
}

// Returns those of `texts` that a GBNF grammar takes.
std::string texts_of(std::string_view gbnf, const std::vector<std::string>& texts) {
  const auto grammar = read_definition("gbnf", gbnf);
  if (!grammar.ok()) return grammar.error().to_string();
  std::string out;
  for (const std::string& text : texts) out += accepts(grammar.value(), text) ? text + ";" : "";
  return out;
}

constexpr std::string_view kChange = R"(
// what is to be changed
start: begin hunk+ end
begin: "*** Begin" LF
end: "*** End" LF?
?hunk: add
     | drop -> dropped
add.2: "+ " /(.+)/ LF
drop: "- " NAME [" " SIZE ~ 1..2] LF
NAME: ("a".."f" | "_")+ "Z"i
SIZE: DIGIT~2
%import common.LF
%import common.DIGIT
)";

}  // namespace

TEST_CASE("a grammar in Lark takes its texts") {
  CHECK(takes(kChange, "*** Begin\n+ anything / at all\n- abz\n*** End\n"));
  CHECK(takes(kChange, "*** Begin\n- _fZ 1234\n*** End"));
  CHECK_FALSE(takes(kChange, "*** Begin\n*** End"));
  CHECK_FALSE(takes(kChange, "*** Begin\n- abz 123\n*** End"));
  CHECK_FALSE(takes(kChange, "*** Begin\n- gz\n*** End"));
  CHECK(takes("start: \"a.b\\n\" \"c\"*", "a.b\ncc"));
  CHECK_FALSE(takes("start: \"a.b\"", "axb"));
}

TEST_CASE("bug: in a grammar that is indented as a whole all rules were one") {
  CHECK(takes("\n    start: a b\n      | c\n    a: \"x\"\n    ?b.2 : \"y\"\n    c: \"z\"\n      \":\"\n", "xy"));
  CHECK(takes("  start: c\n  c: \"z\"\n    \":\"\n", "z:"));
  CHECK(wrong("start: %json {\n  \"type\": \"object\"\n}") == "JSON in a grammar is not enforced");
  CHECK(wrong("start: %json {}") == "`%` of a grammar is not enforced");
}

TEST_CASE("bug: a grammar in Lark was refused for options that are empty and names for what its rules take") {
  const char* const kYes = "%llguidance {}\n\nstart: x\nx[capture]: X\n\nX: \"yes\"\n     | \"no\"\n\n";
  CHECK(takes(kYes, "no"));
  CHECK_FALSE(takes(kYes, "maybe"));
  CHECK(wrong("%llguidance {\"no_forcing\": true}\nstart: \"a\"") == "`%llguidance` of a grammar is not enforced");
  CHECK(wrong("start[max_tokens=5]: \"a\"") == "`start[max_tokens=5]` is no plain rule of a grammar");
}

TEST_CASE("what is not read of Lark, and what is no grammar") {
  CHECK(wrong("start: a{\"x\"}\na{y}: y") == "`a{y}` is no plain rule of a grammar");
  CHECK(wrong("start: other") == "the grammar has no rule `other`");
  CHECK(wrong("begin: \"a\"") == "the grammar has no rule `start`");
  CHECK(wrong("start: (\"a\"") == "a group of the grammar has no end");
  CHECK(wrong("start: \"a") == "a text of the grammar has no end");
  CHECK(wrong("start: \"a\" ~") == "a number is missing behind `~` in the grammar");
  CHECK(wrong("start: \"a\" ~ 3..2") == "the numbers behind a `~` of the grammar are out of order");
  CHECK(wrong("start: /a(/") == "`(` without `)`");
  CHECK(wrong("start: /a/x") == "flags of a regular expression in a grammar are not enforced");
  CHECK(wrong("what is this") == "the grammar has a line that is no rule: what is this");
  CHECK(wrong("start: \"a\"\n%ignore (") == "a group of the grammar has no end");
  CHECK(wrong("start: \"a\"\n%ignore \"b\")") == "the grammar's `%ignore` has an odd `)`");
}

TEST_CASE("bug: a range in Lark without an end ended the process, and one between texts was another range") {
  const std::string no_range = "a range of the grammar is not from one character to another";
  for (const char* bad : {"start: \"a\"..\"f", "start: \"a\"..\"\"", "start: \"ab\"..\"cd\"", "start: \"a\"i..\"f\"",
                          "start: \"\"..\"f\"", "start: \"a\"..\"\\n4\""})
    CHECK_MESSAGE(wrong(bad) == no_range, bad);
  CHECK(wrong("start: \"z\"..\"a\"") != "");
  CHECK(takes("start: \"\\x41\"..\"\u00e9\"", "\u00e9"));
  CHECK_FALSE(takes("start: \"\\x41\"..\"\u00e9\"", "@"));
  CHECK(takes("start: \"-\"..\"]\"", "["));
}

TEST_CASE("a grammar in Lark may refer to itself, also at its beginning") {
  constexpr std::string_view kSum =
      "start: sum\n?sum: item | sum \"+\" item\n?item: NUMBER | \"(\" sum \")\"\n"
      "%import common.INT -> NUMBER\n";
  for (const char* good : {"1", "1+2", "1+2+30", "(1+2)+3", "((7))"}) CHECK_MESSAGE(takes(kSum, good), good);
  for (const char* bad : {"", "+1", "1+", "(1", "1 + 2", "()"}) CHECK_MESSAGE(!takes(kSum, bad), bad);
  CHECK(takes("start: start start | \"x\"", "xxx"));
}

TEST_CASE("what a grammar in Lark ignores may stand around its terminals, not in them") {
  constexpr std::string_view kPairs =
      "start: pair+\npair: NAME \"=\" NAME\nNAME: LETTER LETTER\n%ignore \" \"\n%ignore /#x+/\n"
      "%import common.LETTER\n";
  for (const char* good : {"ab=cd", " ab = cd ", "ab #xx = cd ef=gh#x"}) CHECK_MESSAGE(takes(kPairs, good), good);
  for (const char* bad : {"a b=cd", "ab=c d", "ab\n=cd", ""}) CHECK_MESSAGE(!takes(kPairs, bad), bad);
}

TEST_CASE("a rule that begins with itself reads its other ways, and then the rests") {
  const std::vector<std::string> sums = {"x", "x+x", "x+x+x", "+x", "x+", ""};
  CHECK(texts_of("root ::= sum\nsum ::= sum \"+\" \"x\" | \"x\"", sums) == "x;x+x;x+x+x;");
  CHECK(texts_of("root ::= root | \"x\"", sums) == "x;");
  CHECK(texts_of("root ::= \"x\" | root \"+x\"?", sums) == "x;x+x;x+x+x;");
  CHECK(texts_of("root ::= root \"x\"", sums) == "");
}

TEST_CASE("what may be empty is repeated by its other texts") {
  CHECK(texts_of("root ::= ws* \"x\" ws*\nws ::= [ \\n]*", {"x", "  x", " \n x \n", "y"}) == "x;  x; \n x \n;");
  CHECK(texts_of("root ::= (\"a\"? \"b\"?){2}", {"", "a", "ab", "ba", "abab", "aba", "ababa", "bb"}) ==
        ";a;ab;ba;abab;aba;bb;");
  CHECK(texts_of("root ::= (\"\" | ab | \"\")+\nab ::= \"a\"? \"b\"*", {"", "ab", "abba", "c"}) == ";ab;abba;");
}

TEST_CASE("what no engine could read, or only with much time, is not enforced") {
  CHECK(wrong("root ::= a | \"x\"\na ::= root \"y\"", "gbnf") ==
        "the grammar's rule `root` begins with itself, which is not enforced");
  CHECK(wrong("root ::= \" \"* root | \"x\"", "gbnf") ==
        "the grammar's rule `root` begins with itself, which is not enforced");
  CHECK(wrong("root ::= ((\"ab\"{200}){200}){2}", "gbnf") == "the grammar is too large to be enforced");
  CHECK(wrong("root ::= ((\"ab\"{200}){100}){1,2}", "gbnf") == "the grammar is too large to be enforced");
  CHECK(wrong("root ::= (\"ab\"{200}){100}", "gbnf") == "");
  CHECK(wrong("root ::= \"" + std::string(1U << 16U, 'a') + "\"", "gbnf") == "the grammar is too large to be enforced");
  CHECK(wrong("a|(", "regex") == "`(` without `)`");
  CHECK(wrong("a)(b", "regex") != "");
  CHECK(wrong("a", "ebnf") == "a grammar is in `gbnf`, `lark` or `regex`, not in `ebnf`");
}

TEST_CASE("a text by a grammar is spelled as its place wants") {
  const auto definition = read_definition("gbnf", "root ::= \"\\\"\" [\\n] | \"(\" root \")\"").value();
  const auto within = [&](const Spelling& spelling) {
    Grammar out;
    const Speller speller(out, spelling);
    const RuleId root = out.declare("root");
    out.define(root, speller.quoted([&](const Speller& inner) { return spelled(inner, definition); }));
    out.set_root(root);
    CHECK(!to_lark(out).empty());
    return out;
  };
  CHECK(accepts(within(Spelling::json()), R"x("(\"\n)")x"));
  CHECK(!accepts(within(Spelling::json()), "\"(\"\n)\""));
  CHECK(accepts(within(Spelling::python()), R"x('("\n)')x"));
  CHECK(accepts(within(Spelling::bare()), "((\"\n))"));
  CHECK(!accepts(within(Spelling::bare()), "((\"\n)"));
}

}  // namespace rondo::grammar
