// The laws of generated formats (tests/support/format_laws.h) for templates that no generator makes: each writes the calls
// of a message in a notation that people know from elsewhere.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "json/parse.h"
#include "json/print.h"
#include "tests/support/format_laws.h"
#include "tests/support/random_message.h"

namespace rondo {
namespace {

using test::Law;

// `calls` stands behind the content of an assistant's turn, and `macros` before everything else.
std::string template_with(const std::string& calls, const std::string& macros) {
  return macros + R"({%- for m in messages %}{%- if m.role == 'assistant' %}[[assistant]]{{ m.content or '' }})" +
         calls +
         "[[end]]{%- elif m.role == 'tool' %}[[tool]]{{ m.content }}[[end]]"
         "{%- else %}[[{{ m.role }}]]{{ m.content }}[[end]]{%- endif %}{%- endfor %}"
         "{%- if add_generation_prompt %}[[assistant]]{%- endif %}";
}

std::string each(const std::string& call) { return "{%- for c in m.tool_calls or [] %}" + call + "{% endfor %}"; }

std::string with_parameters(const std::string& before, const std::string& parameter, const std::string& after) {
  return each(before + "{%- for k, v in c.function.arguments.items() %}" + parameter + "{% endfor %}" + after);
}

std::vector<test::MessageParts> messages() {
  std::vector<test::MessageParts> out;
  for (const char* text :
       {R"({"city": "Paris", "n": 3})", R"({})", R"({"city": "a\nb", "b": true})",
        R"({"city": "one\n\n  two\n", "n": 1})", R"({"deep": {"k": [1, {"q": "x"}], "z": null}, "l": ["a", 2, []]})",
        R"({"l": [], "deep": {}})", R"({"l": [1], "n": 3})",
        R"({"deep": {"deep": {"deep": 1}, "deep2": {"x": {}}}, "n": 1})", R"({"city": "say \"hi\" & c", "x": 1.5})",
        R"({"z": null})", R"({"city": "", "n": -1})", R"({"city": "7"})",
        R"({"city": "one\n  n: 1\nb: true", "n": 2})"}) {
    const json::Object arguments = json::parse(text).value().as_object();
    for (const char* content : {"", "Sure."}) out.push_back({"", content, {arguments}});
    out.push_back({"", "", {arguments, json::parse(R"({"n": 1})").value().as_object()}, {"search", "get_weather"}});
  }
  out.push_back({"", "No call: {\"a\": [1]}, x = 2.", {}});
  return out;
}

test::Specimen specimen_with(const std::string& calls, const std::string& macros = "") {
  test::TemplateShape shape;
  shape.header = {"[[", "]]"};
  shape.stop = "[[end]]";
  return test::specimen_of(shape, template_with(calls, macros));
}

void check_laws(const test::Specimen& specimen, const std::vector<test::MessageParts>& all) {
  for (const test::MessageParts& message : all) {
    for (const Law law : {Law::kReads, Law::kKeepsAll, Law::kPieces, Law::kAccepts, Law::kReadsIds, Law::kBridges,
                          Law::kReturns, Law::kTravels}) {
      const test::Verdict verdict = test::check_law(law, specimen, message, 1);
      CHECK_MESSAGE(verdict.objection == "", std::string(to_string(law))
                                                 << ": " << test::to_string(message) << ": " << verdict.objection);
    }
  }
}

void check_laws(const std::string& calls, const std::string& macros = "") {
  check_laws(specimen_with(calls, macros), messages());
}

// Values with tags of their types, in objects and arrays too.
constexpr const char* kTyped = R"({%- macro value(v) -%}
{%- if v is mapping -%}<obj>{%- for k, x in v.items() -%}<f n="{{ k }}">{{ value(x) }}</f>{%- endfor -%}</obj>
{%- elif v is string -%}<str>{{ v }}</str>
{%- elif v is boolean -%}<bool>{{ v | tojson }}</bool>
{%- elif v is number -%}<num>{{ v }}</num>
{%- elif v is none -%}<null/>
{%- else -%}<list>{%- for x in v -%}<i>{{ value(x) }}</i>{%- endfor -%}</list>{%- endif -%}
{%- endmacro -%})";

}  // namespace

TEST_CASE("calls that share one object, whose keys are their names") {
  check_laws(
      each("{%- if loop.first %}<calls>{ {%- endif %}\"{{ c.function.name }}\": {{ c.function.arguments | tojson }}"
           "{{ ', ' if not loop.last else '}</calls>' }}"));
}

TEST_CASE("values with tags of their types, inside each other") {
  check_laws(with_parameters("<call n=\"{{ c.function.name }}\">", "<a n=\"{{ k }}\">{{ value(v) }}</a>", "</call>"),
             kTyped);
}

TEST_CASE("values with a tag of their type as attribute") {
  check_laws(with_parameters("<call n=\"{{ c.function.name }}\">",
                             "<a n=\"{{ k }}\" t=\"{{ 'str' if v is string else 'json' }}\">"
                             "{{ v if v is string else v | tojson }}</a>",
                             "</call>"));
}

TEST_CASE("lines of YAML") {
  const char* begin = "\n<<<\ntool: {{ c.function.name }}\nargs:\n";
  check_laws(with_parameters(begin, "{{ '\\n  ' + k }}: {{ v | tojson }}", "{{ '\\n' }}>>>"));
  check_laws(with_parameters(begin,
                             "{{ '\\n  ' + k }}: {% if v is string and '\\n' in v %}|\n"
                             "    {{ v | replace('\\n', '\\n    ') }}{% else %}{{ v | tojson }}{% endif %}",
                             "{{ '\\n' }}>>>"));
}

TEST_CASE("lines of TOML") {
  check_laws(
      with_parameters("\n[call.{{ c.function.name }}]\n", "{{ '\\n' + k }} = {{ v | tojson }}", "{{ '\\n' }}[/call]"));
}

TEST_CASE("options of a command line") {
  check_laws(with_parameters("$ {{ c.function.name }}", " --{{ k }}={{ v | tojson }}", ";\n"));
}

TEST_CASE("the query of an address") {
  check_laws(with_parameters("<go>{{ c.function.name }}?",
                             "{{ '&' if not loop.first }}{{ k }}={{ (v if v is string else v | tojson) | urlencode }}",
                             "</go>"));
}

TEST_CASE("lists of Lisp") { check_laws(with_parameters("({{ c.function.name }}", " :{{ k }} {{ v | tojson }}", ")")); }

TEST_CASE("attributes of an element") {
  check_laws(with_parameters("<{{ c.function.name }}", " {{ k }}={{ v | tojson }}", "/>"));
}

TEST_CASE("a call of JavaScript, and one of Python in a fence") {
  const char* comma = "{{ ', ' if not loop.last }}";
  check_laws(
      with_parameters("<js>{{ c.function.name }}({ ", "{{ k }}: {{ v | tojson }}" + std::string(comma), "})</js>"));
  check_laws(with_parameters("\n```tool_code\nprint({{ c.function.name }}(",
                             "{{ k }}={{ v | tojson }}" + std::string(comma), "))\n```"));
}

TEST_CASE("bug: values in JSON with the escapes of markup came back with them") {
  check_laws(with_parameters("<call n=\"{{ c.function.name }}\">", "<a n=\"{{ k | e }}\">{{ v | tojson | e }}</a>",
                             "</call>"));
  check_laws(with_parameters("<do n=\"{{ c.function.name }}\"", " {{ k }}=\"{{ v | tojson | e }}\"", "/>"));
}

TEST_CASE("bug: an id beside the key that is a name was a call of its own") {
  const std::string comma = "{{ ', ' if not loop.last }}";
  const std::string name = "\"{{ c.function.name }}\": ";
  const std::string id = "\"id\": \"{{ c.id }}\"";
  const std::string arguments = "{{ c.function.arguments | tojson }}";
  const auto listed = [&](const std::string& call) {
    return "{%- if m.tool_calls %}<calls>[" + each("{{ '{' }}" + call + "{{ '}' }}" + comma) + "]</calls>{%- endif %}";
  };
  check_laws(listed(name + arguments + ", " + id));
  check_laws(listed(id + ", " + name + arguments));
  // The arguments are a member of the value behind the name.
  check_laws(each("<call>{{ '{' }}" + name + "{{ '{' }}" + id + ", \"args\": " + arguments + "{{ '}}' }}</call>"));
}

TEST_CASE("bug: a list of calls that every turn has was read without its bracket") {
  check_laws("<calls>[" +
             each("{{ {'name': c.function.name, 'args': c.function.arguments} | tojson }}{{ ', ' if not loop.last }}") +
             "]");
}

TEST_CASE("bug: strings that a template writes as JSON only where they need it came back in quotes") {
  check_laws(with_parameters("\n<call n=\"{{ c.function.name }}\">",
                             "{{ '\\n' + k }}: {{ v | tojson if v is not string or '\\n' in v or v == '' or "
                             "v[:1] in ['\"', '[', '{'] else v }}",
                             "{{ '\\n' }}</call>"));
}

TEST_CASE("bug: the close of strings that a template splits in them came back split") {
  const std::string value = "{{ (v if v is string else v | tojson) | replace(']]>', ']]]]><![CDATA[>') }}";
  const json::Object arguments{{"city", "a]]>b]]></a>"}, {"deep", json::Object{{"k", "]]>"}}}};
  check_laws(specimen_with(with_parameters("<call n=\"{{ c.function.name }}\">",
                                           "<a n=\"{{ k }}\"><![CDATA[" + value + "]]></a>", "</call>")),
             {{"", "", {arguments}}});
}

TEST_CASE("bug: a grammar refused a blank before the opener of a value") {
  check_laws(with_parameters("<go>{{ c.function.name }}(",
                             "{{ k }}: {{ 'str' if v is string else 'any' }} = {{ v | tojson }}"
                             "{{ ', ' if not loop.last }}",
                             ")</go>"));
}

TEST_CASE("bug: of a list that is written as its parameter once for each item only the last item was read") {
  const std::string items = "{%- for x in (v if v is iterable and v is not string and v is not mapping else [v]) %}";
  const test::Specimen specimen = specimen_with(
      with_parameters("<call n=\"{{ c.function.name }}\">",
                      items + "<a n=\"{{ k }}\">{{ x if x is string else x | tojson }}</a>{% endfor %}", "</call>"));
  CHECK(specimen.format->calls.parameters.repeats_items);
  for (const char* text : {R"({"l": ["a", "b"], "n": 1})", R"({"n": 1, "l": ["x"]})", R"({"l": [1, 2], "m": [true]})",
                           R"({"city": "a", "l": [{"k": "x"}, {"k": "y"}]})", R"({"l": ["[1]", "two"]})"})
    check_laws(specimen, {{"", "", {json::parse(text).value().as_object()}}});
}

TEST_CASE("bug: a call in the tags of its own name was malformed in a section") {
  const auto format = [](const std::string& indent) {
    return "{%- if m.tool_calls %}{{ '\\n<acts>' }}" +
           with_parameters("{{ '\\n<' ~ c.function.name ~ '>' }}",
                           "{{ '" + indent + "<' ~ k ~ '>' ~ (v if v is string else v | tojson) ~ '</' ~ k ~ '>' }}",
                           "{{ '\\n</' ~ c.function.name ~ '>' }}") +
           "{{ '\\n</acts>' }}{%- endif %}";
  };
  for (const char* indent : {"\\n  ", "\\n"}) {
    const test::Specimen specimen = specimen_with(format(indent));
    check_laws(specimen, messages());
    const test::MessageParts message{"", "", {json::Object{{"city", ""}}}};
    CHECK(test::check_law(Law::kIsRead, specimen, message, 1).objection == "");
  }
}

TEST_CASE("bug: a value that only the stop closes was said to be unclosed if that came as a token") {
  check_laws(
      with_parameters("<|c|>{{ c.function.name }}", "<|k|>{{ k }}<|v|>{{ v if v is string else v | tojson }}", ""));
}

}  // namespace rondo
