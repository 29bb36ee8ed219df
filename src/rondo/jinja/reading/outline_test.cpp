#include <doctest/doctest.h>

#include "jinja/reading/outline.h"

namespace rondo::jinja {
namespace {

constexpr const char* kSource =
    "{% for m in messages %}\n"                          // 1
    "{% if m.a %}\n"                                     // 2
    "{{ '<a>' + ('x' if m.b else 'y') }}\n"              // 3
    "{% elif m.c %}\n"                                   // 4
    "{% for t in m.t %}<c>{% endfor %}\n"                // 5
    "{% endif %}\n"                                      // 6
    "{% set x %}{{ m.d }}{% endset %}{% set y = 1 %}\n"  // 7
    "{% endfor %}\n"                                     // 8
    "{% if g %}end{% endif %}\n";                        // 9

TEST_CASE("outline: what an if statement decides") {
  const Outline outline(kSource);
  CHECK(outline.decides({2, 7}, {3, 4}));
  CHECK(outline.decides({2, 7}, {5, 19}));  // the elif branch is written because this was false
  CHECK(outline.decides({4, 9}, {5, 19}));
  CHECK_FALSE(outline.decides({2, 7}, {7, 15}));
  CHECK_FALSE(outline.decides({9, 7}, {3, 4}));
  CHECK(outline.decides({9, 7}, {9, 11}));
  CHECK(outline.is_condition({4, 9}));
  CHECK_FALSE(outline.is_condition({3, 20}));
}

TEST_CASE("outline: an inline if decides over its own tag") {
  const Outline outline(kSource);
  CHECK(outline.decides({3, 20}, {3, 13}));
  CHECK_FALSE(outline.decides({3, 20}, {5, 19}));
  CHECK(outline.distance({3, 20}, {3, 13}) < outline.distance({2, 7}, {3, 13}));
}

TEST_CASE("outline: loops and tags around a place") {
  const Outline outline(kSource);
  REQUIRE(outline.loops({5, 19}).size() == 2);
  CHECK(outline.loops({5, 19})[0].line == 1);
  CHECK(outline.loops({5, 19})[1].line == 5);
  CHECK(outline.loops({7, 15}).size() == 1);
  CHECK(outline.loops({9, 11}).empty());
  CHECK(outline.tag({3, 13}).column == 1);
  CHECK(outline.tag({9, 11}).column == 11);
}

TEST_CASE("outline: assignments that a place depends on") {
  const Outline outline(
      "{% if a %}{% set ns.found = true %}{% endif %}\n"
      "{% if b %}{% set other = 1 %}{% endif %}\n"
      "{% if ns.found %}x{% endif %}\n"
      "{% set v = m.v | string | upper %}{{ '<' ~ v }}{{ v | trim }}\n");
  CHECK(outline.assigns_for({1, 7}, {3, 7}));
  CHECK_FALSE(outline.assigns_for({2, 7}, {3, 7}));
  CHECK(outline.names({2, 7}, "other"));
  CHECK_FALSE(outline.names({2, 7}, "found"));
  CHECK(outline.tag_names({2, 7}, "b"));
  CHECK_FALSE(outline.tag_names({2, 7}, "other"));
  const auto filter = outline.filtered_before({4, 38});
  REQUIRE(filter.has_value());
  CHECK(filter->line == 4);
  CHECK(filter->column == 18);
  CHECK_FALSE(outline.filtered_before({4, 51}).has_value());
  CHECK_FALSE(outline.filtered_before({3, 8}).has_value());
  CHECK(outline.uses({2, 29}).empty());
  REQUIRE(outline.uses({1, 30}).size() == 1);
  CHECK(outline.uses({1, 30}).front().line == 3);
}

TEST_CASE("outline: source that does not lex, and statements without an end, do no harm") {
  CHECK(Outline("{% if a %}{% for b in c %}{{ 'x").loops({1, 30}).size() <= 1);
  CHECK(Outline("{% endif %}{% elif %}").loops({1, 1}).empty());
  CHECK(Outline("").loops({1, 1}).empty());
}

}  // namespace
}  // namespace rondo::jinja
