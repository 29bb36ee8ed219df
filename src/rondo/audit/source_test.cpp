#include "audit/source.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "audit/candidates.h"
#include "audit/line_diff.h"
#include "audit/source_blocks.h"

namespace rondo::audit {
namespace {

// The sources that the candidates make of `text`.
std::vector<std::string> made(const Source& source, const std::vector<Candidate>& candidates) {
  std::vector<std::string> out;
  for (const Candidate& candidate : candidates) {
    out.push_back(source.apply(candidate.edits));
    CHECK_MESSAGE(jinja::Template::compile(out.back(), {}, "edited").ok(), out.back());
  }
  return out;
}

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
}

TEST_CASE("source: the tag around a token, the group behind a bracket, the operand in front of a filter") {
  const Source source("a{% if x %}b{{ f(y[0], (z)).w | trim }}c");
  const auto tag = [&](std::size_t token) { return std::string(source.text_of(source.tag_of(token))); };
  CHECK(tag(0).empty());  // text, an opening bracket, a closing one: no part of a tag
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

TEST_CASE("source: edits are made in any order, and can be told as a diff") {
  const Source source("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12");
  const std::vector<Edit> edits = {{24, 26, "twelve"}, {2, 3, "two\nand more"}};
  CHECK(source.apply(edits) == "1\ntwo\nand more\n3\n4\n5\n6\n7\n8\n9\n10\n11\ntwelve");
  CHECK(unified_diff(source.text(), source.apply(edits), "t") ==
        "--- a/t\n+++ b/t\n@@ -1,5 +1,6 @@\n 1\n-2\n+two\n+and more\n 3\n 4\n 5\n@@ -9,4 +10,4 @@\n 9\n 10\n 11\n"
        "-12\n\\ No newline at end of file\n+twelve\n\\ No newline at end of file\n");
  CHECK(unified_diff("a\n", "a\n", "t").empty());
  CHECK(unified_diff("", "a\n", "t") == "--- a/t\n+++ b/t\n@@ -0,0 +1 @@\n+a\n");
}

TEST_CASE("source: constants are quoted as the template reads them") { CHECK(quote("a'b\\\n") == "'a\\'b\\\\\\n'"); }

TEST_CASE("condition: an operand is left out, or the whole is kept as it was") {
  const Source source("{% if loop.last and (a or b) %}x{% endif %}{{ 1 if c else 2 }}");
  CHECK(made(source, condition_candidates(source, 1, 7, true)) ==
        Texts{"{% if loop.first and (a or b) %}x{% endif %}{{ 1 if c else 2 }}",
              "{% if (a or b) %}x{% endif %}{{ 1 if c else 2 }}", "{% if loop.last %}x{% endif %}{{ 1 if c else 2 }}",
              "{% if true %}x{% endif %}{{ 1 if c else 2 }}"});
  CHECK(made(source, condition_candidates(source, 1, 52, false)) ==
        Texts{"{% if loop.last and (a or b) %}x{% endif %}{{ 1 if false else 2 }}"});
  CHECK(condition_candidates(source, 1, 34, true).empty());
  for (const Candidate& candidate : condition_candidates(source, 1, 7, true)) CHECK_FALSE(candidate.is_copying);
  CHECK(condition_candidates(source, 7, 1, true).empty());
}

TEST_CASE("strip: filters and methods that cut white space are left out") {
  const Source source("{{ m.content | trim }}\n{{ a.strip('\\n').lstrip() + b }}\n{{ strip }}");
  CHECK(made(source, strip_candidates(source, 1)).front() ==
        "{{ m.content  }}\n{{ a.strip('\\n').lstrip() + b }}\n{{ strip }}");
  const auto second = made(source, strip_candidates(source, 2));
  REQUIRE(second.size() == 3);
  CHECK(second.back() == "{{ m.content | trim }}\n{{ a + b }}\n{{ strip }}");
  CHECK(strip_candidates(source, 3).empty());
  for (const Candidate& candidate : strip_candidates(source, 2)) CHECK(candidate.is_copying);
}

TEST_CASE("verbatim: arguments given as text are copied, alone or in the call's object") {
  const Source source("{{ 'x' ~ call['arguments'] | tojson(indent=2) }}{{ tool_call.function|tojson }}");
  CHECK(made(source, verbatim_candidates(source)) ==
        Texts{"{{ 'x' ~ (call['arguments'] if call['arguments'] is string else call['arguments']| tojson(indent=2)) }}"
              "{{ tool_call.function|tojson }}",
              "{{ 'x' ~ call['arguments'] | tojson(indent=2) }}{{ ('{\"name\": ' ~ (tool_call.function.name|tojson) ~ "
              "', \"arguments\": ' ~ tool_call.function.arguments ~ '}' if tool_call.function.arguments is string else "
              "tool_call.function|tojson) }}"});
}

TEST_CASE("conditions: what is asked about the last one may be asked about the first, or the last of its role") {
  const Source source("{% for m in ms %}{% if loop.last and i == ns.most or m == us[-1] %}a{% endif %}{% endfor %}");
  const Texts all = made(source, condition_candidates(source, 1, 24, true));
  const auto has = [&](const std::string& asked) {
    const std::string text = "{% for m in ms %}{% if " + asked + " %}a{% endif %}{% endfor %}";
    return std::ranges::find(all, text) != all.end();
  };
  CHECK(has("loop.first and i == ns.most or m == us[-1]"));
  CHECK(has("(loop.last or loop.nextitem.role != m.role) and i == ns.most or m == us[-1]"));
  CHECK(has("loop.last and i == 0 or m == us[-1]"));
  CHECK(has("loop.last and i == ns.most or m == us[0]"));
}

TEST_CASE("conditions: one operand is left out, or two") {
  const Source source("{% if a and b and c %}x{% endif %}");
  const Texts all = made(source, condition_candidates(source, 1, 7, true));
  for (const char* const left : {"b and c", "a and c", "a and b", "a", "b", "c", "true"})
    CHECK(std::ranges::find(all, "{% if " + std::string(left) + " %}x{% endif %}") != all.end());
}

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

}  // namespace
}  // namespace rondo::audit
