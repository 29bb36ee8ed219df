// The facade: what compiling reports about a template, errors with their places, limits.
#include <doctest/doctest.h>
#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "jinja/common/options.h"
#include "jinja/program/instructions.h"
#include "jinja/reading/features.h"
#include "jinja/template.h"
#include "jinja/value/object.h"
#include "json/parse.h"

namespace rondo::jinja {
namespace {

using Strings = std::vector<std::string>;

std::shared_ptr<const Template> compile(const std::string& source) {
  auto compiled = Template::compile(source, {}, "test.jinja");
  REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
  return std::move(compiled).value();
}

Result<Rendered> render(const std::string& source, const std::string& variables = "{}",
                        const RenderOptions& options = {}) {
  const auto parsed = json::parse(variables);
  REQUIRE(parsed.ok());
  return compile(source)->render(parsed.value().as_object(), options);
}

Error syntax_error(const std::string& source) {
  const auto compiled = Template::compile(source, {}, "test.jinja");
  REQUIRE_FALSE(compiled.ok());
  CHECK(compiled.error().code == ErrorCode::kTemplateSyntax);
  return compiled.error();
}

}  // namespace

TEST_CASE("bug: a filter behind `or` is not looked up if a constant text decides") {
  CHECK(render("{{ 'a' or 'x' | nosuch }}{{ '' and n is nosuch }}").value().text.bytes() == "a");
  for (const char* source : {"{{ 'a' and 'x' | nosuch }}", "{{ '' or 'x' | nosuch }}", "{{ ('a' or n) is nosuch }}"})
    CHECK(!Template::compile(source, {}, "test").ok());
}

TEST_CASE("bug: numbers have digits of any script behind the first") {
  CHECK(render("{{ 1\u0663 + 1 }} {{ 1_\u0663 }} {{ 0x\u0663 }}").value().text.bytes() == "14 13 3");
  for (const char* source : {"{{ 1\u0663.5 }}", "{{ 1e\u0663 }}", "{{ \u0663 }}", "{{ 0\u0663 }}"})
    CHECK(!Template::compile(source, {}, "test").ok());
}

TEST_CASE("template: undeclared variables") {
  CHECK(compile("{{ a }}{% set b = 1 %}{{ b }}{% for c in d %}{{ c }}{{ loop.index }}{% endfor %}{{ range(1) }}")
            ->undeclared_variables() == Strings{"a", "d"});
  CHECK(compile("{% if x %}{% set y = 1 %}{% endif %}{{ y }}")->undeclared_variables() == Strings{"x", "y"});
  CHECK(compile("{% macro m(p) %}{{ p }}{{ q }}{% endmacro %}")->undeclared_variables() == Strings{"q"});
}

TEST_CASE("features that a template uses, with their places") {
  std::string told;
  for (const Feature& feature :
       used_features("{% for a in b if a is odd %}\n{{ a.c(d=1) | e(f=g | h) }}{% break %}\n"
                     "{% endfor %}{% generation %}{{ 'x' % i }}{{ j % k }}{% endgeneration %}")) {
    told += feature.name;
    for (const std::string& keyword : feature.keywords) told += " " + keyword;
    told += " " + std::to_string(feature.place.line) + ":" + std::to_string(feature.place.column) + "\n";
  }
  CHECK(told == "odd 1:23\nc d 2:6\ne f 2:15\nh 2:23\nbreak 2:31\ngeneration 3:16\n% 3:36\n");
  CHECK(used_features("{% if %}").empty());
}

TEST_CASE("template: roles it compares with") {
  CHECK(compile("{% if m.role == 'a' or 'b' != m['role'] %}{% elif role in ['c', 'd'] %}{% endif %}"
                "{{ ms | selectattr('role', 'equalto', 'e') | list }}{{ x == 'no' }}{{ m.get('role') is eq('f') }}")
            ->compared_roles() == Strings{"a", "b", "c", "d", "e", "f"});
}

TEST_CASE("template: literals know their text and place") {
  const auto compiled = compile("ab{{ 'c' 'd' }}\n  {%- if x %}e{% endif %}");
  CHECK(compiled->literal_texts() == Strings{"ab", "cd", "e"});
  REQUIRE(compiled->literals().size() == 3);
  CHECK(compiled->literals()[1].line == 1);
  CHECK(compiled->literals()[1].column == 6);
  CHECK(compiled->literals()[2].line == 2);
  CHECK(compiled->literals()[2].column == 14);
  CHECK(compile("{% generation %}{% endgeneration %}")->has_generation_block());
  CHECK_FALSE(compiled->has_generation_block());
}

TEST_CASE("template: syntax errors say where") {
  const Error error = syntax_error("a\n  {% if x %}\n{% endfor %}");
  CHECK(
      error.to_string() ==
      "test.jinja:3:4: Encountered unknown tag 'endfor'. Jinja was looking for the following tags: 'elif' or 'else' or "
      "'endif'. The innermost block that needs to be closed is 'if'.\n"
      "  3 | {% endfor %}\n    |    ^");
  CHECK(syntax_error("{{ 1 + }}").column == 8);
  CHECK(syntax_error("é {{ 'x }}").column == 7);
  CHECK(syntax_error("{{ x | nofilter }}").column == 8);
  CHECK(syntax_error("{{ " + std::string(5000, '(') + " }}").message == "too many nested blocks or brackets");
  CHECK(syntax_error("{{ \xff }}").message == "the template is not valid UTF-8");
}

TEST_CASE("template: deep trees are refused before they can hurt") {
  std::string chain = "{{ 1";
  for (int i = 0; i < 100'000; ++i) chain += "+1";
  CHECK(syntax_error(chain + " }}").message == "expression is too deeply nested");
  std::string dots = "{{ a";
  for (int i = 0; i < 100'000; ++i) dots += ".b";
  CHECK(syntax_error(dots + " }}").message == "expression is too deeply nested");
  std::string ifs;
  for (int i = 0; i < 5'000; ++i) ifs += "{% if x %}";
  CHECK(syntax_error(ifs).message == "too many nested blocks or brackets");
  std::string nots = "{{ ";
  for (int i = 0; i < 100'000; ++i) nots += "not ";
  CHECK(syntax_error(nots + "x }}").message == "too many nested blocks or brackets");
}

// Each branch used to copy the whole scope, and a name was searched for from the beginning: the first two took minutes.
TEST_CASE("template: many branches and names in one scope") {
  constexpr int kMany = 4000;
  std::string branches = "{% if v %}";
  std::string names;
  std::string parameters = "p";
  for (int i = 0; i < kMany; ++i) {
    const std::string number = std::to_string(i);
    branches += "{% elif a" + number + " %}{% set b" + number + " = 1 %}";
    names += "{% set a" + number + " = 1 %}{% if a" + number + " %}{% set c = a0 %}{% endif %}";
    parameters += ",p" + number;
  }
  CHECK(compile(branches + "{% endif %}{{ b9 }}")->undeclared_variables().size() == 1 + 2 * kMany);
  CHECK(compile(names + "{{ c }}{{ d }}")->undeclared_variables() == Strings{"c", "d"});
  CHECK(compile("{% macro m(" + parameters + ") %}{{ p9 }}{% endmacro %}")->undeclared_variables().empty());
}

TEST_CASE("template: errors of a render say where and through which macros") {
  const auto failed = render(
      "{% macro inner(x) %}\n{{ x.y.z }}{% endmacro %}\n{% macro outer() %}{{ inner({}) }}{% endmacro %}\n"
      "{{ outer() }}");
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().code == ErrorCode::kTemplateError);
  CHECK(failed.error().to_string() ==
        "test.jinja:2:8: 'dict object' has no attribute 'y'\n  2 | {{ x.y.z }}{% endmacro %}\n    |        ^\n"
        "  in macro `inner` called at line 3\n  in macro `outer` called at line 4");
  const auto raised = render("{{ raise_exception('no ' ~ x) }}", R"({"x": "é"})");
  REQUIRE_FALSE(raised.ok());
  CHECK(raised.error().code == ErrorCode::kTemplateRaised);
  CHECK(raised.error().message == "no é");
}

TEST_CASE("template: limits end a render") {
  const auto limited = [](const std::string& source) {
    RenderOptions options;
    options.limits.instructions = 200'000;
    options.limits.depth = 50;
    options.limits.output_bytes = 1'000'000;
    options.limits.memory_bytes = 32'000'000;
    options.limits.iterations = 100'000;
    const auto rendered = render(source, R"({"x": "0123456789"})", options);
    return rendered.ok() ? std::string("no error") : std::string(to_string(rendered.error().code));
  };
  CHECK(limited("{{ 'a' * 10**9 }}") == "limit");
  // The sandbox refuses more than 100,000 numbers.
  CHECK(limited("{{ range(10**12) | list }}") == "template_error");
  CHECK(limited("{% for i in range(100000) %}{% for j in range(100) %}{% endfor %}{% endfor %}") == "limit");
  CHECK(limited("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}") == "limit");
  CHECK(limited("{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(40) }}") == "limit");
  CHECK(limited("{% for i in [[]] recursive %}{{ loop([[]]) }}{% endfor %}") == "limit");
  CHECK(limited("{% set ns = namespace(s=x) %}{% for i in range(100) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}") ==
        "limit");
  CHECK(
      limited(
          "{% set ns = namespace(s=x) %}{% for i in range(100) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}") ==
      "limit");
  CHECK(limited(
            "{% set ns = namespace(l=[]) %}{% for i in range(99999) %}{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l }}") ==
        "limit");
  CHECK(limited("{% set l = [1] %}{% for i in l %}{% set _ = l.append(i) %}{% endfor %}") == "limit");
  CHECK(limited("{{ 7 ** (10 ** 9) }}") == "limit");
  CHECK(limited("{% set ns = namespace(n=3) %}{% for i in range(60) %}{% set ns.n = ns.n * ns.n %}{% endfor %}") ==
        "limit");
  CHECK(limited("{{ (x * 10000) | replace('', x * 1000) }}") == "limit");
}

TEST_CASE("template: one template, many threads") {
  const auto compiled =
      compile("{% for m in messages %}{{ m.content | upper }}{% if loop.last %}.{% endif %}{% endfor %}");
  const auto variables = json::parse(R"({"messages": [{"content": "a"}, {"content": "b"}]})");
  REQUIRE(variables.ok());
  std::vector<std::string> outputs(4);
  {
    std::vector<std::thread> threads;
    for (std::string& output : outputs) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          const auto rendered = compiled->render(variables.value().as_object(), {});
          output = rendered.ok() ? rendered.value().text.bytes() : rendered.error().message;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  CHECK(std::count(outputs.begin(), outputs.end(), "AB.") == 4);
}

}  // namespace rondo::jinja
