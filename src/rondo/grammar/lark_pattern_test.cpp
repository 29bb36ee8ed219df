#include "grammar/lark_pattern.h"

#include <doctest/doctest.h>

#include "grammar/pattern.h"

namespace rondo::grammar {
namespace {

bool takes(std::string_view lark, std::string_view text) {
  const auto pattern = lark_pattern(lark);
  REQUIRE_MESSAGE(pattern.ok(), (pattern.ok() ? "" : pattern.error().message));
  return pattern_matches(pattern.value(), text);
}

std::string wrong(std::string_view lark) {
  const auto pattern = lark_pattern(lark);
  return pattern.ok() ? "" : pattern.error().message;
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

TEST_CASE("a grammar in Lark that does not refer to itself is a pattern") {
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

TEST_CASE("what no pattern says, and what is no grammar") {
  CHECK(wrong("start: \"(\" start \")\" | \"x\"") ==
        "the grammar's rule `start` refers to itself, which is not enforced");
  CHECK(wrong("start: \"a\"\n%ignore \" \"") == "`%ignore` of a grammar is not enforced");
  CHECK(wrong("start: other") == "the grammar has no rule `other`");
  CHECK(wrong("begin: \"a\"") == "the grammar has no rule `start`");
  CHECK(wrong("start: (\"a\"") == "a group of the grammar has no end");
  CHECK(wrong("start: \"a") == "a text of the grammar has no end");
  CHECK(wrong("start: /a/x") == "flags of a regular expression in a grammar are not enforced");
  CHECK(wrong("what is this") == "the grammar has a line that is no rule: what is this");
}

}  // namespace rondo::grammar
