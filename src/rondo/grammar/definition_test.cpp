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
}

TEST_CASE("bug: a grammar in Lark was refused for options that are empty and names for what its rules take") {
  const char* const kYes = "%llguidance {}\n\nstart: x\nx[capture]: X\n\nX: \"yes\"\n     | \"no\"\n\n";
  CHECK(takes(kYes, "no"));
  CHECK_FALSE(takes(kYes, "maybe"));
  CHECK(takes("%llguidance {\"no_forcing\": true}\nstart: \"a\"", "a"));
}

TEST_CASE("llguidance: JSON by a schema in a grammar") {
  constexpr std::string_view kCall = R"(
start: "say " CHANNEL ": " call
CHANNEL: "a" | "b"
call: %json {
"type": "object",
  "properties": { "url": { "const": "x//y" }, "n": { "type": "integer" } },
  "required": [ "url", "n" ]
}
)";
  CHECK(takes(kCall, R"(say a: {"url": "x//y", "n": 5})"));
  CHECK(takes(kCall, R"(say b: {"n":5,"url":"x//y"})"));
  CHECK_FALSE(takes(kCall, R"(say b: {"n":"5","url":"x//y"})"));
  CHECK_FALSE(takes(kCall, R"(say b: {"n":5})"));
  CHECK(takes("start: %json {\"enum\": [\"x\", 2]} | \"none\"", "none"));
  CHECK(takes("start: %json {\"enum\": [\"x\", 2]} | \"none\"", "\"x\""));
  CHECK(wrong("start: %json {\"type\": \"strnig\"}").starts_with("the schema of `%json` is not valid: "));
  CHECK(wrong("start: %json {").starts_with("the value behind `%json` of the grammar is no JSON: "));
  std::vector<std::string> notes;
  CHECK(read_definition("lark", "start: %json {\"type\": \"array\", \"uniqueItems\": true}", &notes).ok());
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("uniqueItems") != std::string::npos);
}

TEST_CASE("llguidance: JSON whose white space and order are fixed") {
  constexpr std::string_view kPerson =
      R"(start: %json {"type": "object", "properties": {"name": {"type": "string"}, "ages": {"type": "array",
         "items": {"type": "integer"}}, "at": {"const": {"x": [1, 2]}}}, "required": ["name", "ages", "at"],
         "additionalProperties": false,
         "x-guidance": {"whitespace_flexible": false, "item_separator": ", ", "key_separator": ": "}})";
  CHECK(takes(kPerson, R"({"name": "a", "ages": [1, 2], "at": {"x": [1, 2]}})"));
  CHECK_FALSE(takes(kPerson, R"({"name":"a", "ages": [1, 2], "at": {"x": [1, 2]}})"));
  CHECK_FALSE(takes(kPerson, R"({"name": "a", "ages": [1,2], "at": {"x": [1, 2]}})"));
  CHECK_FALSE(takes(kPerson, R"({"name": "a", "ages": [1, 2], "at": {"x":[1, 2]}})"));
  CHECK_FALSE(takes(kPerson, R"({ "name": "a", "ages": [], "at": {"x": [1, 2]}})"));
  CHECK_FALSE(takes(kPerson, R"({"ages": [], "name": "a", "at": {"x": [1, 2]}})"));
  CHECK(takes(R"(start: %json {"x-guidance": {"whitespace_flexible": false}})", R"({"a":[1,{}]})"));
  CHECK_FALSE(takes(R"(start: %json {"x-guidance": {"whitespace_flexible": false}})", R"({"a": 1})"));
}

TEST_CASE("llguidance: text up to a stop, which is a part of it") {
  const auto until = [](const std::string& options, const std::string& pattern, const std::string& text) {
    return takes("%llguidance {}\n\nstart: x\nx[capture, " + options + "]: X\nX: " + pattern + "\nEND: \"end\"\n",
                 text);
  };
  const std::string any = "/(?s:.*)/";
  CHECK(until(R"(stop="\n")", any, "hello: world\n"));
  CHECK(until(R"(stop="\n")", any, "\n"));
  for (const char* bad : {"hello", "a\nb\n", "a\n\n", ""}) CHECK_MESSAGE(!until(R"(stop="\n")", any, bad), bad);
  CHECK(until(R"(suffix="aab", temperature=0.7)", any, "x\naaab"));
  CHECK_FALSE(until(R"(suffix="aab")", any, "aab aab"));
  CHECK_FALSE(until(R"(suffix="aab")", "/.*/", "x\naab"));
  CHECK(until(R"(suffix="aab")", "/.*/", "aaaab"));
  CHECK(until(R"(stop=/(stop|end)[.!]/)", any, "an end. at the stop none, end!") == false);
  CHECK(until(R"(stop=/(stop|end)[.!]/)", any, "an end to the stop!"));
  CHECK(until("stop=END", any, "the end"));
  CHECK_FALSE(until("stop=END", any, "the end end"));
  CHECK(until(R"(stop="")", any, "anything\n at all"));
  // Laziness that is not expressed accepts more, never less.
  CHECK(until(R"(stop="x")", "/[a-z]+/", "abcx"));
  CHECK_FALSE(until(R"(stop="x")", "/[a-z]+/", "abc"));
  CHECK(takes("start: x \".\"\nx[lazy]: /(.|\\n)*<end>/", "a\nb<end>."));
  CHECK_FALSE(takes("start: x \".\"\nx[lazy]: /(.|\\n)*<end>/", "a<end>b<end>."));
}

TEST_CASE("llguidance: a limit of tokens is told, and the rest of the grammar holds") {
  std::vector<std::string> notes;
  const auto grammar = read_definition("lark", "start: \"a\" x\nx[max_tokens=10]: /[0-9]+/", &notes);
  REQUIRE(grammar.ok());
  CHECK(accepts(grammar.value(), "a12"));
  CHECK_FALSE(accepts(grammar.value(), "ab"));
  CHECK(notes == std::vector<std::string>{"`max_tokens` of the grammar's rule `x` is not enforced"});
  CHECK(wrong("start[logits=5]: \"a\"") == "`[logits]` of a grammar is not enforced");
}

TEST_CASE("llguidance: counts in braces, and parts of a text") {
  CHECK(takes("start: item{2,3} \"!\"\nitem: \"a\"", "aaa!"));
  for (const char* bad : {"a!", "aaaa!"}) CHECK_MESSAGE(!takes("start: item{2,3} \"!\"\nitem: \"a\"", bad), bad);
  CHECK(takes("start: \"a\"{2,} (\"b\" \"c\"){,1} \"d\"{3}", "aaaabcddd"));
  CHECK_FALSE(takes("start: \"a\"{2,} (\"b\" \"c\"){,1} \"d\"{3}", "abcddd"));
  CHECK(wrong("start: \"a\"{2") == "a `{` of the grammar has no end");
  const char* const kQuote =
      "start: \"<\" Q \">\"\nQ: %regex {\n  \"substring_chunks\": [\"the \", \"old \", \"man\"]\n}\n";
  for (const char* good : {"<>", "<the >", "<old man>", "<the old man>"}) CHECK_MESSAGE(takes(kQuote, good), good);
  for (const char* bad : {"<the man>", "<ol>", "<man the >"}) CHECK_MESSAGE(!takes(kQuote, bad), bad);
  CHECK(wrong("start: %regex {\"substring_words\": \"a b\"}") == "`%regex` of a grammar is not enforced");
}

TEST_CASE("what is not read of Lark, and what is no grammar") {
  CHECK(wrong("start: a{\"x\"}\na{y}: y") == "`a{y}` is no plain rule of a grammar");
  CHECK(wrong("start: other") == "the grammar has no rule `other`");
  CHECK(wrong("begin: \"a\"") == "the grammar has no rule `start`");
  CHECK(wrong("start: (\"a\"") == "a group of the grammar has no end");
  CHECK(wrong("start: \"a") == "a text of the grammar has no end");
  CHECK(wrong("start: \"a\" ~") == "a number is missing in the grammar");
  CHECK(wrong("start: \"a\" ~ 3..2") == "the numbers of a repetition in the grammar are out of order");
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
