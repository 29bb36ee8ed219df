// One row for each operation in the table of docs/provenance.md, and for each rule of contexts that control_test.cpp
// does not already hold.
#include <doctest/doctest.h>
#include <string>

#include "jinja/common/options.h"
#include "jinja/template.h"
#include "tests/support/traced.h"

namespace rondo::jinja {
namespace {

constexpr const char* kRequest = R"({
  "messages": [
    {"role": "system", "content": " Be brief. "},
    {"role": "user", "content": "a<b", "n": 2, "none": null, "yes": true},
    {"role": "assistant", "content": "", "calls": [{"name": "f", "args": {"city": "Ö", "k": [1]}}]},
    {"role": "tool", "content": "T", "name": "f"}],
  "tools": [{"name": "f"}],
  "add_generation_prompt": true})";

Rendered rendered(const std::string& source) { return test::render(source, kRequest); }

// Each run as KIND`bytes` with where it came from: L literals, D data, E escaped, N scalars, S serialisers, C computed,
// J whole dumps.
std::string runs(const Rendered& rendered) {
  std::string out;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    if (!out.empty()) out += ' ';
    out += "LDENSCJ"[static_cast<std::size_t>(run.kind)];
    out += "`" + rendered.text.bytes().substr(at, run.size) + "`";
    at += run.size;
    if (run.kind != text::RunKind::kLiteral) out += rendered.origins.paths.to_string(run.path());
    if (run.kind == text::RunKind::kData || run.kind == text::RunKind::kEscaped) {
      out += "[" + std::to_string(run.source_offset) + "," + std::to_string(run.source_offset + run.source_size) + ")";
    }
    if (run.chain != text::ChainId::kNone) out += "(" + rendered.origins.chains.to_string(run.chain) + ")";
  }
  return out;
}

std::string runs(const std::string& source) { return runs(rendered(source)); }

std::string owners_of(const std::string& source, bool elements = false) {
  return test::owners(rendered(source), elements);
}

struct Row {
  std::string source;
  std::string want;
};

}  // namespace

TEST_CASE("origins: a dump is one run until its parts are asked for, wherever it goes as a whole") {
  const std::string dump = R"(J`{"city": "Ö", "k": [1]}`messages[2].calls[0].args)";
  const Row rows[] = {
      {"{{ messages[2].calls[0].args | tojson }}", dump + "(json)"},
      {"{% for m in messages[2:3] %}<{{ m.calls[0].args | tojson }}>{% endfor %}", "L`<` " + dump + "(json) L`>`"},
      {"{% set a = 'a' ~ (messages[2].calls[0].args | tojson) %}{{ a + 'b' }}", "L`a` " + dump + "(json) L`b`"},
      {"{% macro m() %}{{ messages[2].calls[0].args | tojson | trim }}{% endmacro %}{{ m() }}", dump + "(json, strip)"},
      {"{{ (tools | tojson)[2:] }}",
       "S`\"`tools[0](json, slice) D`name`tools[0].#name[0,4)(json, slice) S`\": `tools[0](json, slice) "
       "S`\"`tools[0].name(json, slice) D`f`tools[0].name[0,1)(json, slice) "
       "S`\"`tools[0].name(json, slice) S`}`tools[0](json, slice) S`]`tools(json, slice)"},
      // What the template made, what it sorts, and the messages, which do not all belong to one message.
      {"{{ {'f': tools[0].name} | tojson }}",
       "C`{` C`\"` L`f` C`\"` C`: ` S`\"`tools[0].name(json) D`f`tools[0].name[0,1)(json) S`\"`tools[0].name(json) "
       "C`}`"},
      {"{{ tools[0] | tojson(sort_keys=true) }}",
       "S`{\"`tools[0](json) D`name`tools[0].#name[0,4)(json) S`\": `tools[0](json) S`\"`tools[0].name(json) "
       "D`f`tools[0].name[0,1)(json) S`\"`tools[0].name(json) S`}`tools[0](json)"},
  };
  RenderOptions options;
  options.whole_dumps = true;
  for (const Row& row : rows) {
    Rendered rendered = test::render(row.source, kRequest, options);
    CHECK_MESSAGE(runs(rendered) == row.want, row.source);
    rendered.take_dumps_apart();
    CHECK_MESSAGE(runs(rendered) == runs(row.source), row.source);
  }
  CHECK(runs(test::render("{{ messages | tojson }}", kRequest, options)) == runs("{{ messages | tojson }}"));
}

TEST_CASE("bug: a dump of what a lenient render changed is not one run") {
  RenderOptions options;
  options.strict = false;
  const std::string change = "{% set _ = messages[2].calls[0].args.k.append(2) %}";
  const std::string source = change + "{{ messages[2].calls[0].args | tojson }}";
  const std::string apart = runs(test::render(source, kRequest, options));
  options.whole_dumps = true;
  CHECK(runs(test::render(source, kRequest, options)) == apart);
  CHECK(apart.find("C`2`") != std::string::npos);
  // What is unchanged stays whole, also beside a change and where the template has read in it.
  CHECK(runs(test::render("{% set l = [] %}{% set _ = l.append(messages[2].calls[0].args.k[0]) %}"
                          "{{ messages[2].calls[0].args | tojson }}",
                          kRequest, options)) == R"(J`{"city": "Ö", "k": [1]}`messages[2].calls[0].args(json))");
  CHECK(runs(test::render(change + "{{ tools[0] | tojson }}", kRequest, options)) ==
        R"(J`{"name": "f"}`tools[0](json))");
}

TEST_CASE("origins: a row for each operation") {
  const Row rows[] = {
      {"x{{ messages[1].content }}y", "L`x` D`a<b`messages[1].content[0,3) L`y`"},
      {"{{ messages[1].content ~ '!' ~ messages[1].content }}",
       "D`a<b`messages[1].content[0,3) L`!` D`a<b`messages[1].content[0,3)"},
      {"{{ messages[1].content + '!' }}", "D`a<b`messages[1].content[0,3) L`!`"},
      {"{{ ['x', messages[1].content] | join('-') }}", "L`x` L`-` D`a<b`messages[1].content[0,3)"},
      {"{{ '<{}>'.format(messages[1].content) }}", "L`<` D`a<b`messages[1].content[0,3) L`>`"},
      {"{{ '<%s>' % messages[1].content }}", "L`<` D`a<b`messages[1].content[0,3) L`>`"},
      {"{% macro w(v) %}({{ v }}){% endmacro %}{{ w(messages[1].content) }}",
       "L`(` D`a<b`messages[1].content[0,3) L`)`"},
      {"{% set s %}({{ messages[1].content }}){% endset %}{{ s }}", "L`(` D`a<b`messages[1].content[0,3) L`)`"},
      {"{% filter upper %}q{{ messages[1].content }}{% endfilter %}", "L`Q` D`A<B`messages[1].content[0,3)(upper)"},
      {"{% set ns = namespace(t=messages[1].content) %}{{ ns.t }}", "D`a<b`messages[1].content[0,3)"},
      {"{{ messages[0].content.strip() }}", "D`Be brief.`messages[0].content[1,10)(strip)"},
      {"{{ messages[0].role.strip() }}", "D`system`messages[0].role[0,6)(strip)"},
      {"{{ messages[0].content[1:3] }}", "D`Be`messages[0].content[1,3)(slice)"},
      {"{{ messages[0].content[3] }}", "D` `messages[0].content[3,4)(slice)"},
      {"{{ messages[0].content.split(' ')[1] }}", "D`Be`messages[0].content[1,3)(split(' '))"},
      {"{{ messages[0].content.splitlines()[0] }}", "D` Be brief. `messages[0].content[0,11)(splitlines)"},
      {"{{ messages[0].content.removeprefix(' ') }}", "D`Be brief. `messages[0].content[1,11)(removeprefix(' '))"},
      {"{{ messages[0].content[::-1] | trim }}",
       "D`.`messages[0].content[9,10)(slice, strip) D`f`messages[0].content[8,9)(slice, strip) "
       "D`e`messages[0].content[7,8)(slice, strip) D`i`messages[0].content[6,7)(slice, strip) "
       "D`r`messages[0].content[5,6)(slice, strip) D`b`messages[0].content[4,5)(slice, strip) D` "
       "`messages[0].content[3,4)(slice, strip) D`e`messages[0].content[2,3)(slice, strip) "
       "D`B`messages[0].content[1,2)(slice, strip)"},
      {"{{ messages[1].content | upper }}", "D`A<B`messages[1].content[0,3)(upper)"},
      {"{{ 'ß' | upper }}{{ messages[2].calls[0].args.city | lower }}",
       "L`SS` D`ö`messages[2].calls[0].args.city[0,2)(lower)"},
      {"{{ messages[1].content | capitalize }}",
       "E`A`messages[1].content[0,1)(capitalize) D`<b`messages[1].content[1,3)(capitalize)"},
      {"{{ messages[1].content | replace('<', '>>') }}",
       "D`a`messages[1].content[0,1)(replace('<')) E`>>`messages[1].content[1,2)(replace('<')) "
       "D`b`messages[1].content[2,3)(replace('<'))"},
      {"{{ 'xyx' | replace('x', messages[1].content) }}",
       "D`a<b`messages[1].content[0,3) L`y` D`a<b`messages[1].content[0,3)"},
      {"{{ messages[1].content | e }}",
       "D`a`messages[1].content[0,1)(html) E`&lt;`messages[1].content[1,2)(html) D`b`messages[1].content[2,3)(html)"},
      {"{{ messages[1].content | urlencode }}",
       "D`a`messages[1].content[0,1)(urlencode) E`%3C`messages[1].content[1,2)(urlencode) "
       "D`b`messages[1].content[2,3)(urlencode)"},
      {"{{ {'q': messages[2].calls[0].args.city} | urlencode }}",
       "L`q` C`=` E`%C3%96`messages[2].calls[0].args.city[0,2)(urlencode)"},
      {"{{ (messages[1].content | e).unescape() }}",
       "D`a`messages[1].content[0,1)(html, unescape) E`<`messages[1].content[1,2)(html, unescape) "
       "D`b`messages[1].content[2,3)(html, unescape)"},
      {"{{ ('<b>' ~ messages[0].content ~ '</b>') | striptags }}",
       "D`Be`messages[0].content[1,3)(striptags, split(), unescape) C` ` "
       "D`brief.`messages[0].content[4,10)(striptags, split(), unescape)"},
      {"{{ messages[2].calls[0].args | tojson }}",
       "S`{\"`messages[2].calls[0].args(json) D`city`messages[2].calls[0].args.#city[0,4)(json) S`\": "
       "`messages[2].calls[0].args(json) S`\"`messages[2].calls[0].args.city(json) "
       "D`Ö`messages[2].calls[0].args.city[0,2)(json) S`\"`messages[2].calls[0].args.city(json) S`, "
       "\"`messages[2].calls[0].args(json) D`k`messages[2].calls[0].args.#k[0,1)(json) S`\": "
       "`messages[2].calls[0].args(json) S`[`messages[2].calls[0].args.k(json) "
       "N`1`messages[2].calls[0].args.k[0](json) S`]`messages[2].calls[0].args.k(json) "
       "S`}`messages[2].calls[0].args(json)"},
      {"{{ messages[2].calls[0].args }}",
       "S`{`messages[2].calls[0].args(pyrepr) S`'`messages[2].calls[0].args.#city(pyrepr) "
       "D`city`messages[2].calls[0].args.#city[0,4)(pyrepr) S`'`messages[2].calls[0].args.#city(pyrepr) S`: "
       "`messages[2].calls[0].args(pyrepr) S`'`messages[2].calls[0].args.city(pyrepr) "
       "D`Ö`messages[2].calls[0].args.city[0,2)(pyrepr) S`'`messages[2].calls[0].args.city(pyrepr) S`, "
       "`messages[2].calls[0].args(pyrepr) S`'`messages[2].calls[0].args.#k(pyrepr) "
       "D`k`messages[2].calls[0].args.#k[0,1)(pyrepr) S`'`messages[2].calls[0].args.#k(pyrepr) S`: "
       "`messages[2].calls[0].args(pyrepr) S`[`messages[2].calls[0].args.k(pyrepr) "
       "N`1`messages[2].calls[0].args.k[0](pyrepr) S`]`messages[2].calls[0].args.k(pyrepr) "
       "S`}`messages[2].calls[0].args(pyrepr)"},
      {"{{ messages[1].n }}{{ messages[1].none }}{{ messages[1].yes | tojson }}",
       "N`2`messages[1].n(pystr) N`None`messages[1].none(pystr) N`true`messages[1].yes(json)"},
      {"{{ messages[1].content | length }}{{ messages | length }}", "C`3` C`4`"},
      {"{{ messages[1].content | indent(2, true) }}",
       "C`  `messages[1].content D`a<b`messages[1].content[0,3)(indent)"},
      {"{{ messages[1].content.center(7) }}", "C`  ` D`a<b`messages[1].content[0,3) C`  `"},
      {"{% for k, v in messages[2].calls[0].args.items() %}{{ k }}={{ v }};{% endfor %}",
       "D`city`messages[2].calls[0].args.#city[0,4) L`=` D`Ö`messages[2].calls[0].args.city[0,2) L`;` "
       "D`k`messages[2].calls[0].args.#k[0,1) L`=` S`[`messages[2].calls[0].args.k(pyrepr) "
       "N`1`messages[2].calls[0].args.k[0](pyrepr) S`]`messages[2].calls[0].args.k(pyrepr) L`;`"},
      {"{% for k in messages[2].calls[0].args %}{{ k }}{% endfor %}",
       "D`city`messages[2].calls[0].args.#city[0,4) D`k`messages[2].calls[0].args.#k[0,1)"},
      {"{{ (messages | selectattr('role', 'equalto', 'tool') | list)[0].content }}", "D`T`messages[3].content[0,1)"},
      {"{{ (messages | map(attribute='role') | list)[3] }}", "D`tool`messages[3].role[0,4)"},
      {"{{ (messages[1:] | reverse | first).role }}", "D`tool`messages[3].role[0,4)"},
      {"{{ (messages | sort(attribute='role') | first).role }}", "D`assistant`messages[2].role[0,9)"},
      {"{{ (messages | groupby('role'))[1].list[0].content }}", "D` Be brief. `messages[0].content[0,11)"},
      {"{% for m in messages %}{{ loop.nextitem.role if not loop.last }}{% endfor %}",
       "D`user`messages[1].role[0,4) D`assistant`messages[2].role[0,9) D`tool`messages[3].role[0,4)"},
      {"{{ ('[\"' ~ messages[3].content ~ '\"]' | from_json) if false else (messages[3].content | tojson | from_json) "
       "}}",
       "D`T`messages[3].content[0,1)"},
      {"{{ messages[2].content or 'empty' }}", "L`empty`"},
      {"{{ dict(messages[3], content='z').role }}", "D`tool`messages[3].role[0,4)"},
      {"{{ (messages[0] | dictsort)[0][1] }}", "D` Be brief. `messages[0].content[0,11)"},
      {"{{ messages[1].n + 1 }}{{ -messages[1].n }}", "C`3` C`-2`"},
      {"{{ '%05.1f' % messages[1].n }}", "N`002.0`messages[1].n(format)"},
      {"{{ lipsum(n=1)[:0] }}{{ loop | default('none') }}", "L`none`"},
  };
  for (const Row& row : rows) CHECK_MESSAGE(runs(row.source) == row.want, row.source << "\n  " << runs(row.source));
}

TEST_CASE("origins: whose text it is") {
  const Row rows[] = {
      {"{% for t in tools %}{{ t.name }}{% endfor %}", "-:f"},
      {"{% for m in messages %}{% for t in tools %}{{ t.name }}{% endfor %}{% endfor %}", "0:f 1:f 2:f 3:f"},
      {"{% for i in range(2) %}{% for j in range(1) %}{% set m = messages[i] %}<{{ m.role }}>{% endfor %}.{% endfor %}",
       "0:<system> -:. 1:<user> -:."},
      {"{% for i in range(2) %}{% set r = messages[i].role %}<{{ r }}>{% endfor %}", "-:< 0:system -:>< 1:user -:>"},
      {"{% macro r(a, m) %}<{{ a }}{{ m.role }}>{% endmacro %}{{ r('x', messages[1]) }}", "1:<xuser>"},
      {"{% macro r(c) %}<{{ c }}>{% endmacro %}{{ r(messages[1].content) }}", "1:<a<b>"},
      {"{% macro r(v) %}<{{ v }}>{% endmacro %}{{ r(1) }}", "-:<1>"},
      {"{% macro r() %}<{{ caller(messages[1]) }}>{% endmacro %}{% call(m) r() %}({{ m.role }}){% endcall %}",
       "1:<(user)>"},
      {"{% if messages[0].role == 'system' %}{% if tools %}T{% endif %}{% endif %}", "~0:T"},
      {"{% if messages[0].role != 'system' %}{% else %}E{% endif %}", "~0:E"},
      {"{% for m in messages[:1] %}{% if messages[1].n == 2 %}X{% endif %}{% endfor %}", "0:X"},
      {"{{ 'S' if messages[0].role == 'system' }}", "-:S"},
      {"{% set first = messages[0] %}{% if first.role == 'system' %}X{% endif %}{% set rest = messages[1:] %}{% for m "
       "in rest %}{{ m.role[0] }}{% endfor %}",
       "~0:X 1:u 2:a 3:t"},
      {"{{ '<' ~ messages[1].role ~ messages[1].content ~ '>' }}", "1:<usera<b>"},
      {"{{ '<' ~ messages[1].role ~ messages[0].role ~ '>' }}", "-:<usersystem>"},
      {"{% set ns = namespace(id='') %}{% for m in messages[2:] %}{% if m.calls %}{% set ns.id = 'call-' ~ "
       "m.calls[0].name %}{% else %}{{ ns.id }}{% endif %}{% endfor %}",
       "3:call-f"},
      {"{% for m in messages %}{% if m.role == 'tool' %}{% for p in messages if p.calls %}{{ p.calls[0].name }}{% "
       "endfor %}{% endif %}{% endfor %}",
       "2:f"},
      {"{% set ns = namespace(close='') %}{% for m in messages[1:] %}{{ ns.close }}<{{ m.role }}>{% set ns.close = '|' "
       "%}{% endfor %}{{ ns.close }}",
       "1:<user> 2:|<assistant> 3:|<tool>|"},
      {"{% set ns = namespace(out='') %}{% for m in messages[1:] %}{% set ns.out = ns.out ~ m.role ~ ';' %}{% endfor "
       "%}{{ ns.out }}{% if add_generation_prompt %}GO{% endif %}",
       "1:user; 2:assistant; 3:tool; -G:GO"},
      {"{% set go = 'GO' if add_generation_prompt else '' %}{{ go }}!", "-G:GO -:!"},
      {"{% if tools and add_generation_prompt %}GO{% endif %}", "-G:GO"},
      {"{% for m in messages %}{% if loop.last %}{{ m.role }}{% if add_generation_prompt %}GO{% endif %}{% endif %}{% "
       "endfor %}",
       "3:tool 3G:GO"},
      {"{% set text %}{% for m in messages[:2] %}{{ m.role }}{% endfor %}{% endset %}[{{ text }}]",
       "-:[ 0:system 1:user -:]"},
  };
  for (const Row& row : rows)
    CHECK_MESSAGE(owners_of(row.source) == row.want, row.source << "\n  " << owners_of(row.source));
}

TEST_CASE("origins: loops inside a message name their element and keep the message") {
  const Row rows[] = {
      {"{% for m in messages[2:3] %}{% for c in m.calls %}{{ c.name }}{% for k, v in c.args.items() %}{{ k }}{% endfor "
       "%}{% endfor %}{% endfor %}",
       "2/messages[2].calls[0]:f 2/messages[2].calls[0].args.city:city 2/messages[2].calls[0].args.k:k"},
      {"{% for m in messages[2:3] %}{{ m.role }}{% for t in tools %}{{ t.name }}{% endfor %}{% endfor %}",
       "2/messages[2]:assistant 2/tools[0]:f"},
      {"{% for m in messages[2:3] %}{% for k in m.calls[0].args.k %}{{ k }}{% endfor %}{% for i in range(1) %}{{ i "
       "}}{% endfor %}{% endfor %}",
       "2/messages[2].calls[0].args.k[0]:1 2/messages[2]:0"},
      {"{% macro show(c) %}{{ c.name }}{% endmacro %}{% for m in messages[2:3] %}{% for c in m.calls %}{{ show(c) }}{% "
       "endfor %}{% endfor %}",
       "2/messages[2].calls[0]:f"},
  };
  for (const Row& row : rows) {
    CHECK_MESSAGE(owners_of(row.source, true) == row.want, row.source << "\n  " << owners_of(row.source, true));
  }
}

}  // namespace rondo::jinja
