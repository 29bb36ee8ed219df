// Rows recorded from minijinja 2.24.0 and 3.0.5, with Python's methods added (2026-11): first with Python's `tojson`
// instead of their own, then with their own.
#include "audit/dialects.h"

#include <doctest/doctest.h>

#include <vector>

#include "json/parse.h"

namespace rondo::audit {
namespace {

const char* const kVariables = R"j({"v": {"list": ["a", 1, true, null, 1.5], "dict": {"a b": ["x"], "c": {"d": false}},
  "text": "<b> & 'c' \"d\"", "yes": true, "no": null, "quoted": "say \"hi\""}})j";

struct Row {
  const char* source;
  const char* python;
  const char* second_python_json;  // minijinja 2
  const char* second_own_json;
  const char* third_own_json;  // minijinja 3; with Python's `tojson` it writes the same as Python
};

const std::vector<Row> kRows = {
    {"{{ v.list }}", "['a', 1, True, None, 1.5]", R"(["a", 1, True, None, 1.5])", R"(["a", 1, True, None, 1.5])",
     "['a', 1, True, None, 1.5]"},
    {"{{ v.list | string }}!", "['a', 1, True, None, 1.5]!", R"(["a", 1, True, None, 1.5]!)",
     R"(["a", 1, True, None, 1.5]!)", "['a', 1, True, None, 1.5]!"},
    {"{{ v.dict }}", "{'a b': ['x'], 'c': {'d': False}}", R"({"a b": ["x"], "c": {"d": False}})",
     R"({"a b": ["x"], "c": {"d": False}})", "{'a b': ['x'], 'c': {'d': False}}"},
    {"{{ v.text }} {{ v.yes }} {{ v.no }}", R"(<b> & 'c' "d" True None)", R"(<b> & 'c' "d" True None)",
     R"(<b> & 'c' "d" True None)", R"(<b> & 'c' "d" True None)"},
    {"{{ [v.quoted] }}", R"(['say "hi"'])", R"(["say \"hi\""])", R"(["say \"hi\""])", R"(['say "hi"'])"},
    {"{{ v.text | tojson }}", R"("<b> & 'c' \"d\"")", R"("<b> & 'c' \"d\"")",
     R"("\u003cb\u003e \u0026 \u0027c\u0027 \"d\"")", R"("\u003cb\u003e \u0026 \u0027c\u0027 \"d\"")"},
    {"{{ v.dict | tojson }}", R"({"a b": ["x"], "c": {"d": false}})", R"({"a b": ["x"], "c": {"d": false}})",
     R"({"a b":["x"],"c":{"d":false}})", R"({"a b": ["x"], "c": {"d": false}})"},
    {"{{ v.list | tojson(indent=1) }}", "[\n \"a\",\n 1,\n true,\n null,\n 1.5\n]",
     "[\n \"a\",\n 1,\n true,\n null,\n 1.5\n]", "[\n \"a\",\n 1,\n true,\n null,\n 1.5\n]",
     "[\n \"a\",\n 1,\n true,\n null,\n 1.5\n]"},
    {"{% for x in v.list %}{{ x }},{% endfor %}", "a,1,True,None,1.5,", "a,1,True,None,1.5,", "a,1,True,None,1.5,",
     "a,1,True,None,1.5,"},
};

TEST_CASE("values are printed as minijinja prints them") {
  const auto variables = json::parse(kVariables);
  REQUIRE(variables.ok());
  for (const Row& row : kRows) {
    CAPTURE(row.source);
    const auto compiled = jinja::Template::compile(row.source, {}, "test");
    REQUIRE(compiled.ok());
    const auto rendered = compiled.value()->render(variables.value().as_object(), {});
    REQUIRE(rendered.ok());
    CHECK(rendered.value().text.bytes() == row.python);
    CHECK(in_dialect(rendered.value(), kMinijinja2, false) == row.second_python_json);
    CHECK(in_dialect(rendered.value(), kMinijinja2, true) == row.second_own_json);
    CHECK(in_dialect(rendered.value(), kMinijinja3, false) == row.python);
    CHECK(in_dialect(rendered.value(), kMinijinja3, true) == row.third_own_json);
  }
}

TEST_CASE("what minijinja lacks, or has only where a server adds it") {
  std::vector<std::string> lacks;
  std::vector<std::string> wants;
  for (const jinja::Feature& feature : jinja::used_features(
           "{% generation %}{{ x | trim | truncate(3) }}{% endgeneration %}{{ x.removeprefix('a') }}{{ x.strip() }}"
           "{{ x | tojson(indent=2) }}{{ x | tojson }}{{ x | join(d=',') }}{{ x | tojson(ensure_ascii=false) }}{{ '%s' "
           "% x }}{{ 5 % 2 }}{{ loop.cycle(1) "
           "}}")) {
    if (!lacking(feature).empty()) lacks.push_back(lacking(feature));
    if (!to_be_added(feature).empty()) wants.push_back(to_be_added(feature));
  }
  CHECK(lacks == std::vector<std::string>{"`{% generation %}`", "filter `truncate`", "method `removeprefix`",
                                          "`%` behind a string"});
  CHECK(wants == std::vector<std::string>{"method `strip`", "`tojson` with `ensure_ascii`"});
}

TEST_CASE("numbers of text that is none, and the length of none") {
  std::vector<std::string> lacks;
  for (const jinja::Feature& feature : jinja::used_features("{{ x | int }}{{ x | int(7) }}{{ x | float }}")) {
    if (!lacking(feature).empty()) lacks.push_back(lacking(feature));
  }
  CHECK(lacks == std::vector<std::string>{"`int` of text that is no number", "`float` of text that is no number"});
  const auto features = jinja::used_features("\n{% if tools is iterable and tools | length > 0 %}{% endif %}");
  const jinja::Feature* found = length_of_none(features);
  REQUIRE(found != nullptr);
  CHECK(found->place.line == 2);
  CHECK(length_of_none(jinja::used_features("{% if tools and tools | length > 0 %}{% endif %}")) == nullptr);
  CHECK(length_of_none(jinja::used_features("{% if x is iterable and x | length > 0 %}{% endif %}")) == nullptr);
}

}  // namespace
}  // namespace rondo::audit
