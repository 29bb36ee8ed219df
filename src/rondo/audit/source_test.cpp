#include "audit/source.h"

#include <doctest/doctest.h>

#include "audit/line_diff.h"
#include "audit/source_blocks.h"

namespace rondo::audit {
namespace {

using Texts = std::vector<std::string>;

TEST_CASE("source: every token knows its bytes") {
  const Source source("a {%- if x['y'] -%} b {{ z | trim }}{# c #}\n");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < source.tokens().size(); ++i) texts.emplace_back(source.text_of({i, i + 1}));
  CHECK(texts == Texts{"a ", "{%-", "if", "x", "[", "'y'", "]", "-%}", "b ", "{{", "z", "|", "trim", "}}"});
  CHECK(source.token_at(1, 10) == 3);
  CHECK(source.token_at(1, 8) == 2);
  CHECK_FALSE(source.token_at(9, 1));
  CHECK_FALSE(source.token_at(0, 0));
  CHECK_FALSE(Source("a\nb").token_at(2, 0));
  CHECK_FALSE(source.token_at(1, 6));  // between tokens
  CHECK(Source("a\n").text() == "a\n");
  CHECK(Source("{{-").text_of({0, 1}) == "{{-");
}

TEST_CASE("source: the tag around a token, the group behind a bracket, the operand in front of a filter") {
  const Source source("a{% if x %}b{{ f(y[0], (z)).w | trim }}c");
  const auto tag = [&](std::size_t token) { return std::string(source.text_of(source.tag_of(token))); };
  CHECK(tag(0).empty());  // text, an opening bracket, a closing one: not part of a tag
  CHECK(tag(1).empty());
  CHECK(tag(2) == "if x");
  CHECK(tag(3) == "if x");
  CHECK(tag(4).empty());
  CHECK(tag(7) == "f(y[0], (z)).w | trim");
  CHECK(tag(source.tokens().size()).empty());
  const auto number = [&](std::string_view text) {
    std::size_t at = 0;
    while (source.text_of({at, at + 1}) != text) ++at;
    return at;
  };
  const std::size_t open = number("(");
  CHECK(source.text_of({open, source.behind_group(open)}) == "(y[0], (z))");
  CHECK(source.group_begin(source.behind_group(open) - 1) == open);
  CHECK(source.behind_group(source.tokens().size()) == source.tokens().size());
  CHECK(source.text_of({source.operand_begin(number("|")), number("|")}) == "f(y[0], (z)).w");
}

TEST_CASE("source: operands behind words, in lists and of several filters") {
  const Source source(
      "{{ a in (b) | f1 }}{{ not (c) | f2 }}{{ x if (d) | f3 else [e] | f4 }}{{ y and (g) | f5 or (h) | f6 }}\n"
      "{%+ set z = i.j(1)[k] | f7 | f8 %}\n{{ 1 + l | f9 }}{{ (m) | f10 }}");
  const auto operand = [&](const std::string& filter) {
    std::size_t at = 0;
    while (source.text_of({at, at + 1}) != filter) ++at;
    return std::string(source.text_of({source.operand_begin(at - 1), at - 1}));
  };
  std::string operands;
  for (int filter = 1; filter <= 10; ++filter) operands += operand("f" + std::to_string(filter)) + ";";
  CHECK(operands == "(b);(c);(d);[e];(g);(h);i.j(1)[k];i.j(1)[k] | f7;l;(m);");
  CHECK(source.text_of({0, 0}).empty());
  REQUIRE(source.token_at(2, 1));
  CHECK(source.text_of({*source.token_at(2, 1), *source.token_at(2, 1) + 1}) == "{%+");
  CHECK(source.line_of(0) == 1);
  CHECK(source.line_of(source.text().find("{%+") - 1) == 1);
  CHECK(source.line_of(source.text().find("{%+")) == 2);
  CHECK(Source("{{ (a").behind_group(1) == Source("{{ (a").tokens().size());
}

TEST_CASE("source: edits are made in any order, and can be told as a diff") {
  const Source source("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12");
  const std::vector<Edit> edits = {{24, 26, "twelve"}, {2, 3, "two\nand more"}};
  CHECK(source.apply(edits) == "1\ntwo\nand more\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve");
  CHECK(unified_diff(source.text(), source.apply(edits), "t") ==
        "--- a/t\n+++ b/t\n@@ -1,5 +1,6 @@\n 1\n-2\n+two\n+and more\n 3\n 4\n 5\n@@ -9,4 +10,4 @@\n 9\n 10\n 11\n"
        "-12\n\\ No newline at end of file\n+twelve\n\\ No newline at end of file\n");
  // What overlaps an edit is left out, what touches it is not.
  CHECK(source.apply({{0, 2, "A"}, {1, 3, "B"}, {2, 4, "C"}}).starts_with("AC3\n"));
  CHECK(unified_diff("a\n", "a\n", "t").empty());
  // Changes with six lines between them are one hunk, with seven they are two.
  CHECK(unified_diff("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n", "t") ==
        "--- a/t\n+++ b/t\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
  CHECK(unified_diff("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n", "t") ==
        "--- a/t\n+++ b/t\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
  // Lines that both have in between stay, as many as can.
  CHECK(unified_diff("x\na\nb\nc\n", "a\ny\nb\nz\n", "t") ==
        "--- a/t\n+++ b/t\n@@ -1,4 +1,4 @@\n-x\n a\n+y\n b\n-c\n+z\n");
  CHECK(unified_diff("", "a\n", "t") == "--- a/t\n+++ b/t\n@@ -0,0 +1 @@\n+a\n");
}

TEST_CASE("source: constants are quoted as the template reads them") { CHECK(quote("a'b\\\n") == "'a\\'b\\\\\\n'"); }

TEST_CASE("blocks: what stands around a byte, and what it asks") {
  const Source source(
      "{% for m in ms %}{% for c in m.calls %}A{% endfor %}{% endfor %}"
      "{% if ask %}B{% if x %}C{% elif y %}D{% else %}E{% endif %}{% endif %}{% set z = 1 %}F");
  const SourceBlocks blocks(source);
  const auto at = [&](char letter) { return source.text().find(letter); };
  REQUIRE(blocks.around(at('A')).size() == 2);
  CHECK(blocks.around(at('A')).front()->word == "for");
  CHECK(blocks.loop_names(at('A')) == Texts{"c", "m"});
  CHECK(blocks.around(at('F')).empty());
  CHECK(blocks.condition_inside(at('B'), "ask").empty());
  CHECK(blocks.condition_inside(at('C'), "ask") == "(x)");
  CHECK(blocks.condition_inside(at('D'), "ask") == "not (x) and (y)");
  CHECK(blocks.condition_inside(at('E'), "ask") == "not (x) and not (y)");
  CHECK(blocks.condition_inside(at('E'), "other").empty());
}

TEST_CASE("source: a tag that nothing closes ends with the template; tokens are replaced") {
  const Source open("x{{ a.b");
  CHECK(open.text_of(open.tag_of(2)) == "a.b");
  CHECK(open.apply({open.replace({2, 3}, "z")}) == "x{{ z.b");
  CHECK(open.apply({open.replace({0, 0}, "y")}) == "yx{{ a.b");
}

TEST_CASE("blocks: an assignment with a body is a block, one with a value is none; branches and nested conditions") {
  const Source source(
      "{% set x = 1 %}A{% set y %}B{% endset %}{% if a %}{% if b %}C{% else %}D{% endif %}E{% endif %}"
      "{% for k in d %}{% else %}F{% endfor %}{% if ask %}{% if c %}{% for m in n %}{% if e %}G{% endif %}{% endfor "
      "%}{% endif %}"
      "{% endif %}");
  const SourceBlocks blocks(source);
  const auto at = [&](char letter) { return source.text().find(letter); };
  CHECK(blocks.around(at('A')).empty());
  REQUIRE(blocks.around(at('B')).size() == 1);
  CHECK(blocks.around(at('B')).front()->word == "set");
  CHECK(blocks.branch_of(*blocks.around(at('C')).front(), at('C')) == 0);
  CHECK(blocks.branch_of(*blocks.around(at('D')).front(), at('D')) == 1);
  CHECK(blocks.around(at('E')).size() == 1);
  CHECK(blocks.around(at('F')).front()->word == "for");
  CHECK(blocks.loop_names(at('F')) == Texts{"k"});
  CHECK(blocks.condition_inside(at('D'), "a") == "not (b)");
  CHECK(blocks.condition_inside(at('G'), "ask") == "(c) and (e)");
  CHECK(blocks.around(at('G')).size() == 4);
  const Source named("{% for x %}A");
  CHECK(SourceBlocks(named).loop_names(11) == Texts{"x"});
  const Source nameless("{% for %}A");
  CHECK(SourceBlocks(nameless).loop_names(9).empty());
  // What nothing ends goes on to the end of the template.
  const Source open("{% if a %}{% if b %}C");
  CHECK(SourceBlocks(open).around(open.text().size() - 1).size() == 2);
}

}  // namespace
}  // namespace rondo::audit
