// Who owns what a template writes, and which conditions decided it: the rules of docs/provenance.md.
#include <doctest/doctest.h>
#include <string>

#include "jinja/common/events.h"
#include "jinja/template.h"
#include "tests/support/traced.h"

namespace rondo::jinja {
namespace {

constexpr const char* kVariables = R"({
  "messages": [
    {"role": "system", "content": "S"},
    {"role": "user", "content": "U"},
    {"role": "assistant", "content": "A", "calls": [{"name": "f", "args": {"x": 1, "y": "v"}}]},
    {"role": "tool", "content": "T"}],
  "tools": [{"name": "f"}],
  "add_generation_prompt": true})";

Rendered in_context(const std::string& source) { return test::render(source, kVariables); }
std::string owners(const std::string& source) { return test::owners(in_context(source)); }

}  // namespace

TEST_CASE("control: every written value knows the expression that wrote it") {
  const std::string source =
      "{% macro m(x) %}<{{ x }}>{% endmacro %}\n{{ m(messages[0].content) }}\n {{ messages | length }}{{ 'k' }}"
      "{% set late %}{{ messages[1].content }}{% endset %}\n{{ late }}";
  const auto compiled = Template::compile(source, {}, "test");
  REQUIRE(compiled.ok());
  const std::vector<text::Literal> places = compiled.value()->expressions();
  const Rendered rendered = in_context(source);
  std::string found;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const std::string bytes = rendered.text.bytes().substr(at, run.size);
    at += run.size;
    if (run.kind == text::RunKind::kLiteral) {
      CHECK(run.expression == 0);
      continue;
    }
    REQUIRE(run.expression > 0);
    const text::Literal& place = places.at(run.expression - 1U);
    found += bytes + "@" + std::to_string(place.line) + ":" + std::to_string(place.column) + " ";
  }
  CHECK(found == "S@1:21 4@3:5 U@3:51 ");
}

TEST_CASE("control: what follows a failed `not add_generation_prompt` is the generation prompt") {
  CHECK(owners("{% if not add_generation_prompt %}a{% elif true %}GO{% else %}b{% endif %}") == "-G:GO");
  CHECK(owners("{% if add_generation_prompt and false %}a{% elif true %}b{% endif %}") == "-:b");
}

TEST_CASE("control: a loop over messages owns what its body writes") {
  CHECK(owners("a{% for m in messages[:2] %}<{{ m.content }}>{% endfor %}z") == "-:a 0:<S> 1:<U> -:z");
  CHECK(owners("{% for m in messages if m.role == 'user' %}<{{ loop.index }}>{% endfor %}") == "1:<1>");
  CHECK(owners("{% for m in messages[1:2] %}{{ 'x' ~ messages[0].content }}{% endfor %}") == "1:xS");
}

TEST_CASE("control: a condition reads all parts of a text that was put together, few or many") {
  const auto reads = [](const Rendered& rendered) {
    std::string out;
    for (const text::PathId path : rendered.reads_of(rendered.decisions.back())) {
      out += rendered.origins.paths.to_string(path) + " ";
    }
    return out;
  };
  const std::string two = "messages[0].content messages[1].content ";
  CHECK(reads(in_context("{% set s = messages[0].content ~ '-' ~ messages[1].content %}{% if s %}{% endif %}")) == two);
  const std::string grown =
      "{% set ns = namespace(s='') %}{% for i in range(200) %}{% set ns.s = ns.s ~ messages[i % 3].content ~ '-' %}"
      "{% endfor %}{% if ns.s %}{% endif %}";
  std::string wanted;
  for (int i = 0; i < 200; ++i) wanted += "messages[" + std::to_string(i % 3) + "].content ";
  CHECK(reads(in_context(grown)) == wanted);
}

TEST_CASE("control: a long list that is gone through again and again keeps the owners apart") {
  std::string variables = R"({"messages": [)";
  std::string wanted;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "m" + std::to_string(i) + ";";
    variables += (i == 0 ? R"({"content": ")" : R"(, {"content": ")") + name + "\"}";
    wanted += (i == 0 ? "" : " ") + std::to_string(i) + ":" + name;
  }
  variables += R"(], "tools": [{"name": "t"}]})";
  const Rendered rendered = test::render(
      "{% for m in messages %}{% for n in messages[:2] %}{% for t in tools %}{% endfor %}{% endfor %}{{ m.content }}"
      "{% endfor %}{% for m in messages %}{% if loop.index0 == 299 %}{{ m.content }}{% endif %}{% endfor %}",
      variables.c_str());
  CHECK(test::owners(rendered) == wanted + "m299;");
}

TEST_CASE("control: loops inside a message keep the message and name the element") {
  const Rendered rendered = in_context(
      "{% for m in messages %}{% for c in m.calls or [] %}({{ c.name }}{% for k, v in c.args.items() %}{{ k }}{{ v }}"
      "{% endfor %}){% endfor %}{% endfor %}{% for t in tools %}[{{ t.name }}]{% endfor %}");
  CHECK(rendered.text.to_string(rendered.origins) ==
        R"dump([0,1) literal 1:52 "(" message 2 in messages[2].calls[0]
[1,2) data messages[2].calls[0].name[0,1) "f" message 2 in messages[2].calls[0]
[2,3) data messages[2].calls[0].args.#x[0,1) "x" message 2 in messages[2].calls[0].args.x
[3,4) scalar messages[2].calls[0].args.x "1" message 2 in messages[2].calls[0].args.x via pystr
[4,5) data messages[2].calls[0].args.#y[0,1) "y" message 2 in messages[2].calls[0].args.y
[5,6) data messages[2].calls[0].args.y[0,1) "v" message 2 in messages[2].calls[0].args.y
[6,7) literal 1:123 ")" message 2 in messages[2].calls[0]
[7,8) literal 1:168 "[" in tools[0]
[8,9) data tools[0].name[0,1) "f" in tools[0]
[9,10) literal 1:181 "]" in tools[0]
)dump");
}

TEST_CASE("control: a loop over numbers is bound by the first message that is set") {
  CHECK(owners("{% for i in range(2) %}.{% set m = messages[i] %}<{{ m.content }}>{% endfor %}") ==
        "-:. 0:<S> -:. 1:<U>");
  // Inside a condition too, for the rest of the iteration.  The second set does not bind again.
  CHECK(owners("{% for i in range(1) %}{% if true %}{% set m = messages[1] %}{% endif %}{% set p = messages[0] %}"
               "<{{ p.content }}>{% endfor %}") == "1:<S>");
  CHECK(owners("{% set m = messages[1] %}<>") == "-:<>");
}

TEST_CASE("control: macros take the message of their caller, else of their argument") {
  const std::string macro = "{% macro r(m) %}<{{ m.content }}>{% endmacro %}";
  CHECK(owners(macro + "{{ r(messages[1]) }}") == "1:<U>");
  CHECK(owners(macro + "{{ r(m=messages[1]) }}") == "1:<U>");
  CHECK(owners(macro + "{% for m in messages[:1] %}{{ r(messages[1]) }}{% endfor %}") == "0:<U>");
}

TEST_CASE("control: a condition that read one message binds weakly") {
  CHECK(owners("{% if messages[0].role == 'system' %}X{% endif %}Y") == "~0:X -:Y");
  CHECK(owners("{% if messages[0].role == messages[1].role %}X{% else %}Y{% endif %}") == "-:Y");
  CHECK(owners("{% if messages[0].role == 'x' %}X{% elif messages[0].content %}Y{% endif %}") == "~0:Y");
  CHECK(owners("{% if messages[0].role == 'x' %}X{% elif messages[1].content %}Y{% endif %}") == "-:Y");
}

TEST_CASE("control: the generation prompt is what is written because the variable is true") {
  CHECK(owners("a{% if add_generation_prompt %}GO{% endif %}b") == "-:a -G:GO -:b");
  CHECK(owners("{% if not add_generation_prompt %}x{% else %}GO{% endif %}") == "-G:GO");
  CHECK(owners("{% set g = add_generation_prompt %}{{ 'GO' if g else 'x' }}{% if not (g and false) %}x{% endif %}") ==
        "-G:GO -:x");
  CHECK(owners("{% for m in messages %}{% if loop.last and add_generation_prompt %}GO{% endif %}{% endfor %}") ==
        "3G:GO");
}

TEST_CASE("control: text is owned where it is written, else where it was made") {
  // Collected under messages, written after the loop.
  CHECK(owners("{% set ns = namespace(t='') %}{% for m in messages[:2] %}{% set ns.t = ns.t ~ '<' ~ m.content ~ '>' %}"
               "{% endfor %}{{ ns.t }}") == "0:<S> 1:<U>");
  // Made under one message, written under another.
  CHECK(
      owners("{% set ns = namespace(t='') %}{% for m in messages[:2] %}{{ ns.t }}{% set ns.t = '<' ~ m.content ~ '>' %}"
             "{% endfor %}") == "1:<S>");
  // Written outside all messages, together with the data of one.
  CHECK(owners("{{ '<' ~ messages[1].content ~ '>' }}") == "1:<U>");
}

TEST_CASE("control: generation blocks") {
  const Rendered rendered =
      in_context("ab{% for m in messages[2:3] %}{% generation %}<{{ m.content }}>{% endgeneration %}{% endfor %}");
  REQUIRE(rendered.generation_blocks.size() == 1);
  CHECK(rendered.generation_blocks[0] == std::pair<std::size_t, std::size_t>(2, 5));
  CHECK(owners("{% for m in messages[2:3] %}a{% generation %}<{{ m.content }}>{% endgeneration %}b{% endfor %}") ==
        "2:a 2B:<A> 2:b");
}

TEST_CASE("control: decisions name their place and what they read") {
  const Rendered rendered = in_context(
      "{% for m in messages[:2] %}\n{% if m.role == 'user' and not m.missing %}x{% endif %}{% endfor %}\n{{ 1 if tools "
      "}}");
  REQUIRE(rendered.decisions.size() == 3);
  const auto reads = [&](const Decision& decision) {
    std::string out;
    for (const text::PathId path : rendered.reads_of(decision)) out += rendered.origins.paths.to_string(path) + " ";
    return out;
  };
  const Decision& first = rendered.decisions[0];
  const Decision& second = rendered.decisions[1];
  CHECK(first.line == 2);
  CHECK(first.column == 7);
  CHECK_FALSE(first.outcome);
  CHECK(reads(first) == "messages[0].role ");
  CHECK(second.node == first.node);
  CHECK(second.outcome);
  CHECK(reads(second) == "messages[1].role messages[1].missing ");
  CHECK(rendered.decisions[2].node != first.node);
  CHECK(reads(rendered.decisions[2]) == "tools ");
  CHECK(in_context("{% for i in range(3) %}{% if i == 1 %}{% endif %}{% endfor %}").decisions.size() == 3);
}

}  // namespace rondo::jinja
